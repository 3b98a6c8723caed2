"""The client, its projects and its runs: the calls of ``docs/client.md``."""

import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelhub_client.api import Api, Feed, polling_pauses
from labelhub_client.errors import RunStopped, WaitedTooLong, WrongUse
from labelhub_client.exchange import Export, Rows, import_items
from labelhub_client.progress import Meter
from labelhub_client.records import Record

if TYPE_CHECKING:
    import pandas as pd

DONE, PAUSED, CANCELLED = "done", "paused", "cancelled"


class Client(Api):
    """LabelHub from Python, for the server's address and an API key.

    Further options of a method have the server's names.
    """

    def projects(self) -> Iterator[Record]:
        """The projects in which you have a role."""
        return self.rows("projects_list")

    def models(self) -> Iterator[Record]:
        """The models that a run may name."""
        return self.rows("models_list")

    def project(self, slug: str) -> "ProjectClient":
        """A project by its slug; sends no request yet."""
        return ProjectClient(self, slug)

    def create_project(self, slug: str, **plan: Any) -> "ProjectClient":
        """Create a project as its manager; give ``task`` and ``labels``, or a ``schema`` with more
        detail, and optionally ``name``, ``description``, ``guideline``, ``overlap``."""
        self.call("projects_create", json={"slug": slug, **plan})
        return ProjectClient(self, slug)

    def users(self, **which: Any) -> Iterator[Record]:
        """The accounts; for operators."""
        return self.rows("user_list", **which)

    def create_user(self, username: str, **fields: Any) -> Record:
        """Create an account; the answer holds its first ``password``. For operators."""
        return self.record("user_create", json={"username": username, **fields})

    def keys(self, **which: Any) -> Iterator[Record]:
        """Your API keys that work; operators see everybody's."""
        return self.rows("api_key_list", **which)

    def create_key(self, name: str, **fields: Any) -> Record:
        """Create an API key, which the answer holds as ``key``; ``scope``, ``project``,
        ``expires_at`` and, for operators, ``user`` narrow it."""
        return self.record("api_key_create", json={"name": name, **fields})

    def rotate_key(self, key_id: int, grace_hours: int = 24) -> Record:
        """Replace an API key; the old one works for another ``grace_hours``."""
        return self.record("api_key_rotate", key_id=key_id, json={"grace_hours": grace_hours})

    def item(self, item_id: int) -> Record:
        """One item, by its number."""
        return self.record("items_retrieve", id=item_id)

    def run(self, run_id: int) -> "RunClient":
        """A run, by its number."""
        return RunClient(self, self.record("run", run_id=run_id))


