from django.db import migrations

from apps.common.migrations._phrases import turn_into_phrases


class Migration(migrations.Migration):
    """Messages are read in the reader's language."""

    dependencies = [("exchange", "0004_more_webhook_events")]

    operations = turn_into_phrases(
        "exchange",
        ("savedexport", "message", "What went wrong, in words for people."),
        ("delivery", "error", ""),
    )
