from django.db import migrations


class Migration(migrations.Migration):
    """What is not applied is found by those who keep house: they ask for the jobs."""

    dependencies = [("common", "0002_jobs"), ("reviews", "0002_jobs")]

    operations = [migrations.RemoveField("reviewsettings", "first_lease")]
