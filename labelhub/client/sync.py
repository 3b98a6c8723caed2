"""The client with blocking calls. Each method is one call or flow; see :class:`Client`."""

import os
from collections.abc import Generator, Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

import httpx

from labelhub.client import calls, endpoints, flows
from labelhub.client.flows import Ways
from labelhub.client.frames import Per, frame_of, loaded
from labelhub.client.links import Link
from labelhub.client.options import (
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
from labelhub.client.progress import Meter, Show, shown_by
from labelhub.client.records import (
    Gold,
    ImportOutcome,
    Item,
    ItemStanding,
    Label,
    Lease,
    ModelInfo,
    Project,
    Skipped,
    Task,
)
from labelhub.client.reports import Agreement, Evaluation
from labelhub.client.rows import Rows, source_of
from labelhub.client.runs import Debate, Run, RunInList
from labelhub.client.sending import Retries
from labelhub.client.settings import TIMEOUT, checked
from labelhub.client.streams import Lines, check_rows
from labelhub.client.wire import Request

if TYPE_CHECKING:
    import pandas as pd


class Client:
    """LabelHub's REST interface as Python; made with the server's address and an API key.

    Args:
        timeout: seconds to wait for an answer; imports, reports and exports get twenty times that.
        retries: how often to try again what may be tried again.
        progress: True for a bar on stderr, False for none, or what is called with a
            :class:`~labelhub.client.Progress`; by default a bar where stderr is a terminal.
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
        progress: bool | Show | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        ways = Ways(retries or Retries(), shown_by(progress))
        self._link = Link(checked(address, key, timeout), ways, transport)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._link.settings.address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections; ``with`` does it too."""
        self._link.close()

    def projects(self) -> Iterator[Project]:
        """The projects in which you have a role."""
        return self._link.each(calls.page(endpoints.PROJECTS, Project))

    def models(self) -> Iterator[ModelInfo]:
        """The models that a run may name."""
        return self._link.each(calls.page(endpoints.MODELS, ModelInfo))

    def project(self, slug: str) -> "ProjectClient":
        """A project by its slug; nothing is asked yet."""
        return ProjectClient(self._link, slug)

    def create_project(self, slug: str, **plan: Unpack[NewProject]) -> "ProjectClient":
        """A new project, whose manager you are."""
        self._link.ask(calls.posted(endpoints.CREATE_PROJECT, Project, {"slug": slug, **plan}))
        return ProjectClient(self._link, slug)

    def item(self, item_id: int) -> ItemStanding:
        """One item, by its number."""
        return self._link.ask(calls.one(endpoints.ITEM, ItemStanding, at={"id": item_id}))

    def run(self, run_id: int) -> "RunClient":
        """A run, by its number."""
        info = self._link.ask(calls.one(endpoints.RUN, Run, at={"run_id": run_id}))
        return RunClient(self._link, info)


class ProjectClient:
    """One project."""

    def __init__(self, link: Link, slug: str) -> None:
        self._link, self.slug = link, slug
        self._at = {"slug": slug}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.slug!r})"

    def info(self) -> Project:
        """Its schema, guideline, plan, and your role in it."""
        return self._link.ask(calls.one(endpoints.PROJECT, Project, at=self._at))

    def import_items(
        self,
        source: "str | Path | Rows | pd.DataFrame",
        *,
        strict: bool = False,
        **columns: Unpack[Columns],
    ) -> ImportOutcome:
        """Items from a file, a list of rows or a DataFrame; what is there already stays as it is.

        With ``strict`` a fault anywhere keeps everything out; otherwise faulty rows are told.
        """
        given = source_of(source, strict=strict)
        flow = flows.imported(self._link.ways, self.slug, given, strict=strict, columns=columns)
        return self._link.run(flow)

    def items(self, **which: Unpack[ItemFilter]) -> Iterator[ItemStanding]:
        """Items and where they stand, in the order of their import."""
        return self._link.each(calls.page(endpoints.ITEMS, ItemStanding, at=self._at, **which))

    def labels(self, **which: Unpack[LabelFilter]) -> Iterator[Label]:
        """The ledger's labels, oldest first."""
        return self._link.each(calls.page(endpoints.LABELS, Label, at=self._at, **which))

    def gold(self) -> Iterator[Gold]:
        """The decided values, in the order of the items."""
        return self._link.each(calls.page(endpoints.GOLD, Gold, at=self._at))

    def next(self) -> Task | None:
        """The item you hold, or a new one, for you alone for a while; None: nothing is left."""
        return self._link.ask(calls.next_task(self.slug))

    def submit(self, task: Task | Item | int, value: Any = None, **more: Unpack[Answer]) -> Label:
        """Label what was handed out, or any item."""
        return self._link.ask(calls.submitted(self.slug, task, value, more))

    def skip(self, task: Task | Item | int, reason: str = "", *, postpone: bool = False) -> Skipped:
        """Leave it to others, or with ``postpone`` put it off until nothing else is left."""
        return self._link.ask(calls.skipped(self.slug, task, reason, postpone=postpone))

    def renew(self, task: Task) -> Lease:
        """Ask for more time."""
        return self._link.ask(calls.renewed(self.slug, task))

    def release(self, task: Task) -> None:
        """Give it back: it is free for everybody at once."""
        self._link.ask(calls.released(self.slug, task))

    def preannotate(self, protocol: Protocol = "ecj", **plan: Unpack[RunPlan]) -> "RunClient":
        """Start a run; a worker of the server takes it up."""
        body = {"protocol": protocol, **plan}
        info = self._link.ask(calls.posted(endpoints.START_RUN, Run, body, slug=self.slug))
        return RunClient(self._link, info)

    def runs(self) -> Iterator[RunInList]:
        """Its runs, newest first."""
        return self._link.each(calls.page(endpoints.RUNS, RunInList, at=self._at))

    def evaluation(self, **whose: Unpack[Predicted]) -> Evaluation:
        """Predicted against gold."""
        return self._link.ask(calls.one(endpoints.EVALUATION, Evaluation, at=self._at, **whose))

    def agreement(self, **part: Unpack[Slice]) -> Agreement:
        """How far LLM, crowd, expert and author agree."""
        return self._link.ask(calls.one(endpoints.AGREEMENT, Agreement, at=self._at, **part))

    def export(self, format: str = "jsonl", *, only: str | None = None) -> "Export":  # noqa: A002 - the server's word
        """Items with their labels and gold, asked for when used; ``only="gold"``: those decided."""
        return Export(self._link, self.slug, format, only)


