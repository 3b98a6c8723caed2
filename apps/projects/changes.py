"""Values of older schema versions under the newest one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from apps.projects.models import LabelSchema, SchemaChange
from labelhub.core.schema import Value
from labelhub.core.schema.migration import Fate
from labelhub.core.schema.operations import Add, Split


def started_changes(project_id: int) -> list[SchemaChange]:
    """The started changes of a project, oldest first, with their schemas; one query."""
    rows = SchemaChange.objects.filter(project=project_id, to_schema__isnull=False)
    return list(
        rows.select_related("from_schema", "to_schema", "reverts__from_schema").order_by("pk")
    )


def comparable_versions(
    schema: LabelSchema, changes: Sequence[SchemaChange] | None = None
) -> list[int]:
    """Ids of the versions whose decisions hold under ``schema`` without migration: back to the
    last added or split label, which earlier decisions could not choose. ``changes``: the started
    ones, if they are known."""
    found, version = [schema.pk], schema.version
    for change in reversed(started_changes(schema.project_id) if changes is None else changes):
        added = any(isinstance(operation, Add | Split) for operation in change.parsed)
        if change.to_schema is None or change.to_schema.version > version:
            continue
        if change.to_schema.version < version or added or change.reverts_id:
            break
        found.append(change.from_schema_id)
        version = change.from_schema.version
    return found


def compared_schema(schema: LabelSchema) -> tuple[LabelSchema, list[int], "Translator"]:
    """The schema to compare answers under ``schema`` by, the ids of versions whose decisions hold
    under it, and the translator of values to it.

    It is the newest one, unless a label was added or split since, which the answers could not
    choose, or a change was taken back: then it is ``schema`` itself. One query.
    """
    changes = started_changes(schema.project_id)
    newest = (changes[-1].to_schema if changes else None) or schema
    versions = comparable_versions(newest, changes)
    if schema.pk in versions:
        return newest, versions, Translator(changes)
    before = [
        change
        for change in changes
        if change.to_schema is not None and change.to_schema.version <= schema.version
    ]
    return schema, comparable_versions(schema, changes), Translator(before)


class Translator:
    """Translates values of older schema versions to the newest one.

    Current labels need no translation: a schema change migrates them. Superseded labels and
    conclusions of debates keep the value they were written with.
    """

    def __init__(self, changes: Iterable[SchemaChange]) -> None:
        self._changes = [change for change in changes if change.carries]
        self._paths: dict[int, Sequence[SchemaChange]] = {}

    @classmethod
    def of(cls, project_id: int) -> "Translator":
        return cls(started_changes(project_id))

    def touches(self, version: int) -> bool:
        """Whether values of that version may have changed since."""
        return bool(self._path(version))

    def value(self, version: int, value: Value | None) -> Value | None:
        """The value under the newest version; None if it no longer exists."""
        for change in self._path(version):
            if value is None:
                return None
            after = change.plan.value(value)
            value = None if isinstance(after, Fate) else after
        return value

    def values_of(self, rows: QuerySet[Any]) -> dict[int, Value]:
        """Item → the value of its last row under the newest version, without values that no longer
        exist. ``rows``: labels or gold, which an unfinished change has yet to carry over."""
        found = {}
        for item_id, given, version in rows.values_list("item_id", "value", "schema__version"):
            value = self.value(version, given)
            if value is not None:
                found[item_id] = value
        return found

    def evidence(
        self, version: int, evidence: Mapping[str, Sequence[str]]
    ) -> dict[str, Sequence[str]]:
        """Quoted phrases by label under the newest version, without labels that no longer exist."""
        kept = dict(evidence)
        for change in self._path(version):
            kept = dict(change.plan.evidence(kept))
        return kept

    def provenance(self, version: int, provenance: Mapping[str, Any]) -> dict[str, Any]:
        """The provenance of a label with its ``spans`` under the newest version."""
        kept = dict(provenance)
        if isinstance(kept.get("spans"), list):
            for change in self._path(version):
                kept["spans"] = change.plan.spans(kept["spans"])
        return kept

    def names(self, schema: LabelSchema) -> dict[str, str | None]:
        """Labels of ``schema`` → their names now; None for a label that no longer exists."""
        found: dict[str, str | None] = {}
        for name in schema.parsed.names:
            now: str | Fate = name
            for change in self._path(schema.version):
                now = change.plan.names[now] if isinstance(now, str) else now
            found[name] = now if isinstance(now, str) else None
        return found

    def _path(self, version: int) -> Sequence[SchemaChange]:
        """The changes since ``version``, without reverted ones."""
        if version not in self._paths:
            path: list[SchemaChange] = []
            for change in self._changes:
                if change.from_schema.version < version:
                    continue
                if path and change.reverts_id == path[-1].pk:
                    path.pop()
                else:
                    path.append(change)
            self._paths[version] = path
        return self._paths[version]
