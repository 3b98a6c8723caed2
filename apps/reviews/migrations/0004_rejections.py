from typing import Any

from django.db import migrations


def vacate_slots(apps: Any, _editor: object) -> None:
    """Who only rejected the suggestion leaves the place to others; places on items of known answer
    are nobody else's."""
    slots = apps.get_model("reviews", "Slot")
    slots.objects.filter(label__rejected=True, number__isnull=False).update(label=None, holder=None)


class Migration(migrations.Migration):
    dependencies = [
        ("labels", "0008_rejections"),
        ("reviews", "0003_decisions_left"),
    ]

    operations = [migrations.RunPython(vacate_slots, migrations.RunPython.noop)]
