"""The state of one import: its schema, its annotators and its counts."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any
from uuid import UUID, uuid5

from apps.exchange.label_rows import AnnotatorRef, GoldRow, LabelRow
from apps.exchange.readers.base import shortened
from apps.exchange.rows import RowError
from apps.exchange.values import MAX_UNKNOWN
from apps.labels.models import Annotator
from apps.labels.services import GoldContent, LabelContent, NewGold, NewLabel, annotator_for
from apps.projects.models import LabelSchema, Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import Conflict
from labelhub.core.phrases import Phrase
from labelhub.core.schema import Value, ValueNotOffered

NAMESPACE = UUID("5b0c3a57-6d0e-4a55-9a39-3a6a2c1d8b11")


LABEL_FIELDS = [part.name for part in fields(LabelContent)]
GOLD_FIELDS = [part.name for part in fields(GoldContent)]
#: The faults that are kept to be shown; all are counted.
MAX_NOTES = 1000
#: Characters of a note that are kept: names and values in a file may be of any length.
MAX_FIELD, MAX_MESSAGE = 200, 500


def merge_unknown(first: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The sum of two ``ImportBatch.unknown``; beyond MAX_UNKNOWN values only rows are counted."""
    if not first or not more:
        return dict(first or more)
    values = Counter(first["values"])
    for name, count in more["values"].items():
        if name in values or len(values) < MAX_UNKNOWN:
            values[name] += count
    return {**first, "rows": first["rows"] + more["rows"], "values": dict(values)}


@dataclass(frozen=True, slots=True)
class Note:
    """Something about one row that a person should see; ``kind`` is ``error``, ``conflict``, or
    ``remark`` on the file as a whole."""

    row: int
    field: str
    message: str
    kind: str = "error"

    def data(self) -> dict[str, Any]:
        """Its JSON, with the message as data of a phrase."""
        return asdict(self) | {"message": Phrase(self.message).data()}


@dataclass(slots=True)
class ImportTally:
    created: int = 0
    filled: int = 0
    unchanged: int = 0
    conflicts: int = 0
    failed: int = 0
    labels_created: int = 0
    gold_created: int = 0
    unlabelled: int = 0
    notes: list[Note] = field(default_factory=list)
    #: ``ImportBatch.unknown`` of these rows.
    unknown: dict[str, Any] = field(default_factory=dict)

    def add_error(self, row: RowError) -> None:
        """Count and note a row that cannot be used. Those with names that are no labels are told in
        one summary, not one by one."""
        if not row.unknown:
            self.fail(row.row, row.field, row.message)
            return
        self.failed += 1
        counts = Counter(row.unknown)
        found = {"row": row.row, "field": row.field, "rows": 1, "values": dict(counts)}
        self.unknown = merge_unknown(self.unknown, found)

    def fail(self, row: int, field_name: str, message: str) -> None:
        """Count and note a row that cannot be used."""
        self.failed += 1
        self._note(row, field_name, message, "error")

    def conflict(self, row: int, field_name: str, message: str) -> None:
        """Count and note a row that contradicts the project."""
        self.conflicts += 1
        self._note(row, field_name, message, "conflict")

    def remark(self, row: int, field_name: str, message: str) -> None:
        """Note a remark on the file, at the first row it applies to."""
        self._note(row, field_name, message, "remark")

    def _note(self, row: int, field_name: str, message: str, kind: str) -> None:
        self.notes.append(
            Note(row, shortened(field_name, MAX_FIELD), shortened(message, MAX_MESSAGE), kind)
        )


class SchemaChanged(Conflict):
    """The schema was changed while an import was reading values under the old one."""

    code = "labels_changed"


class ImportContext:
    """Caches for the length of one import into one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.schema = current_schema(project)
        self._versions = {schema.version: schema for schema in project.schemas.all()}
        self._annotators: dict[tuple[str, str], Annotator] = {}
        self._repeated: Counter[UUID] = Counter()

    def check_schema(self) -> None:
        """Call with the project locked, before anything is written.

        Raises:
            SchemaChanged: a change of labels began since this import did.
        """
        if current_schema(self.project).pk != self.schema.pk:
            raise SchemaChanged("The labels were changed meanwhile: import the file again.")

    def annotator(self, ref: AnnotatorRef) -> Annotator:
        """The project's annotator, created at its first label."""
        found = self._annotators.get((ref.kind, ref.name))
        if found is None:
            found = annotator_for(self.project, kind=ref.kind, name=ref.name, offline=ref.offline)
            self._annotators[ref.kind, ref.name] = found
        return found

    def with_uid(self, item: str, row: LabelRow) -> LabelRow:
        """The row with a uid of its own, if it supersedes its annotator's label and has none;
        identical rows are counted."""
        if not row.supersedes_own or row.uid:
            return row
        by = row.annotator
        parts = [item, by.kind, by.name, row.value, row.abstained, row.withdrawn]
        parts += ["rejected"] if row.rejected else []
        given = str(row.created_at) if row.created_at else None
        same = uuid5(NAMESPACE, json.dumps([*parts, given, row.replicate]))
        self._repeated[same] += 1
        return replace(row, uid=uuid5(same, str(self._repeated[same])))

    def label_draft(self, item_id: int, row: LabelRow) -> NewLabel:
        """The new label for an annotation."""
        return NewLabel(
            item_id=item_id,
            annotator=self.annotator(row.annotator),
            schema=self._schema(row.schema_version, row.value),
            **{name: getattr(row, name) for name in LABEL_FIELDS},
        )

    def gold_draft(self, item_id: int, row: GoldRow) -> NewGold:
        """The new gold for a decision."""
        return NewGold(
            item_id=item_id,
            schema=self._schema(row.schema_version, row.value),
            decided_by=self.annotator(row.decided_by) if row.decided_by else None,
            **{name: getattr(row, name) for name in GOLD_FIELDS},
        )

    def _schema(self, version: int | None, value: Value | None) -> LabelSchema:
        """The version that the file names, where this project has it and it offers the value;
        otherwise the current one."""
        found = self._versions.get(version or 0, self.schema)
        if found.pk == self.schema.pk or value is None or not found.task.labelled:
            return found
        try:
            found.parsed.normalise(value)
        except ValueNotOffered:
            return self.schema
        return found
