"""The client with awaited calls: the same methods as in :mod:`labelhub.client.sync`."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

import httpx

from labelhub.client import calls, endpoints, flows
from labelhub.client.flows import Ways
from labelhub.client.frames import Per, frame_of, loaded
from labelhub.client.links import AsyncLink
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


class AsyncClient:
    """LabelHub's REST interface as Python; made with the server's address and an API key.

    Args:
        timeout: seconds to wait for an answer; imports, reports and exports get twenty times that.
        retries: how often to try again what may be tried again.
        progress: True for a bar on stderr, False for none, or what is called with a
            :class:`~labelhub.client.Progress`; by default a bar where stderr is a terminal.
        transport: how requests travel, such as ``httpx.AsyncHTTPTransport(verify=...)``.

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
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        ways = Ways(retries or Retries(), shown_by(progress))
        self._link = AsyncLink(checked(address, key, timeout), ways, transport)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._link.settings.address!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connections; ``async with`` does it too."""
        await self._link.close()

    def projects(self) -> AsyncIterator[Project]:
        """The projects in which you have a role."""
        return self._link.each(calls.page(endpoints.PROJECTS, Project))

    def models(self) -> AsyncIterator[ModelInfo]:
        """The models that a run may name."""
        return self._link.each(calls.page(endpoints.MODELS, ModelInfo))

    def project(self, slug: str) -> "AsyncProjectClient":
        """A project by its slug; nothing is asked yet."""
        return AsyncProjectClient(self._link, slug)

    async def create_project(self, slug: str, **plan: Unpack[NewProject]) -> "AsyncProjectClient":
        """A new project, whose manager you are."""
        await self._link.ask(
            calls.posted(endpoints.CREATE_PROJECT, Project, {"slug": slug, **plan})
        )
        return AsyncProjectClient(self._link, slug)

    async def item(self, item_id: int) -> ItemStanding:
        """One item, by its number."""
        return await self._link.ask(calls.one(endpoints.ITEM, ItemStanding, at={"id": item_id}))

    async def run(self, run_id: int) -> "AsyncRunClient":
        """A run, by its number."""
        info = await self._link.ask(calls.one(endpoints.RUN, Run, at={"run_id": run_id}))
        return AsyncRunClient(self._link, info)


class AsyncProjectClient:
    """One project."""

    def __init__(self, link: AsyncLink, slug: str) -> None:
        self._link, self.slug = link, slug
        self._at = {"slug": slug}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.slug!r})"

    async def info(self) -> Project:
        """Its schema, guideline, plan, and your role in it."""
        return await self._link.ask(calls.one(endpoints.PROJECT, Project, at=self._at))

    async def import_items(
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
        return await self._link.run(flow)

    def items(self, **which: Unpack[ItemFilter]) -> AsyncIterator[ItemStanding]:
        """Items and where they stand, in the order of their import."""
        return self._link.each(calls.page(endpoints.ITEMS, ItemStanding, at=self._at, **which))

    def labels(self, **which: Unpack[LabelFilter]) -> AsyncIterator[Label]:
        """The ledger's labels, oldest first."""
        return self._link.each(calls.page(endpoints.LABELS, Label, at=self._at, **which))

    def gold(self) -> AsyncIterator[Gold]:
        """The decided values, in the order of the items."""
        return self._link.each(calls.page(endpoints.GOLD, Gold, at=self._at))

    async def next(self) -> Task | None:
        """The item you hold, or a new one, for you alone for a while; None: nothing is left."""
        return await self._link.ask(calls.next_task(self.slug))

    async def submit(
        self, task: Task | Item | int, value: Any = None, **more: Unpack[Answer]
    ) -> Label:
        """Label what was handed out, or any item."""
        return await self._link.ask(calls.submitted(self.slug, task, value, more))

    async def skip(
        self, task: Task | Item | int, reason: str = "", *, postpone: bool = False
    ) -> Skipped:
        """Leave it to others, or with ``postpone`` put it off until nothing else is left."""
        return await self._link.ask(calls.skipped(self.slug, task, reason, postpone=postpone))

    async def renew(self, task: Task) -> Lease:
        """Ask for more time."""
        return await self._link.ask(calls.renewed(self.slug, task))

    async def release(self, task: Task) -> None:
        """Give it back: it is free for everybody at once."""
        await self._link.ask(calls.released(self.slug, task))

    async def preannotate(
        self, protocol: Protocol = "ecj", **plan: Unpack[RunPlan]
    ) -> "AsyncRunClient":
        """Start a run; a worker of the server takes it up."""
        body = {"protocol": protocol, **plan}
        info = await self._link.ask(calls.posted(endpoints.START_RUN, Run, body, slug=self.slug))
        return AsyncRunClient(self._link, info)

    def runs(self) -> AsyncIterator[RunInList]:
        """Its runs, newest first."""
        return self._link.each(calls.page(endpoints.RUNS, RunInList, at=self._at))

    async def evaluation(self, **whose: Unpack[Predicted]) -> Evaluation:
        """Predicted against gold."""
        return await self._link.ask(
            calls.one(endpoints.EVALUATION, Evaluation, at=self._at, **whose)
        )

    async def agreement(self, **part: Unpack[Slice]) -> Agreement:
        """How far LLM, crowd, expert and author agree."""
        return await self._link.ask(calls.one(endpoints.AGREEMENT, Agreement, at=self._at, **part))

    def export(self, format: str = "jsonl", *, only: str | None = None) -> "AsyncExport":  # noqa: A002 - the server's word
        """Items with their labels and gold, asked for when used; ``only="gold"``: those decided."""
        return AsyncExport(self._link, self.slug, format, only)


