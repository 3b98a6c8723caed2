"""The runs that a table needs: those there are already, what the others cost, driving them."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import Count, Q

from apps.agreement.papers.bringing import Brought
from apps.agreement.papers.setups import Setup
from apps.debates.models import Debate, Run
from apps.debates.services import (
    Preview,
    RunPlan,
    SliceEnd,
    checked_cast,
    preview,
    resume_run,
    run_slice,
    set_budget,
    start_run,
)
from apps.debates.services.hashes import spec_hash
from apps.projects.selectors import current_guideline
from labelhub.core.errors import LabelhubError

#: How long to wait before looking again at a run that another worker drives, seconds.
LOOK_AGAIN = 1.0
TO_DO = (Debate.Status.WAITING, Debate.Status.FAILED)
Say = Callable[[str], None]


class TableStopped(LabelhubError):
    """A run did not come to its end; the message says which, and why."""

    code = "table_stopped"


@dataclass(frozen=True, slots=True)
class Needed:
    """A run that a table needs over one file: ``run`` is there already, perhaps not at its end.

    ``left``: what it would still take; None where nothing is left to do.
    """

    brought: Brought
    setup: Setup
    plan: RunPlan
    run: Run | None
    left: Preview | None


@dataclass(frozen=True, slots=True)
class Bill:
    """What all of it would still take; costs in nano-USD, None where a price is unknown."""

    runs: int
    reused: int
    calls: int
    calls_most: int
    cost_nanousd: int | None
    worst_nanousd: int | None
    unpriced: Sequence[str] = field(default_factory=tuple)

    def to_json(self) -> dict[str, object]:
        """JSON-ready form."""
        costs = {"cost_usd": self.cost_nanousd, "worst_usd": self.worst_nanousd}
        plain = ("runs", "reused", "calls", "calls_most")
        return {
            **{name: getattr(self, name) for name in plain},
            **{name: None if cost is None else cost / 1e9 for name, cost in costs.items()},
            "unpriced": list(self.unpriced),
        }


def needed(brought: Brought, setup: Setup, replicates: int) -> Needed:
    """A table's run over one file, as far as it is there.

    Raises:
        InvalidInput: the set-up cannot answer the file's question.
    """
    plan = setup.plan(item_ids=brought.item_ids, replicates=replicates)
    run = _found(brought, plan)
    todo = list(brought.item_ids) if run is None else _unfinished(run, plan)
    left = preview(project=brought.project, plan=replace(plan, item_ids=todo)) if todo else None
    return Needed(brought, setup, plan, run, left)


def bill_of(runs: Sequence[Needed]) -> Bill:
    """The sum of what is left to do."""
    left = [each.left for each in runs if each.left is not None]
    costs = [each.cost_nanousd for each in left]
    worst = [each.worst_nanousd for each in left]
    return Bill(
        runs=len(runs),
        reused=len(runs) - len(left),
        calls=sum(each.calls for each in left),
        calls_most=sum(each.calls_most for each in left),
        cost_nanousd=_sum(costs),
        worst_nanousd=_sum(worst),
        unpriced=tuple(dict.fromkeys(name for each in left for name in each.unpriced)),
    )


def finish(runs: Sequence[Needed], budget: int | None, say: Say) -> Iterator[tuple[Needed, Run]]:
    """Bring each to its end, one after the other, within ``budget`` nano-USD for all together.

    Raises:
        TableStopped: one stopped before; what it has found stays, and the next call goes on there.
    """
    spent = 0
    for number, each in enumerate(runs, start=1):
        if each.left is None and each.run is not None:
            yield each, each.run
            continue
        say(f"{number} of {len(runs)}: {each.setup.words}, {each.brought.title} …")
        before = each.run.cost_nanousd if each.run else 0
        run = _go_on(each, None if budget is None else max(0, budget - spent))
        drive(run)
        spent += run.cost_nanousd - before
        if run.status != Run.Status.DONE:
            raise TableStopped(
                f"Run {run.pk} ({each.setup.words}) is {run.status}: {run.message} "
                "Call the command again to go on from there."
            )
        yield each, run


def drive(run: Run) -> None:
    """Drive slices until the run has ended, or wait for whoever else drives it."""
    while run.going:
        if run_slice(run.pk) is SliceEnd.BUSY:
            time.sleep(LOOK_AGAIN)
        run.refresh_from_db()


def _go_on(each: Needed, budget: int | None) -> Run:
    """The run, started or resumed."""
    if each.run is None:
        plan = replace(each.plan, budget_nanousd=budget)
        return start_run(project=each.brought.project, actor=None, plan=plan)
    run = each.run
    most = None if budget is None else run.cost_nanousd + budget
    if run.status == Run.Status.DONE:  # some of it failed; a run that has ended takes no budget
        run = resume_run(run=run)
    if run.budget_nanousd != most:
        run = set_budget(run=run, budget_nanousd=most)
    return run if run.going else resume_run(run=run)


def _found(brought: Brought, plan: RunPlan) -> Run | None:
    """A run of the same set-up over these items and passes, the one with the least left to do."""
    cast = checked_cast(plan, brought.labels)
    wanted = spec_hash(plan, cast, brought.labels, current_guideline(brought.project))
    alike = Run.objects.filter(
        project=brought.project, spec_hash=wanted, replicates__gte=plan.replicates
    ).exclude(status=Run.Status.CANCELLED)
    counted = alike.annotate(todo=Count("debates", filter=Q(debates__status__in=TO_DO)))
    asked = set(plan.item_ids or ())
    for run in counted.order_by("todo", "-pk"):
        if asked <= set(run.debates.filter(replicate=1).values_list("item", flat=True)):
            return run
    return None


def _unfinished(run: Run, plan: RunPlan) -> list[int]:
    """Items of the plan that the run has still to answer."""
    waiting = run.debates.filter(status__in=TO_DO, replicate__lte=plan.replicates)
    return sorted(set(waiting.values_list("item", flat=True)) & set(plan.item_ids or ()))


def _sum(costs: Sequence[int | None]) -> int | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def by_setup(runs: Sequence[tuple[Needed, Run]], brought: Brought) -> Mapping[str, tuple[Run, int]]:
    """The finished runs over one file by the key of their set-up, with the passes that count."""
    return {
        each.setup.key: (run, each.plan.replicates) for each, run in runs if each.brought is brought
    }
