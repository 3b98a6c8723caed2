from django.db import migrations

from apps.common.migrations._phrases import turn_into_phrases


class Migration(migrations.Migration):
    """Messages are read in the reader's language."""

    dependencies = [("debates", "0004_annotator_names")]

    operations = turn_into_phrases(
        "debates",
        ("run", "message", "What happened, in words for people."),
        ("debate", "error", ""),
        ("turn", "note", ""),
    )
