from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("reviews", "0003_first_filter_jobs")]

    operations = [
        migrations.AlterModelTable(name="standing", table="reviews_standing"),  # as it was
        migrations.RenameModel("Standing", "ReviewerStatus"),
    ]