class AsyncRunClient:
    """One run; ``info`` is what was last heard of it."""

    def __init__(self, link: AsyncLink, info: Run) -> None:
        self._link, self.info = link, info

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id}, {self.info.status!r})"

    @property
    def id(self) -> int:
        """Its number."""
        return self.info.id

    async def wait(self, timeout: float | None = None) -> Run:  # noqa: ASYNC109 - as the other client
        """Wait until it is done; see :func:`labelhub.client.flows.waited`."""
        self.info = await self._link.run(flows.waited(self._link.ways, self.id, timeout))
        return self.info

    async def refresh(self) -> Run:
        """How far it is now."""
        return await self._heard(calls.one(endpoints.RUN, Run, at={"run_id": self.id}))

    async def pause(self) -> Run:
        """Start no further calls; what is under way is finished and kept."""
        return await self._heard(calls.posted(endpoints.PAUSE, Run, {}, run_id=self.id))

    async def resume(self, budget: float | str | Decimal | None = None) -> Run:
        """Go on, perhaps with another budget, and try failed debates again."""
        return await self._heard(calls.resumed(self.id, budget))

    async def cancel(self) -> Run:
        """End it for good; its labels stay."""
        return await self._heard(calls.posted(endpoints.CANCEL, Run, {}, run_id=self.id))

    def debates(self, **which: Unpack[DebateFilter]) -> AsyncIterator[Debate]:
        """What became of each item."""
        first = calls.page(endpoints.DEBATES, Debate, at={"run_id": self.id}, **which)
        return self._link.each(first)

    async def _heard(self, request: Request[Run]) -> Run:
        self.info = await self._link.ask(request)
        return self.info


class AsyncExport:
    """An export that is asked for when it is read, and read as it arrives."""

    def __init__(self, link: AsyncLink, slug: str, format_name: str, only: str | None) -> None:
        self._link, self._format = link, format_name
        self._request = calls.exported(slug, format_name, only)

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The file as it arrives."""
        with Meter(self._link.ways.show, "Export", total=None, unit="B") as meter:
            async with aclosing(self._link.pieces(self._request)) as pieces:
                async for piece in pieces:
                    meter.add(len(piece))
                    yield piece

    async def rows(self) -> AsyncGenerator[dict[str, Any], None]:
        """One dict per item, with its ``labels``; of JSON Lines only."""
        check_rows(self._format)
        lines = Lines()
        async with aclosing(self.pieces()) as pieces:
            async for piece in pieces:
                for row in lines.feed(piece):
                    yield row
        lines.close()

    async def save(self, path: str | os.PathLike[str]) -> Path:
        """The file at ``path``, which is there when it is complete, and not before."""
        target = Path(path)
        part = target.with_name(f"{target.name}.part")
        try:
            with await asyncio.to_thread(part.open, "wb") as file:
                async for piece in self.pieces():
                    await asyncio.to_thread(file.write, piece)
            return part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    async def to_dataframe(self, per: Per = "item") -> "pd.DataFrame":
        """One row per item with its gold, or with ``per="label"`` one per label."""
        loaded()
        return frame_of([row async for row in self.rows()], per)
