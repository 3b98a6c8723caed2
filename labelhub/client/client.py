"""The client, its projects and its runs."""

import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

import httpx

from labelhub.client import endpoints
from labelhub.client.endpoints import (
    Answer,
    Columns,
    DebateFilter,
    ItemFilter,
    LabelFilter,
    NewProject,
    Predicted,
    Protocol,
    RunPlan,
    Slice,
)
from labelhub.client.errors import Problem, RunStopped, WaitedTooLong, WrongUse
from labelhub.client.exports import Export
from labelhub.client.imports import Rows, import_items
from labelhub.client.progress import Meter, ProgressCallback, choose_callback
from labelhub.client.records import (
    DONE,
    PAUSED,
    Agreement,
    Debate,
    Evaluation,
    Gold,
    ImportOutcome,
    Item,
    ItemStanding,
    Label,
    Lease,
    ModelInfo,
    Project,
    Run,
    RunInList,
    Skipped,
    Task,
    read,
)
from labelhub.client.transport import (
    TIMEOUT,
    Retries,
    Session,
    build_request,
    polling_pauses,
)

if TYPE_CHECKING:
    import pandas as pd


class Client:
    """LabelHub's REST interface as Python; made with the server's address and an API key.

    Args:
        timeout: seconds to wait for an answer; imports, reports and exports get twenty times that.
        retries: how often to send again what may be sent again.
        progress: True for a bar on stderr, False for none, or a function that is called with a
            :class:`~labelhub.client.Progress`; by default a bar if stderr is a terminal.
        transport: how requests travel, such as ``httpx.HTTPTransport(verify=...)``.

    Every method raises :class:`~labelhub.client.ClientError`, or one of its kinds.
    """

    def __init__(
        self,
        address: str,
        key: str,
        *,
        timeout: float = TIMEOUT,
        retries: Retries | None = None,
        progress: bool | ProgressCallback | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._session = Session(
            address,
            key,
            timeout=timeout,
            retries=retries or Retries(),
            on_progress=choose_callback(progress),
            transport=transport,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session.address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; ``with`` does it too."""
        self._session.close()

    def projects(self) -> Iterator[Project]:
        """The projects in which you have a role."""
        return self._session.list_rows(endpoints.PROJECTS)

    def models(self) -> Iterator[ModelInfo]:
        """The models that a run may name."""
        return self._session.list_rows(endpoints.MODELS)

    def project(self, slug: str) -> "ProjectClient":
        """A project by its slug; nothing is requested yet."""
        return ProjectClient(self._session, slug)

    def create_project(self, slug: str, **plan: Unpack[NewProject]) -> "ProjectClient":
        """A new project, whose manager you are."""
        self._session.post(endpoints.CREATE_PROJECT, {"slug": slug, **plan})
        return ProjectClient(self._session, slug)

    def item(self, item_id: int) -> ItemStanding:
        """One item, by its number."""
        return self._session.get(endpoints.ITEM, id=item_id)

    def run(self, run_id: int) -> "RunClient":
        """A run, by its number."""
        return RunClient(self._session, self._session.get(endpoints.RUN, run_id=run_id))


class ProjectClient:
    """One project."""

    def __init__(self, session: Session, slug: str) -> None:
        self._session, self.slug = session, slug

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.slug!r})"

    def info(self) -> Project:
        """Its schema, guideline and plan, and your role in it."""
        return self._session.get(endpoints.PROJECT, slug=self.slug)

    def import_items(
        self,
        source: "str | Path | Rows | pd.DataFrame",
        *,
        strict: bool = False,
        **columns: Unpack[Columns],
    ) -> ImportOutcome:
        """Items from a file, a list of rows or a DataFrame; existing items stay as they are.

        With ``strict``, one faulty row keeps all rows out; otherwise the outcome lists faulty rows.
        """
        return import_items(self._session, self.slug, source, strict=strict, columns=columns)

    def items(self, **which: Unpack[ItemFilter]) -> Iterator[ItemStanding]:
        """Items and their place in the workflow, in the order of their import."""
        return self._session.list_rows(endpoints.ITEMS, which, slug=self.slug)

    def labels(self, **which: Unpack[LabelFilter]) -> Iterator[Label]:
        """The ledger's labels, oldest first."""
        return self._session.list_rows(endpoints.LABELS, which, slug=self.slug)

    def gold(self) -> Iterator[Gold]:
        """The decided values, in the order of the items."""
        return self._session.list_rows(endpoints.GOLD, slug=self.slug)

    def next(self) -> Task | None:
        """The item you hold, or a new one, for you alone for a while; None: nothing is left."""
        data = self._session.fetch(build_request(endpoints.NEXT, slug=self.slug))
        return None if data is None else read(Task, data)

    def submit(self, task: Task | Item | int, value: Any = None, **more: Unpack[Answer]) -> Label:
        """Label a task, or any item."""
        body: dict[str, Any] = {**more, "item": item_number(task), "value": value}
        if not isinstance(task, Task):
            return self._session.post(endpoints.SUBMIT_UNLEASED, body, slug=self.slug)
        # What you were shown: a run may change the suggestion in the meantime.
        body["suggestion"] = task.suggestion.id if task.suggestion else 0
        body["lease"] = task.lease.token
        return self._session.post(endpoints.SUBMIT, body, slug=self.slug)

    def skip(self, task: Task | Item | int, reason: str = "", *, postpone: bool = False) -> Skipped:
        """Leave it to others, or with ``postpone`` put it off until nothing else is left."""
        action = "postpone" if postpone else "skip"
        body = {"item": item_number(task), action: True, "comment": reason}
        if isinstance(task, Task):
            body["lease"] = task.lease.token
        return self._session.post(endpoints.SKIP, body, slug=self.slug)

    def renew(self, task: Task) -> Lease:
        """Ask for more time."""
        return self._session.post(endpoints.RENEW, slug=self.slug, token=task.lease.token)

    def release(self, task: Task) -> None:
        """Give it back: it is free for everybody at once."""
        request = build_request(endpoints.RELEASE, slug=self.slug, token=task.lease.token)
        self._session.fetch(request)

    def preannotate(self, protocol: Protocol = "ecj", **plan: Unpack[RunPlan]) -> "RunClient":
        """Start a run; a worker of the server carries it out."""
        body = {"protocol": protocol, **plan}
        info = self._session.post(endpoints.START_RUN, body, slug=self.slug)
        return RunClient(self._session, info)

    def runs(self) -> Iterator[RunInList]:
        """Its runs, newest first."""
        return self._session.list_rows(endpoints.RUNS, slug=self.slug)

    def evaluation(self, **whose: Unpack[Predicted]) -> Evaluation:
        """Predicted values against gold."""
        return self._session.get(endpoints.EVALUATION, whose, slug=self.slug)

    def agreement(self, **part: Unpack[Slice]) -> Agreement:
        """How far LLM, crowd, expert and author agree."""
        return self._session.get(endpoints.AGREEMENT, part, slug=self.slug)

    def export(self, format: str = "jsonl", *, only: str | None = None) -> Export:  # noqa: A002 - the server's word
        """Items with their labels and gold, requested when used; ``only="gold"``: decided ones."""
        return Export(self._session, self.slug, format, only)


class RunClient:
    """One run; ``info`` is its last known state."""

    def __init__(self, session: Session, info: Run) -> None:
        self._session, self.info = session, info

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id}, {self.info.status!r})"

    @property
    def id(self) -> int:
        """Its number."""
        return self.info.id

    def wait(self, timeout: float | None = None) -> Run:
        """Wait until it is done.

        Raises:
            RunStopped: it is cancelled, or paused and will not continue by itself.
            WaitedTooLong: ``timeout`` seconds of pauses are over; the run continues.
        """
        if timeout is not None and timeout < 0:
            raise WrongUse("timeout: no negative seconds.")
        slept, pauses = 0.0, polling_pauses()
        with Meter(
            self._session.on_progress, f"Run {self.id}", total=None, unit="debates"
        ) as meter:
            while not self.refresh().stopped:
                self._report(meter)
                if timeout is not None and slept >= timeout:
                    raise WaitedTooLong(
                        f"Run {self.id} is not done after {timeout:g} s; it goes on."
                    )
                pause = next(pauses)
                if timeout is not None:
                    pause = max(0.01, min(pause, timeout - slept))
                time.sleep(pause)
                slept += pause
            self._report(meter)
        run = self.info
        if run.status == DONE:
            return run
        advice = (
            "resume() goes on with it, where it was out of money with another budget"
            if run.status == PAUSED
            else "start another"
        )
        raise RunStopped(
            f"Run {run.id} is {run.status}: {run.message or 'no reason is known'} ({advice}).",
            Problem(code=run.pause_code or run.status, data={"run": run.id, "status": run.status}),
        )

    def refresh(self) -> Run:
        """Its state now."""
        self.info = self._session.get(endpoints.RUN, run_id=self.id)
        return self.info

    def pause(self) -> Run:
        """Start no further calls; calls under way are finished and kept."""
        self.info = self._session.post(endpoints.PAUSE, run_id=self.id)
        return self.info

    def resume(self, budget: float | str | Decimal | None = None) -> Run:
        """Continue, perhaps with another budget, and try failed debates again."""
        body = {} if budget is None else {"budget": budget}
        self.info = self._session.post(endpoints.RESUME, body, run_id=self.id)
        return self.info

    def cancel(self) -> Run:
        """End it for good; its labels stay."""
        self.info = self._session.post(endpoints.CANCEL, run_id=self.id)
        return self.info

    def debates(self, **which: Unpack[DebateFilter]) -> Iterator[Debate]:
        """Its debates, each about one item."""
        return self._session.list_rows(endpoints.DEBATES, which, run_id=self.id)

    def _report(self, meter: Meter) -> None:
        run = self.info
        left = run.progress.seconds_left
        notes = [f"about {left:,.0f} s left" if left is not None else "", run.progress.limited_by]
        meter.total = run.progress.total
        meter.reach(
            run.progress.done,
            run.message if run.status == PAUSED else ", ".join(note for note in notes if note),
        )


def item_number(task: Task | Item | int) -> int:
    """The number of the item that is labelled.

    Raises:
        WrongUse: it is none of the three; ``next`` gives None at the end.
    """
    item = task.item if isinstance(task, Task) else task
    number = item.id if isinstance(item, Item) else item
    if isinstance(number, bool) or not isinstance(number, int):
        raise WrongUse(f"Give a task, an item or its number, not {type(task).__name__}.")
    return number
