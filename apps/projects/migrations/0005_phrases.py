from django.db import migrations

from apps.common.migrations._phrases import turn_into_phrases


class Migration(migrations.Migration):
    """Messages are read in the reader's language."""

    dependencies = [("projects", "0004_notifications_and_invitations")]

    operations = turn_into_phrases(
        "projects",
        ("schemachange", "message", ""),
        ("importbatch", "message", ""),
        ("notification", "message", "The result, in words."),
    )
