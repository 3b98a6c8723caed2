"""Changes of a label schema while it is in use, and how far their labels have been carried over."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.projects.change_words import operation_words
from labelhub.core.schema import Value
from labelhub.core.schema.migration import Fate, SchemaPlan
from labelhub.core.schema.operations import Add, Operation, Split, parse_operations, plan

if TYPE_CHECKING:
    from apps.projects.models import LabelSchema

#: What is counted, as people read it.
OUTCOMES = {
    "items": "Items changed",
    "labels": "Labels carried over",
    "asked": "Labels asked of people again",
    "withdrawn": "Labels taken back",
    "gold_carried": "Decisions carried over",
    "gold_made": "Decisions made by it",
    "gold_withdrawn": "Decisions open again",
}


class SchemaChange(models.Model):
    """From one version of a project's label schema to the next, by operations on its labels.

    Begun, it makes the new version; then every label that needs it gets a row under that version
    (``Label.change``), item by item. One worker at a time holds it; ``cursor`` is the last item.
    """

    class Status(models.TextChoices):
        PREVIEWED = "previewed", "Not begun"
        RUNNING = "running", "Labels are being carried over"
        DONE = "done", "Done"
        FAILED = "failed", "Stopped by a fault"

    project = models.ForeignKey(
        "projects.Project", on_delete=models.CASCADE, related_name="schema_changes"
    )
    from_schema = models.ForeignKey(
        "projects.LabelSchema", on_delete=models.CASCADE, related_name="+"
    )
    to_schema = models.OneToOneField(
        "projects.LabelSchema",
        null=True,
        on_delete=models.CASCADE,
        related_name="change",
        help_text="None until it is begun.",
    )
    operations = models.JSONField(
        default=list, help_text="As read by labelhub.core.schema.operations."
    )
    reverts = models.ForeignKey(
        "self", null=True, on_delete=models.CASCADE, related_name="reverted_by"
    )
    reason = models.TextField(blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PREVIEWED)
    message = models.TextField(blank=True)
    preview = models.JSONField(default=dict, blank=True, help_text="What was said beforehand.")
    counts = models.JSONField(default=dict, blank=True, help_text="What has been done so far.")
    items_total = models.PositiveIntegerField(default=0)
    items_done = models.PositiveIntegerField(default=0)
    cursor = models.BigIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(status__in=["running", "failed"]),
                name="projects_one_schema_change",
            )
        ]

    def __str__(self) -> str:
        return f"change {self.pk}"

    @cached_property
    def parsed(self) -> tuple[Operation, ...]:
        """The operations; none where it takes another change back."""
        return parse_operations(self.operations) if self.operations else ()

    @cached_property
    def plan(self) -> SchemaPlan:
        """What becomes of every value."""
        if self.reverts is not None:
            return self.reverts.plan.inverse()
        return plan(self.from_schema.parsed, self.parsed)

    @property
    def words(self) -> list[str]:
        """What it does, a sentence for each operation."""
        if self.reverts is not None:
            return [f"Version {self.from_schema.version} is taken back"]
        return [operation_words(operation) for operation in self.parsed]

    @property
    def outcome(self) -> list[tuple[str, int]]:
        """What was written, in words, with how often."""
        found: dict[str, int] = {}
        for what, n in self.counts.items():
            words = OUTCOMES[what.partition(":")[0]]
            found[words] = found.get(words, 0) + n
        return [(words, found[words]) for words in OUTCOMES.values() if found.get(words)]

    @property
    def carries(self) -> bool:
        """Whether labels have to be carried over; new words for labels change none of them."""
        return self.plan.changes_values or (self.reverts is not None and self.reverts.carries)


def begun_changes(project_id: int) -> list[SchemaChange]:
    """The changes that made new versions, oldest first, with their schemas; one query."""
    rows = SchemaChange.objects.filter(project=project_id, to_schema__isnull=False)
    return list(
        rows.select_related("from_schema", "to_schema", "reverts__from_schema").order_by("pk")
    )


def comparable_versions(schema: "LabelSchema") -> list[int]:
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

    def names(self, schema: "LabelSchema") -> dict[str, str | None]:
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