class RunClient:
    """One run; ``info`` is what was last heard of it."""

    def __init__(self, link: Link, info: Run) -> None:
        self._link, self.info = link, info

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id}, {self.info.status!r})"

    @property
    def id(self) -> int:
        """Its number."""
        return self.info.id

    def wait(self, timeout: float | None = None) -> Run:
        """Wait until it is done; see :func:`labelhub.client.flows.waited`."""
        self.info = self._link.run(flows.waited(self._link.ways, self.id, timeout))
        return self.info

    def refresh(self) -> Run:
        """How far it is now."""
        return self._heard(calls.one(endpoints.RUN, Run, at={"run_id": self.id}))

    def pause(self) -> Run:
        """Start no further calls; what is under way is finished and kept."""
        return self._heard(calls.posted(endpoints.PAUSE, Run, {}, run_id=self.id))

    def resume(self, budget: float | str | Decimal | None = None) -> Run:
        """Go on, perhaps with another budget, and try failed debates again."""
        return self._heard(calls.resumed(self.id, budget))

    def cancel(self) -> Run:
        """End it for good; its labels stay."""
        return self._heard(calls.posted(endpoints.CANCEL, Run, {}, run_id=self.id))

    def debates(self, **which: Unpack[DebateFilter]) -> Iterator[Debate]:
        """What became of each item."""
        first = calls.page(endpoints.DEBATES, Debate, at={"run_id": self.id}, **which)
        return self._link.each(first)

    def _heard(self, request: Request[Run]) -> Run:
        self.info = self._link.ask(request)
        return self.info


class Export:
    """An export that is asked for when it is read, and read as it arrives."""

    def __init__(self, link: Link, slug: str, format_name: str, only: str | None) -> None:
        self._link, self._format = link, format_name
        self._request = calls.exported(slug, format_name, only)

    def pieces(self) -> Generator[bytes, None, None]:
        """The file as it arrives."""
        meter = Meter(self._link.ways.show, "Export", total=None, unit="B")
        with meter, closing(self._link.pieces(self._request)) as pieces:
            for piece in pieces:
                meter.add(len(piece))
                yield piece

    def rows(self) -> Generator[dict[str, Any], None, None]:
        """One dict per item, with its ``labels``; of JSON Lines only."""
        check_rows(self._format)
        lines = Lines()
        with closing(self.pieces()) as pieces:
            for piece in pieces:
                yield from lines.feed(piece)
        lines.close()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """The file at ``path``, which is there when it is complete, and not before."""
        target = Path(path)
        part = target.with_name(f"{target.name}.part")
        try:
            with part.open("wb") as file:
                for piece in self.pieces():
                    file.write(piece)
            return part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def to_dataframe(self, per: Per = "item") -> "pd.DataFrame":
        """One row per item with its gold, or with ``per="label"`` one per label."""
        loaded()
        return frame_of(self.rows(), per)
