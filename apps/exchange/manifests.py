"""The manifest of an export: the contents of the file, counted from its rows, and their origin."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.debates.models import Run
from apps.exchange.exporters.base import Row
from apps.labels.models import Gold
from apps.projects.models import Item, Project
from apps.projects.selectors import current_guideline, current_schema
from labelhub.core.version import NAME, VERSION

MANIFEST_VERSION = 1


@dataclass(slots=True)
class ExportTally:
    """Counts of the rows that were written to a file."""

    project: Project
    items: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    rejections: Counter[str] = field(default_factory=Counter)
    offline: int = 0
    gold: Counter[str] = field(default_factory=Counter)
    label_versions: Counter[int] = field(default_factory=Counter)
    gold_versions: Counter[int] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)

    def add(self, rows: Sequence[Row]) -> None:
        """Count a chunk of rows: full ones, or gold without a ledger."""
        self.items += len(rows)
        gold_only = []
        for row in rows:
            if "gold_history" in row:
                for label in row["labels"]:
                    self._add_label(label)
                history = row["gold_history"]
                if history and not history[-1]["withdrawn"]:
                    self.gold[history[-1]["basis"]] += 1
                    self.gold_versions[history[-1]["schema_version"]] += 1
            elif row.get("gold") is not None:
                gold_only.append(row["id"])
        if gold_only:
            self._add_current_gold(gold_only)

    def _add_label(self, label: Mapping[str, Any]) -> None:
        self.labels[label["kind"]] += 1
        if label["rejected"]:
            self.rejections[label["kind"]] += 1
        self.offline += bool(label.get("offline"))
        self.label_versions[label["schema_version"]] += 1
        if label.get("run"):
            self.runs[label["run"]] += 1

    def _add_current_gold(self, ids: Sequence[str]) -> None:
        """Rows of gold alone do not have its basis, so it is read from the database."""
        items = list(Item.objects.named(self.project, ids).values_list("pk", flat=True))
        current = Gold.objects.current().filter(item__in=items).order_by()
        for basis, version in current.values_list("basis", "schema__version"):
            self.gold[basis] += 1
            self.gold_versions[version] += 1


def build_manifest(
    tally: ExportTally,
    *,
    format_name: str,
    filters: Mapping[str, Any],
    created_at: datetime | None = None,
    since: str = "",
    file: Mapping[str, Any],
) -> dict[str, Any]:
    """The manifest, JSON-ready.

    Args:
        tally: of all rows of the file.
        filters: those of the export; empty for everything.
        since: the cursor with which the next export has what comes after this one.
        file: its ``name``, ``bytes`` and ``sha256``.
    """
    project, guideline = tally.project, current_guideline(tally.project)
    return {
        "manifest_version": MANIFEST_VERSION,
        "project": {"slug": project.slug, "name": project.name},
        "created_at": (created_at or timezone.now()).isoformat(),
        "software": {"name": NAME, "version": VERSION},
        "format": format_name,
        "filters": {name: value for name, value in filters.items() if value},
        "since": since,
        "file": dict(file),
        "counts": {
            "items": tally.items,
            "labels": dict(sorted(tally.labels.items())),
            # Those of the labels that only reject a suggestion.
            "rejections": dict(sorted(tally.rejections.items())),
            # Those of the labels by the built-in text matcher, which is not an LLM.
            "offline_labels": tally.offline,
            "gold": dict(sorted(tally.gold.items())),
        },
        "schema": _schemas(tally),
        "guideline": guideline
        and {
            "version": guideline.version,
            "sha256": hashlib.sha256(guideline.text.encode()).hexdigest(),
            "created_at": guideline.created_at.isoformat(),
        },
        "runs": _runs(project, tally.runs),
    }


def _schemas(tally: ExportTally) -> dict[str, Any]:
    """Each version that labels or gold in the file are under, and the current one."""
    current = current_schema(tally.project).version
    wanted = {current, *tally.label_versions, *tally.gold_versions}
    found = tally.project.schemas.filter(version__in=wanted).order_by("version")
    return {
        "current": current,
        "versions": [
            {
                "version": row.version,
                "created_at": row.created_at.isoformat(),
                "labels": tally.label_versions[row.version],
                "gold": tally.gold_versions[row.version],
                "definition": row.definition,
            }
            for row in found
        ],
    }


def _runs(project: Project, labels: Mapping[str, int]) -> list[dict[str, Any]]:
    """The runs whose labels are in the file; of imported ones only the uid is known."""
    uids = [UUID(uid) for uid in labels]
    rows = Run.objects.filter(project=project, uid__in=uids).order_by("pk")
    known = {
        str(run.uid): _run(run)
        for run in rows.select_related("schema", "guideline").prefetch_related(
            "roles__model__provider", "roles__prompt"
        )
    }
    elsewhere = {"note": "Made elsewhere: its labels were imported."}
    every = [*known, *sorted(set(labels) - set(known))]
    return [{"uid": uid, "labels": labels[uid], **known.get(uid, elsewhere)} for uid in every]


def _run(run: Run) -> dict[str, Any]:
    return {
        "id": run.pk,
        "protocol": run.protocol,
        "settings": run.protocol_settings,
        "params": run.params,
        "status": run.status,
        "replicates": run.replicates,
        "schema_version": run.schema.version,
        "guideline_version": run.guideline.version if run.guideline else None,
        "created_at": run.created_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
        "roles": [
            {
                "role": role.role,
                "model": role.model.name,
                "provider": role.model.provider.name,
                "prompt": role.prompt.name,
                "prompt_hash": role.prompt.hash,
            }
            for role in run.roles.all()
        ],
    }
