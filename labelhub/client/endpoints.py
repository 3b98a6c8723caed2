"""Every address this client uses, as data: what it takes and gives, whether it may be repeated.

A test holds each of them against the server's OpenAPI document.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from labelhub.client.options import (
    Answer,
    Columns,
    DebateFilter,
    ItemFilter,
    LabelFilter,
    NewProject,
    Predicted,
    RunPlan,
    Slice,
)
from labelhub.client.records import (
    Gold,
    ImportOutcome,
    ItemStanding,
    Label,
    Lease,
    ModelInfo,
    Project,
    Skipped,
    Task,
)
from labelhub.client.reports import Agreement, Evaluation
from labelhub.client.runs import Debate, Run, RunInList

PREFIX = "/api/v1/"
PAGING = frozenset({"page", "page_size"})


class Repeat(StrEnum):
    """Whether a request may be sent again when nobody knows what became of it."""

    READS = "it only reads"
    IDEMPOTENT = "done twice is as done once"
    NEVER = "done twice is something else: sent again only if the server surely did nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One method of one address below ``/api/v1/``.

    ``why`` is the reason for ``repeat``; ``query`` and ``body`` are the names that may be sent;
    ``answer`` is the record it gives, one per row where ``paged``, None where there is none;
    ``slow`` ones get more time.
    """

    method: str
    path: str
    repeat: Repeat
    why: str
    answer: type[Any] | None = None
    query: frozenset[str] = frozenset()
    body: frozenset[str] = frozenset()
    paged: bool = False
    slow: bool = False


def _names(options: Any, *more: str) -> frozenset[str]:
    return frozenset({*options.__annotations__, *more})


def _read(path: str, answer: type[Any] | None, **more: Any) -> Endpoint:
    return Endpoint(
        method="GET", path=path, repeat=Repeat.READS, why="A GET.", answer=answer, **more
    )


def _list(path: str, answer: type[Any], options: frozenset[str] = frozenset()) -> Endpoint:
    return _read(path, answer, paged=True, query=options | PAGING)


PROJECTS = _list("projects/", Project)
PROJECT = _read("projects/{slug}/", Project)
MODELS = _list("models/", ModelInfo)
CREATE_PROJECT = Endpoint(
    method="POST",
    path="projects/",
    repeat=Repeat.NEVER,
    why="The slug is taken by then: the second would be refused although the first succeeded.",
    answer=Project,
    body=_names(NewProject, "slug"),
)
IMPORT = Endpoint(
    method="POST",
    path="projects/{slug}/import/",
    repeat=Repeat.IDEMPOTENT,
    why="A row is known by its id, or by its text where it has none; known rows stay unchanged.",
    answer=ImportOutcome,
    query=_names(Columns, "strict", "name"),
    slow=True,
)
IMPORT_STATUS = _read("projects/{slug}/imports/{batch_id}/", ImportOutcome)
ITEMS = _list("projects/{slug}/items/", ItemStanding, _names(ItemFilter))
ITEM = _read("items/{id}/", ItemStanding)
LABELS = _list("projects/{slug}/labels/", Label, _names(LabelFilter))
GOLD = _list("projects/{slug}/gold/", Gold)
NEXT = Endpoint(
    method="POST",
    path="projects/{slug}/next/",
    repeat=Repeat.IDEMPOTENT,
    why="The item one holds already comes first, under the same lease.",
    answer=Task,
)
_ANSWER = _names(Answer, "item", "value", "suggestion")
SUBMIT = Endpoint(
    method="POST",
    path="projects/{slug}/labels/",
    repeat=Repeat.IDEMPOTENT,
    why="The same answer under the same lease is stored once.",
    answer=Label,
    body=_ANSWER | {"lease"},
)
SUBMIT_UNLEASED = Endpoint(
    method="POST",
    path="projects/{slug}/labels/",
    repeat=Repeat.NEVER,
    why="Without a lease the second is a revision of the first.",
    answer=Label,
    body=_ANSWER,
)
SKIP = Endpoint(
    method="POST",
    path="projects/{slug}/labels/",
    repeat=Repeat.IDEMPOTENT,
    why="An item that was skipped stays skipped, and one put off is put off.",
    answer=Skipped,
    body=frozenset({"item", "skip", "postpone", "lease", "comment"}),
)
RENEW = Endpoint(
    method="POST",
    path="projects/{slug}/leases/{token}/",
    repeat=Repeat.IDEMPOTENT,
    why="It sets when the lease lapses.",
    answer=Lease,
)
RELEASE = Endpoint(
    method="DELETE",
    path="projects/{slug}/leases/{token}/",
    repeat=Repeat.IDEMPOTENT,
    why="What was given back is given back.",
)
START_RUN = Endpoint(
    method="POST",
    path="projects/{slug}/runs/",
    repeat=Repeat.NEVER,
    why="Each makes another run, and models are paid for each.",
    answer=Run,
    body=_names(RunPlan, "protocol"),
)
RUNS = _list("projects/{slug}/runs/", RunInList)
RUN = _read("runs/{run_id}/", Run)
DEBATES = _list("runs/{run_id}/debates/", Debate, _names(DebateFilter))
_STEERED = "The run is so already: the second would be refused although the first succeeded."
PAUSE = Endpoint(
    method="POST", path="runs/{run_id}/pause/", repeat=Repeat.NEVER, why=_STEERED, answer=Run
)
RESUME = Endpoint(
    method="POST",
    path="runs/{run_id}/resume/",
    repeat=Repeat.NEVER,
    why=_STEERED,
    answer=Run,
    body=frozenset({"budget"}),
)
CANCEL = Endpoint(
    method="POST", path="runs/{run_id}/cancel/", repeat=Repeat.NEVER, why=_STEERED, answer=Run
)
EVALUATION = _read("projects/{slug}/evaluation/", Evaluation, query=_names(Predicted), slow=True)
AGREEMENT = _read("projects/{slug}/agreement/", Agreement, query=_names(Slice), slow=True)
EXPORT = _read("projects/{slug}/export/", None, query=frozenset({"format", "only"}), slow=True)

ENDPOINTS = {name: one for name, one in list(globals().items()) if isinstance(one, Endpoint)}
