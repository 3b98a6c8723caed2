from django.db import migrations
from django.db.models import F


def rebuild(apps, schema_editor):
    """States are packed in another form, with a slope for each kind of reward."""
    apps.get_model("echo", "Echo").objects.update(erased=F("erased") + 1)


class Migration(migrations.Migration):
    dependencies = [("echo", "0006_no_prompt_search")]

    operations = [migrations.RunPython(rebuild, migrations.RunPython.noop)]
