from django.db import migrations

#: Kind of job, model, the states in which it is not done.
WORK = [
    ("exchange.save_export", "SavedExport", ["queued", "running"]),
]


def queue_unfinished(apps, schema_editor):
    """What was asked for before is carried out as a job."""
    jobs = apps.get_model("common", "Job").objects
    for kind, model, states in WORK:
        unfinished = apps.get_model("exchange", model).objects.filter(status__in=states)
        for subject in unfinished.values_list("pk", flat=True):
            jobs.get_or_create(kind=kind, subject=subject)


class Migration(migrations.Migration):
    dependencies = [("common", "0002_jobs"), ("exchange", "0001_initial")]

    operations = [
        migrations.RunPython(queue_unfinished, migrations.RunPython.noop, elidable=True),
        migrations.RemoveField("savedexport", "lease_token"),
        migrations.RemoveField("savedexport", "lease_until"),
    ]
