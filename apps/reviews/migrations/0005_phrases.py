from django.db import migrations

from apps.common.migrations._phrases import turn_into_phrases


class Migration(migrations.Migration):
    """Messages are read in the reader's language."""

    dependencies = [("reviews", "0004_reviewer_status")]

    operations = turn_into_phrases(
        "reviews",
        ("bulkjob", "message", ""),
        ("requeue", "message", ""),
        ("reviewerstatus", "reason", ""),
        ("intervention", "reason", ""),
    )
