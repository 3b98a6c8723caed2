from django.db import migrations

#: Kind of job, model, the states in which it is not done.
WORK = [
    ("exchange.import", "ImportBatch", ["queued", "running"]),
    ("reviews.change_labels", "SchemaChange", ["running"]),
]


def queue_unfinished(apps, schema_editor):
    """What was asked for before is carried out as a job."""
    jobs = apps.get_model("common", "Job").objects
    for kind, model, states in WORK:
        unfinished = apps.get_model("projects", model).objects.filter(status__in=states)
        for subject in unfinished.values_list("pk", flat=True):
            jobs.get_or_create(kind=kind, subject=subject)


class Migration(migrations.Migration):
    dependencies = [("common", "0002_jobs"), ("projects", "0001_initial")]

    operations = [
        migrations.RunPython(queue_unfinished, migrations.RunPython.noop, elidable=True),
        migrations.RemoveField("importbatch", "lease_until"),
        migrations.RemoveField("schemachange", "lease_until"),
    ]
