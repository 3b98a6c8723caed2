from django.db import migrations
from django.db.models import F


def put_last(apps, schema_editor):
    """Items with gold wait behind all others; imported gold stood 5 behind before."""
    states = apps.get_model("labels", "ItemState").objects.using(schema_editor.connection.alias)
    decided = states.filter(queued=True, disputed=False, gold__isnull=False)
    decided.update(priority=F("priority") - 200.0)
    decided.filter(gold__basis="imported").update(priority=F("priority") + 5.0)


class Migration(migrations.Migration):
    dependencies = [("labels", "0004_stage_words")]

    operations = [migrations.RunPython(put_last, migrations.RunPython.noop)]
