import re

from django.db import migrations

TITLES = {
    "single": "Single annotator",
    "cot": "Chain of thought",
    "self_consistency": "Self-consistency",
    "self_refine": "Self-refine",
    "vote": "Vote",
    "ecj": "Extractor, critic, judge (ECJ)",
    "courtroom": "Courtroom",
    "discussion": "Discussion",
    "cascade": "Cascade",
}
OLD_NAME = re.compile(rf"({'|'.join(TITLES)}): (.+?)( #\d+)?", re.DOTALL)


def spell_out(apps, schema_editor):
    """``single: offline`` becomes ``Single annotator: Text matcher (demo)``."""
    annotators = apps.get_model("labels", "Annotator").objects.filter(kind="llm")
    for annotator in annotators.iterator():
        found = OLD_NAME.fullmatch(annotator.name)
        if found is None:
            continue
        protocol, models, replicate = found.groups()
        titles = [
            "Text matcher (demo)" if name == "offline" else name for name in models.split(" + ")
        ]
        suffix = replicate or ""
        name = f"{TITLES[protocol]}: {' + '.join(titles)}"[: 200 - len(suffix)].strip() + suffix
        if not annotators.filter(project=annotator.project_id, name=name).exists():
            annotator.name = name
            annotator.save(update_fields=["name"])


class Migration(migrations.Migration):
    """The annotators of runs have names that people can read."""

    dependencies = [("debates", "0003_restrict_models"), ("labels", "0001_initial")]

    operations = [migrations.RunPython(spell_out, migrations.RunPython.noop, elidable=True)]
