"""What the controls of a project are called in Label Studio: as they came from there, else ours."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.exchange.shapes.studio import THEIRS
from apps.exchange.shapes.studio_results import ANSWERS, SPANS
from apps.exchange.shapes.studio_task import kept_in
from apps.labels.models import Label
from apps.projects.models import Item, Project
from labelhub.core.schema import role_of

#: So many of a project's first items tell where it came from.
LOOKED_AT = 100


@dataclass(slots=True)
class Names:
    """Control → its name in results and configuration; ``column`` is that of the text."""

    answer: str = "label"
    text: str = "text"
    column: str = "text"
    evidence: str = "evidence"
    rationale: str = "rationale"
    comment: str = "comment"
    confidence: str = "confidence"
    #: The type of the answer's results where it is not the usual one of the task.
    kind: str = ""
    #: Whether some item has context, and the configuration a place for it.
    context: bool = False


def names_of(project: Project) -> Names:
    """By the first items and what was said of them; a few queries, however large the project."""
    names = Names()
    names.context = Item.objects.filter(project=project).exclude(context=[]).exists()
    first = Item.objects.filter(project=project).order_by("pk").values_list("pk", "meta")
    theirs = {pk: kept for pk, meta in first[:LOOKED_AT] if (kept := kept_in(meta))}
    columns = [kept["columns"].get("text") for kept in theirs.values()]
    names.column = next((str(column) for column in columns if column), names.column)
    said = Label.objects.filter(item__in=list(theirs)).order_by("pk")
    for provenance in said.values_list("provenance", flat=True)[: 10 * LOOKED_AT]:
        for result in _results(provenance.get(THEIRS)):
            _learn(names, result)
    return names


def _results(kept: Any) -> Iterator[Mapping[str, Any]]:
    for one in kept.values() if isinstance(kept, dict) else ():
        results = one.get("result") if isinstance(one, dict) else None
        for result in results if isinstance(results, list) else ():
            if isinstance(result, dict) and result.get("from_name"):
                yield result


def _learn(names: Names, result: Mapping[str, Any]) -> None:
    name, kind = str(result["from_name"]), str(result.get("type") or "")
    role = role_of(name)
    if kind in SPANS:
        names.evidence = name
    elif role:
        setattr(names, role, name)
    elif kind in ANSWERS and "parentID" not in result and not names.kind:
        names.answer, names.kind = name, kind
    if result.get("to_name"):
        names.text = str(result["to_name"])
