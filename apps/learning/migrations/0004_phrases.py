from django.db import migrations

from apps.common.migrations._phrases import turn_into_phrases


class Migration(migrations.Migration):
    """Messages are read in the reader's language."""

    dependencies = [("learning", "0003_matcher_words")]

    operations = turn_into_phrases(
        "learning",
        ("trainedmodel", "message", "What went wrong, in words for people."),
    )
