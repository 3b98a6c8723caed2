from django.db import migrations, models
from django.db.models.functions import Now


def end_turns(apps, schema_editor):
    """End running experiments whose arms take turns by time; their results stay."""
    running = apps.get_model("echo", "Experiment").objects.filter(
        started_at__isnull=False, ended_at__isnull=True
    )
    turns = [experiment.pk for experiment in running if experiment.design.get("windows")]
    running.filter(pk__in=turns).update(ended_at=Now())


class Migration(migrations.Migration):

    dependencies = [
        ("echo", "0007_signals"),
    ]

    operations = [
        migrations.RunPython(end_turns, migrations.RunPython.noop),
        # With a default, so that the field can be put back.
        migrations.AlterField(
            model_name="experiment",
            name="fingerprint",
            field=models.CharField(default="", max_length=64),
        ),
        migrations.RemoveField(model_name="experiment", name="fingerprint"),
    ]
