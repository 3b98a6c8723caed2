"""Values of older schema versions under the newest one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.projects.models import LabelSchema, SchemaChange
from labelhub.core.schema import Value
from labelhub.core.schema.migration import Fate
from labelhub.core.schema.operations import Add, Split


def begun_changes(project_id: int) -> list[SchemaChange]:
    """The changes that made new versions, oldest first, with their schemas; one query."""
    rows = SchemaChange.objects.filter(project=project_id, to_schema__isnull=False)
    return list(
        rows.select_related("from_schema", "to_schema", "reverts__from_schema").order_by("pk")
    )


def comparable_versions(schema: LabelSchema) -> list[int]:
    """Ids of the versions whose decisions still hold under ``schema`` if they were not carried
    over: back to where a label was added or split, which those who decided before did not know."""
    found, version = [schema.pk], schema.version
    for change in reversed(begun_changes(schema.project_id)):
        added = any(isinstance(operation, Add | Split) for operation in change.parsed)
        if change.to_schema is None or change.to_schema.version > version:
            continue
        if change.to_schema.version < version or added or change.reverts_id:
            break
        found.append(change.from_schema_id)
        version = change.from_schema.version
    return found


class Translator:
    """What a value given under an older version means under the newest one.

    The ledger's current rows need none of it: they are carried over. What was said before and has
    been superseded since, and what debates concluded, stays as it was written.
    """

    def __init__(self, changes: Iterable[SchemaChange]) -> None:
        self._changes = [change for change in changes if change.carries]
        self._paths: dict[int, Sequence[SchemaChange]] = {}

    @classmethod
    def of(cls, project_id: int) -> "Translator":
        """By all changes of a project; one query."""
        return cls(begun_changes(project_id))

    def touches(self, version: int) -> bool:
        """Whether any value given under that version may mean another one now."""
        return bool(self._path(version))

    def value(self, version: int, value: Value | None) -> Value | None:
        """The value as it is called now; None where nothing stands for it any more."""
        for change in self._path(version):
            if value is None:
                return None
            after = change.plan.value(value)
            value = None if isinstance(after, Fate) else after
        return value

    def evidence(
        self, version: int, evidence: Mapping[str, Sequence[str]]
    ) -> dict[str, Sequence[str]]:
        """Quoted phrases by label, as the labels are called now; of what is gone there are none."""
        kept = dict(evidence)
        for change in self._path(version):
            kept = dict(change.plan.evidence(kept))
        return kept

    def provenance(self, version: int, provenance: Mapping[str, Any]) -> dict[str, Any]:
        """The same of the marked places of a text that a label brings."""
        kept = dict(provenance)
        if isinstance(kept.get("spans"), list):
            for change in self._path(version):
                kept["spans"] = change.plan.spans(kept["spans"])
        return kept

    def names(self, schema: LabelSchema) -> dict[str, str | None]:
        """Every label of that version → what it is called now; None: nothing stands for it."""
        found: dict[str, str | None] = {}
        for name in schema.parsed.names:
            now: str | Fate = name
            for change in self._path(schema.version):
                now = change.plan.names[now] if isinstance(now, str) else now
            found[name] = now if isinstance(now, str) else None
        return found

    def _path(self, version: int) -> Sequence[SchemaChange]:
        if version not in self._paths:
            self._paths[version] = _path(self._changes, version)
        return self._paths[version]


def _path(changes: Sequence[SchemaChange], version: int) -> list[SchemaChange]:
    """The changes since that version, without those that were taken back."""
    path: list[SchemaChange] = []
    for change in changes:
        if change.from_schema.version < version:
            continue
        if path and change.reverts_id == path[-1].pk:
            path.pop()
        else:
            path.append(change)
    return path
