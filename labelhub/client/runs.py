"""Runs and debates as records; see :mod:`labelhub.client.records`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

DONE, PAUSED, CANCELLED = "done", "paused", "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRole:
    """Who plays a role of a run, by which prompt."""

    role: str
    model: str
    provider: str
    offline: bool
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """How far a run is; counts are debates. What is not known is None."""

    total: int
    done: int
    unparsed: int
    failed: int
    waiting: int
    turns: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    calls_per_second: float | None
    seconds_left: float | None
    limited_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInList:
    """A run, as a list of runs has it."""

    id: int
    uid: str
    project: str
    protocol: str
    settings: Any
    replicates: int
    roles: tuple[RunRole, ...]
    schema_version: int
    status: str
    pause_code: str
    message: str
    resume_at: datetime | None
    cost_usd: float | None
    budget_usd: float | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def stopped(self) -> bool:
        """Whether nothing more will happen unless somebody resumes it: a run that rests, say
        because of an endpoint's limits, goes on by itself."""
        resting = self.status == PAUSED and self.resume_at is not None
        return self.status in (DONE, PAUSED, CANCELLED) and not resting


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(RunInList):
    """A run with its progress."""

    progress: RunProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class Debate:
    """One item's passage through a run."""

    id: int
    run: int
    item: int
    item_external_id: str
    replicate: int
    status: str
    value: Any
    gold: Any
    uncertainty: float | None
    signals: Any
    flags: Any
    reasons: Any
    error: str
    finished_at: datetime | None
