"""The sums of a run, and its end."""

from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.debates.models import Debate, Run, Turn


def finish_run(run_id: int) -> bool:
    """Close a going run in which nothing waits any more; True when this call closed it."""
    if Debate.objects.filter(run=run_id, status=Debate.Status.WAITING).exists():
        return False
    with transaction.atomic():
        run = Run.objects.going().select_for_update().filter(pk=run_id).first()
        # Looked at again: the run may have been closed and resumed since.
        if run is None or Debate.objects.filter(run=run, status=Debate.Status.WAITING).exists():
            return False
        recount(run)
        Run.objects.filter(pk=run_id).update(
            status=Run.Status.DONE,
            pause_code="",
            message=_closing_words(run),
            finished_at=timezone.now(),
            pulse={},
        )
    return True


def recount(run: Run) -> None:
    """Bring the run's sums into line with its turns, which are the truth."""
    turns = Turn.objects.filter(debate__run=run)
    sums = _sums(
        turns.values_list("tokens_in", "tokens_out", "cost_nanousd").iterator(chunk_size=5000)
    )
    sums["cost_nanousd"] += run.other_cost_nanousd
    Run.objects.filter(pk=run.pk).update(**sums)


def count_in(run: Run, turns: Sequence[Turn], other_cost: int = 0) -> None:
    """Add ``turns``, and what was paid beside them, to the run's sums; in the transaction that
    writes them."""
    if not turns and not other_cost:
        return
    sums = _sums((turn.tokens_in, turn.tokens_out, turn.cost_nanousd) for turn in turns)
    sums["cost_nanousd"] += other_cost
    sums["other_cost_nanousd"] = other_cost
    Run.objects.filter(pk=run.pk).update(**{name: F(name) + more for name, more in sums.items()})


def _sums(turns: Iterable[tuple[int, int, int | None]]) -> dict[str, int]:
    sums = dict.fromkeys(
        ("turns_count", "unpriced_turns", "tokens_in", "tokens_out", "cost_nanousd"), 0
    )
    for tokens_in, tokens_out, cost in turns:
        sums["turns_count"] += 1
        sums["unpriced_turns"] += cost is None
        sums["tokens_in"] += tokens_in
        sums["tokens_out"] += tokens_out
        sums["cost_nanousd"] += cost or 0
    return sums


def _closing_words(run: Run) -> str:
    debates = Debate.objects.filter(run=run)
    counts = {status: debates.filter(status=status).count() for status in Debate.Status.values}
    words = f"{counts[Debate.Status.DONE]} of {sum(counts.values())} labelled"
    if counts[Debate.Status.UNPARSED]:
        words += (
            f", {counts[Debate.Status.UNPARSED]} without a usable label (they go to people first)"
        )
    if counts[Debate.Status.FAILED]:
        words += f", {counts[Debate.Status.FAILED]} failed (resume the run to try those again)"
        failed = debates.filter(status=Debate.Status.FAILED).order_by("-finished_at")
        if last := failed.values_list("error", flat=True).first():
            return f"{words}. The last one: {last}"
    return words + "."
