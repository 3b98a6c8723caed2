from django.db import migrations


class Migration(migrations.Migration):
    """Runs that are going are found by those who keep house: they ask for the jobs."""

    dependencies = [("common", "0002_jobs"), ("debates", "0001_initial")]

    operations = [migrations.RemoveField("run", "dispatched_until")]
