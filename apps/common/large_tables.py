"""Changes of large tables while servers use them."""

from typing import Any

from django.db import models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations import AddIndex, RemoveIndex
from django.db.migrations.state import ProjectState

#: Tables whose locking would stop servers for minutes, by model.
LARGE = frozenset({
    "authors.answer", "authors.conversation", "authors.message",
    "authors.question", "debates.debate", "debates.turn", "echo.scored", "exchange.delivery",
    "labels.annotator", "labels.gold", "labels.itemstate", "labels.label", "learning.score",
    "projects.item", "reviews.decision", "reviews.draft", "reviews.slot",
})  # fmt: skip


class AddIndexOnline(AddIndex):
    """``AddIndex`` that lets others write meanwhile: ``CONCURRENTLY`` on PostgreSQL. Its migration
    is ``atomic = False`` and has no other operation, so that it can be run again after a failure,
    which leaves an invalid index: the next run replaces it."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Create the index."""
        _add(schema_editor, to_state.apps.get_model(app_label, self.model_name), self.index)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Remove the index."""
        _remove(schema_editor, from_state.apps.get_model(app_label, self.model_name), self.index)


class RemoveIndexOnline(RemoveIndex):
    """``RemoveIndex`` that lets others write meanwhile."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Remove the index."""
        index = from_state.models[app_label, self.model_name_lower].get_index_by_name(self.name)
        _remove(schema_editor, from_state.apps.get_model(app_label, self.model_name), index)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Create the index."""
        index = to_state.models[app_label, self.model_name_lower].get_index_by_name(self.name)
        _add(schema_editor, to_state.apps.get_model(app_label, self.model_name), index)


def _add(editor: Any, model: type[models.Model], index: models.Index) -> None:
    if editor.connection.vendor == "postgresql":
        _remove(editor, model, index)  # one that is left of a failed attempt
        editor.add_index(model, index, concurrently=True)
    else:
        editor.add_index(model, index)


def _remove(editor: Any, model: type[models.Model], index: models.Index) -> None:
    online = {"concurrently": True} if editor.connection.vendor == "postgresql" else {}
    editor.remove_index(model, index, **online)
