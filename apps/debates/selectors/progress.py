"""The progress of a run, its pace, and its limits."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from apps.common.holds import held_since
from apps.common.queues import RUNS
from apps.common.workers import worker_silence
from apps.debates.models import Debate, Run
from apps.debates.selectors.runs import status_counts
from labelhub.core.phrases import Phrase

#: The most and the fewest finished debates for an estimate.
RECENT = 100
LEAST = 5
#: A worker reports every few seconds; after this silence there is none.
SILENCE = timedelta(seconds=15)
#: The factor for the likely cost of the rest in a suggested budget.
MARGIN = 1.2
LEAST_BUDGET = 10_000.0  # nano-USD; forms take six decimals of a dollar


@dataclass(frozen=True, slots=True)
class ProviderLine:
    """The state of the line to one provider in the worker's last report.

    ``limit``: the most calls under way; ``changes``: its last changes in words, latest last.
    """

    provider: str
    limit: int
    in_flight: int
    waiting: int
    words: str = ""
    refused_share: float = 0.0
    stopped: bool = False
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a run. Counts are debates; ``cost_usd`` is None if a price is unknown."""

    status: str
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
    no_estimate: str = ""
    limited_by: str = ""
    debates_per_minute: float | None = None
    calls_under_way: int | None = None
    lines: tuple[ProviderLine, ...] = ()
    settling: bool = False

    @property
    def finished(self) -> int:
        """Debates that have ended, including failed ones."""
        return self.total - self.waiting

    @property
    def parts(self) -> tuple[tuple[str, str, int, float, float], ...]:
        """The parts of the bar: status, words, count, start and width (0-100)."""
        counts = {
            Debate.Status.DONE: self.done,
            Debate.Status.UNPARSED: self.unparsed,
            Debate.Status.FAILED: self.failed,
            Debate.Status.WAITING: self.waiting,
        }
        found, start = [], 0.0
        for status, count in counts.items():
            width = 100 * count / self.total if self.total else 0.0
            found.append((status.value, str(status.label), count, round(start, 3), round(width, 3)))
            start += width
        return tuple(found)


def progress(run: Run) -> RunProgress:
    """The present progress, with an estimate from the last finished debates."""
    counts = status_counts([run.pk])[run.pk]
    waiting = counts[Debate.Status.WAITING]
    per_second, why = _rate(run, timezone.now())
    finished = sum(counts.values()) - waiting
    # A worker may still be storing the calls that were under way when the run stopped.
    held = Debate.objects.filter(run=run, lease_token__isnull=False, lease_until__gt=timezone.now())
    watched = _is_driven(run)
    return RunProgress(
        status=run.status,
        total=sum(counts.values()),
        done=counts[Debate.Status.DONE],
        unparsed=counts[Debate.Status.UNPARSED],
        failed=counts[Debate.Status.FAILED],
        waiting=waiting,
        turns=run.turns_count,
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
        cost_usd=None if run.unpriced_turns else run.cost_nanousd / 1e9,
        calls_per_second=per_second * run.turns_count / finished
        if per_second and finished
        else None,
        seconds_left=waiting / per_second if per_second else None,
        no_estimate=why,
        limited_by=limited_by(run),
        debates_per_minute=per_second * 60 if per_second else None,
        calls_under_way=run.pulse.get("calls") if watched else None,
        lines=_lines(run.pulse) if watched else (),
        settling=not run.going and run.status != Run.Status.DONE and held.exists(),
    )


def budget_to_finish(run: Run, so_far: RunProgress) -> Decimal:
    """A budget in USD that is probably enough, judging by the cost so far; always more than the
    present budget."""
    spent = run.cost_nanousd
    rest = spent / so_far.finished * so_far.waiting if so_far.finished else spent
    due = spent + run.unread_nanousd
    nanousd = max(due + MARGIN * rest, 1.1 * (run.budget_nanousd or 0), LEAST_BUDGET)
    # Rounded up to two digits, as people would type it.
    unit = 10.0 ** (math.floor(math.log10(nanousd)) - 1)
    return Decimal(f"{math.ceil(nanousd / unit) * unit / 1e9:.6f}".rstrip("0").rstrip("."))


def _rate(run: Run, now: datetime) -> tuple[float | None, str]:
    """Recent debates per second, or None and the reason."""
    since = run.resumed_at or run.started_at
    if not run.going:
        return None, gettext("The run has stopped.")
    if since is None or run.started_at is None:
        return None, gettext("Waiting for a worker.")
    finished = Debate.objects.filter(run=run, finished_at__gt=since).order_by("-finished_at")
    recent = list(finished.values_list("finished_at", flat=True)[:RECENT])
    if len(recent) < LEAST:
        return None, gettext("Too early to tell.")
    # Until now, not until the last debate: a stalled run must look slower and slower.
    oldest = recent[-1] if len(recent) == RECENT and recent[-1] else since
    return len(recent) / max((now - oldest).total_seconds(), 0.001), ""


def _is_driven(run: Run) -> bool:
    """Whether a worker recently reported that it drives the run."""
    reported_at = run.pulse.get("at")
    return (
        run.going
        and bool(reported_at)
        and timezone.now() - datetime.fromisoformat(reported_at) <= SILENCE
    )


def limited_by(run: Run) -> str:
    """The limit of an active run in its worker's last report, in words; may be empty."""
    if not run.going or (run.started_at is None and timezone.now() - run.created_at <= SILENCE):
        return ""
    if not _is_driven(run):
        if held_since():
            return gettext(
                "This server was restored from a backup; the run continues once an operator "
                "releases it."
            )
        if silence := worker_silence(RUNS):
            return gettext(
                "No worker has been running for %(time)s; the run continues once one is started."
            ) % {"time": silence}
        return gettext("No worker drives the run now; one takes over within seconds.")
    return Phrase.of(run.pulse.get("limited_by", ""))


def _lines(pulse: Mapping[str, Any]) -> tuple[ProviderLine, ...]:
    """The entries of ``limits_of`` in the worker's report. The worker may run another version, so
    any field may be missing."""
    limits = pulse.get("limits")
    entries = limits if isinstance(limits, list) else []
    return tuple(
        ProviderLine(
            provider=str(entry.get("provider", "")),
            limit=entry.get("limit") or 0,
            in_flight=entry.get("in_flight") or 0,
            waiting=entry.get("waiting") or 0,
            words=Phrase.of(entry.get("words", "")),
            refused_share=entry.get("refused_share") or 0.0,
            stopped=bool(entry.get("breaker_open")),
            changes=tuple(map(Phrase.of, entry.get("changes") or ())),
        )
        for entry in entries
        if isinstance(entry, Mapping)
    )
