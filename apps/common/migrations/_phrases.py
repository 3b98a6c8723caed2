"""What migrations of columns of phrases have in common."""

from typing import Any

from django.db import migrations
from django.db.migrations.operations.base import Operation

from apps.common.phrases import PhraseField
from labelhub.core.phrases import STORED


def turn_into_phrases(app: str, *columns: tuple[str, str, str]) -> list[Operation]:
    """The migration of columns of texts (model, field, help text), which then store phrases too.
    Backwards, phrases become the English texts that they are."""

    def write_english(apps: Any, _schema_editor: object) -> None:
        for model, field, _ in columns:
            objects = apps.get_model(app, model).objects
            for row in objects.filter(**{f"{field}__startswith": STORED}).iterator():
                objects.filter(pk=row.pk).update(**{field: str.__str__(getattr(row, field))})

    fields = [
        migrations.AlterField(model, field, PhraseField(blank=True, help_text=words))
        for model, field, words in columns
    ]
    return [
        # The column stays as it is.
        migrations.SeparateDatabaseAndState(state_operations=fields),
        migrations.RunPython(migrations.RunPython.noop, write_english),
    ]
