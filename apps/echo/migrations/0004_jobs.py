from django.db import migrations


def queue_unfinished(apps, schema_editor):
    """Searches under way are gone on with as jobs."""
    jobs = apps.get_model("common", "Job").objects
    running = apps.get_model("echo", "PromptSearch").objects.filter(status="running")
    for subject in running.values_list("pk", flat=True):
        jobs.get_or_create(kind="echo.search", subject=subject)


class Migration(migrations.Migration):
    dependencies = [("common", "0002_jobs"), ("echo", "0003_no_digests")]

    operations = [
        migrations.RunPython(queue_unfinished, migrations.RunPython.noop, elidable=True),
        migrations.RemoveField("echo", "lease_until"),
        migrations.RemoveField("promptsearch", "lease_until"),
        migrations.RemoveField("promptsearch", "queued_until"),
    ]