class ProjectClient:
    """One project."""

    def __init__(self, api: Api, slug: str) -> None:
        self._api, self.slug = api, slug

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.slug!r})"

    def info(self) -> Record:
        """Its schema, guideline and plan, and your role in it."""
        return self._api.record("projects_retrieve", slug=self.slug)

    def import_items(
        self,
        source: "str | Path | Rows | pd.DataFrame",
        *,
        strict: bool = False,
        **columns: str,
    ) -> Record:
        """Items from a file, a list of rows or a DataFrame; existing items stay as they are.

        ``text_column``, ``id_column``, ``question_column`` and ``gold_column`` name columns with
        other names. With ``strict``, one invalid row rejects all rows; without, the outcome
        lists invalid rows.
        """
        return import_items(self._api, self.slug, source, strict=strict, **columns)

    def import_labels(self, source: "str | Path | Rows | pd.DataFrame") -> Record:
        """Labels and predictions for items that exist, one row each: ``item_id`` (or
        ``item_number``), ``annotator_id``, ``annotator_type``, ``label``, and more."""
        return import_items(self._api, self.slug, source, operation_id="labels_import")

    def change_item(
        self, item: Record | int, *, if_match: str | None = None, **parts: Any
    ) -> Record:
        """Replace ``meta``, or while nobody has labelled it ``text``, ``context``, ``question`` or
        ``options``."""
        return self._api.record(
            "projects_items_partial_update",
            slug=self.slug,
            id=item_number(item),
            json=parts,
            if_match=if_match,
        )

    def delete_item(self, item: Record | int, *, with_labels: bool = False) -> None:
        """Delete an item; one that has labels or debates only ``with_labels``."""
        labels = "delete" if with_labels else None
        self._api.call(
            "projects_items_destroy", slug=self.slug, id=item_number(item), labels=labels
        )

    def labels_since(self, since: str = "0", **which: Any) -> Feed:
        """The labels that came after a cursor, each once; the feed's ``since`` is the next one."""
        return Feed(self._api, "projects_labels_list", since, slug=self.slug, **which)

    def item_changes_since(self, since: str = "0") -> Feed:
        """Which items were changed or deleted, in the same way."""
        return Feed(self._api, "projects_item_changes_list", since, slug=self.slug)

    def items(self, **which: Any) -> Iterator[Record]:
        """Items and their place in the workflow, in the order of their import."""
        return self._api.rows("projects_items_list", slug=self.slug, **which)

    def labels(self, **which: Any) -> Iterator[Record]:
        """The ledger's labels, oldest first. ``current``: neither superseded nor withdrawn, nor
        rejections without a value, which are ``rejected``."""
        return self._api.rows("projects_labels_list", slug=self.slug, **which)

    def gold(self) -> Iterator[Record]:
        """The decided values, in the order of the items."""
        return self._api.rows("projects_gold_list", slug=self.slug)

    def next(self) -> Record | None:
        """The item that you hold a lease on, or a new one; None if nothing is left."""
        task: Record | None = self._api.call("queue_next", slug=self.slug)
        return task

    def submit(self, task: Record | int, value: Any = None, **more: Any) -> Record:
        """Label a task, or any item.

        ``reject`` marks the suggestion as wrong and, without a label, leaves the item to others;
        ``abstain`` means that you are unsure. ``evidence`` holds phrases of the text by label;
        ``spans`` are ``{"label", "start", "end"}`` in code points.
        """
        return self._api.record(
            "label_create",
            slug=self.slug,
            json={**more, "item": item_number(task), "value": value, **lease_of(task, shown=True)},
        )

    def skip(self, task: Record | int, reason: str = "", *, postpone: bool = False) -> Record:
        """Leave the item to others, or with ``postpone`` see it again when nothing else is left."""
        action = {"postpone" if postpone else "skip": True, "comment": reason}
        body = {"item": item_number(task), **action, **lease_of(task)}
        return self._api.record("label_create", slug=self.slug, json=body)

    def renew(self, task: Record) -> Record:
        """Ask for more time."""
        return self._api.record("lease_renew", slug=self.slug, token=task.lease.token)

    def release(self, task: Record) -> None:
        """Release the item for others."""
        self._api.call("lease_release", slug=self.slug, token=task.lease.token)

    def preannotate(self, protocol: str = "ecj", **plan: Any) -> "RunClient":
        """Start a run, which a worker of the server carries out. ``model`` is for every role that
        ``models`` does not name."""
        body = {"protocol": protocol, **plan}
        return RunClient(self._api, self._api.record("run_start", slug=self.slug, json=body))

    def runs(self) -> Iterator[Record]:
        """Its runs, newest first."""
        return self._api.rows("run_list", slug=self.slug)

    def evaluation(self, **whose: Any) -> Record:
        """The values of a run (the newest by default) or an ``annotator`` against gold."""
        return self._api.record("evaluation", slug=self.slug, **whose)

    def agreement(self, **part: Any) -> Record:
        """The agreement of LLMs, crowd, experts and authors, in all or a slice of the labels."""
        return self._api.record("agreement", slug=self.slug, **part)

    def export(
        self,
        format: str = "jsonl",  # noqa: A002 - the server's word
        *,
        only: str | None = None,
        since: str | None = None,
    ) -> Export:
        """Items with their labels and gold, requested when used; ``only="gold"``: decided ones.
        With the ``since`` of an export that was read: only items that came or changed."""
        return Export(self._api, self.slug, format, only, since)


