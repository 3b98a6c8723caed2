from typing import Any

from django.db import migrations, models
from django.db.models import F


def forget_roll_backs(apps: Any, _schema_editor: Any) -> None:
    """What was rolled back counts again: its states are made anew by the next round of learning."""
    events = apps.get_model("echo", "LogEvent").objects.filter(kind="rolled_back")
    echoes = apps.get_model("echo", "Echo").objects.filter(pk__in=events.values("echo"))
    echoes.update(erased=F("erased") + 1)
    events.delete()


class Migration(migrations.Migration):

    dependencies = [
        ("echo", "0001_initial"),
    ]

    operations = [
        migrations.AlterField(
            model_name="logevent",
            name="kind",
            field=models.CharField(choices=[("answered", "Answered"), ("rewarded", "Rewarded"), ("expected", "Expected by the owner"), ("withdrawn", "Withdrawn"), ("restored", "Restored"), ("frozen", "Frozen or thawed")], max_length=20),
        ),
        migrations.DeleteModel(name="Check"),
        migrations.RunPython(forget_roll_backs, migrations.RunPython.noop),
    ]
