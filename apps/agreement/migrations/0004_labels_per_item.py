from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agreement", "0003_jobs")]

    operations = [
        migrations.AddField(
            "guarantee",
            "labels_per_item",
            models.PositiveSmallIntegerField(
                default=1,
                help_text="Blind labels by people that an item of the sample takes, 1 or 2.",
            ),
        ),
    ]
