"""Changes of large tables while servers use them."""

from typing import Any

from django.db import models
from django.db.migrations.operations import AddIndex, RemoveIndex
from django.db.migrations.state import ProjectState

#: Tables whose locking would stop servers for minutes, by model.
LARGE = frozenset({
    "authors.answer", "authors.conversation", "authors.message",
    "authors.question", "debates.debate", "debates.turn", "echo.scored", "exchange.delivery",
    "labels.annotator", "labels.gold", "labels.itemstate", "labels.label", "learning.score",
    "projects.item", "reviews.decision", "reviews.draft", "reviews.slot",
})  # fmt: skip


class _Online:
    """A schema editor of PostgreSQL that changes indexes without locks."""

    def __init__(self, editor: Any) -> None:
        self._editor = editor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._editor, name)

    def add_index(self, model: type[models.Model], index: models.Index) -> None:
        self.remove_index(model, index)  # one that is left of a failed attempt
        self._editor.add_index(model, index, concurrently=True)

    def remove_index(self, model: type[models.Model], index: models.Index) -> None:
        self._editor.remove_index(model, index, concurrently=True)


class _OnlineMixin:
    def database_forwards(self, app_label: str, schema_editor: Any, *states: ProjectState) -> None:
        super().database_forwards(app_label, _online(schema_editor), *states)  # type: ignore[misc]  # of the operation

    def database_backwards(self, app_label: str, schema_editor: Any, *states: ProjectState) -> None:
        super().database_backwards(app_label, _online(schema_editor), *states)  # type: ignore[misc]  # as above


def _online(editor: Any) -> Any:
    return _Online(editor) if editor.connection.vendor == "postgresql" else editor


class AddIndexOnline(_OnlineMixin, AddIndex):
    """``AddIndex`` that lets others write meanwhile: ``CONCURRENTLY`` on PostgreSQL. Its migration
    is ``atomic = False`` and has no other operation, so that it can be run again after a failure,
    which leaves an invalid index: the next run replaces it."""


class RemoveIndexOnline(_OnlineMixin, RemoveIndex):
    """``RemoveIndex`` that lets others write meanwhile; as above."""
