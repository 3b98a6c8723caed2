"""Messages that showed a danger, by the kinds of it, show "danger"."""

from typing import Any

from django.db import migrations

KINDS = (
    *("self_harm", "sexual_abuse", "child_abuse", "violence", "threat"),
    *("eating_disorder", "bereavement"),
)


def name_danger(apps: Any, schema_editor: Any) -> None:
    messages = apps.get_model("authors", "Message").objects
    messages.using(schema_editor.connection.alias).filter(reason__in=KINDS).update(reason="danger")


class Migration(migrations.Migration):
    dependencies = [("authors", "0004_limits")]
    operations = [migrations.RunPython(name_danger, migrations.RunPython.noop)]
