from django.db import migrations


class Migration(migrations.Migration):
    """What is on its way is found by those who keep house: they ask for the jobs."""

    dependencies = [("common", "0002_jobs"), ("exchange", "0002_jobs")]

    operations = [
        migrations.RemoveField("webhook", "lease_token"),
        migrations.RemoveField("webhook", "lease_until"),
        migrations.RemoveField("delivery", "lease_until"),
    ]
