from django.db import migrations


def queue_unfinished(apps, schema_editor):
    """What was begun before is carried out as a job."""
    jobs = apps.get_model("common", "Job").objects
    models = apps.get_model("learning", "TrainedModel").objects
    unfinished = models.filter(status__in=["queued", "learning", "applying"])
    for subject in unfinished.values_list("pk", flat=True):
        jobs.get_or_create(kind="learning.train", subject=subject)


class Migration(migrations.Migration):
    dependencies = [("common", "0002_jobs"), ("learning", "0001_initial")]

    operations = [
        migrations.RunPython(queue_unfinished, migrations.RunPython.noop, elidable=True),
        migrations.RemoveField("trainedmodel", "attempts"),
        migrations.RemoveField("trainedmodel", "lease_token"),
        migrations.RemoveField("trainedmodel", "lease_until"),
        migrations.RemoveField("trainedmodel", "dispatched_until"),
    ]