class RunClient:
    """One run; ``info`` is its last known state."""

    def __init__(self, api: Api, info: Record) -> None:
        self._api, self.info = api, info

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id}, {self.info.status!r})"

    @property
    def id(self) -> int:
        """Its number."""
        return int(self.info.id)

    @property
    def stopped(self) -> bool:
        """Whether it has ended or must be resumed, by its last known state. A run that waits, for
        example because of an endpoint's limits, continues by itself."""
        resting = self.info.status == PAUSED and self.info.resume_at is not None
        return self.info.status in (DONE, PAUSED, CANCELLED) and not resting

    def wait(self, timeout: float | None = None) -> Record:
        """Wait until it is done.

        Raises:
            RunStopped: it is cancelled, or paused and will not continue by itself.
            WaitedTooLong: ``timeout`` seconds of pauses are over; the run continues.
        """
        if timeout is not None and timeout < 0:
            raise WrongUse("timeout: must not be negative.")
        slept, pauses = 0.0, polling_pauses()
        what = f"Run {self.id}"
        with Meter(self._api.on_progress, what, total=None, unit="debates") as meter:
            while not self._is_over(meter):
                if timeout is not None and slept >= timeout:
                    raise WaitedTooLong(f"{what} is not done after {timeout:g} s; it continues.")
                pause = next(pauses)
                if timeout is not None:
                    pause = max(0.01, min(pause, timeout - slept))
                time.sleep(pause)
                slept += pause
        run = self.info
        if run.status == DONE:
            return run
        advice = "start another run"
        if run.status == PAUSED:
            advice = "call resume(), with a new budget if the old one is used up"
        raise RunStopped(
            f"{what} is {run.status}: {run.message or 'unknown reason'} ({advice}).",
            code=run.pause_code or run.status,
            data={"run": run.id, "status": run.status},
        )

    def refresh(self) -> Record:
        """Its state now."""
        return self._take("run")

    def pause(self) -> Record:
        """Start no further calls; running calls finish and are kept."""
        return self._take("run_pause")

    def resume(self, budget: float | str | Decimal | None = None) -> Record:
        """Continue, optionally with another budget, and try failed debates again."""
        return self._take("run_resume", json={} if budget is None else {"budget": budget})

    def cancel(self) -> Record:
        """End it permanently; its labels stay."""
        return self._take("run_cancel")

    def debates(self, **which: Any) -> Iterator[Record]:
        """Its debates, each about one item."""
        return self._api.rows("run_debates", run_id=self.id, **which)

    def _take(self, operation_id: str, **options: Any) -> Record:
        self.info = self._api.record(operation_id, run_id=self.id, **options)
        return self.info

    def _is_over(self, meter: Meter) -> bool:
        run = self.refresh()
        left = run.progress.seconds_left
        notes = [f"about {left:,.0f} s left" if left is not None else "", run.progress.limited_by]
        meter.total = run.progress.total
        meter.reach(
            run.progress.done,
            run.message if run.status == PAUSED else ", ".join(note for note in notes if note),
        )
        return self.stopped


def item_number(given: Record | int) -> int:
    """The number of the item that is labelled.

    Raises:
        WrongUse: it is not a task, item or number; ``next`` returns None at the end.
    """
    item = given.item if isinstance(given, Record) and "lease" in given else given
    number = item.id if isinstance(item, Record) and "text" in item else item
    if isinstance(number, bool) or not isinstance(number, int):
        raise WrongUse(f"Give a task, an item or its number, not {type(given).__name__}.")
    return number


def lease_of(given: Record | int, *, shown: bool = False) -> dict[str, Any]:
    """The lease of a task, and the suggestion that was ``shown``: a run may change it meanwhile."""
    if isinstance(given, int) or "lease" not in given:
        return {}
    suggestion = {"suggestion": given.suggestion.id if given.suggestion else 0} if shown else {}
    return {"lease": given.lease.token, **suggestion}
