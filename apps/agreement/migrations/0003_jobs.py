from django.db import migrations


class Migration(migrations.Migration):
    """Promises that are to be looked after are found by those who keep house."""

    dependencies = [("agreement", "0002_drop_studies"), ("common", "0002_jobs")]

    operations = [migrations.RemoveField("guarantee", "dispatched_until")]
