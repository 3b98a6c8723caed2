"""What one reviewer answered so far, the latest first: to look at again, and to take back."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.accounts.models import User
from apps.projects.models import Project
from apps.reviews.models import Decision
from labelhub.core.schema import value_words

ON_A_PAGE = 20
_WITHOUT_LABEL = {Decision.Action.SKIP: "skipped", Decision.Action.POSTPONE: "put off"}


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """One decision as its reviewer finds it again. ``stands``: it can be taken back."""

    decision: Decision
    words: str
    stands: bool


@dataclass(frozen=True, slots=True)
class PastAnswers:
    """A page of them; ``older`` is what the next one is asked for by, None on the last."""

    answers: Sequence[PastAnswer]
    older: int | None


def past_answers(project: Project, user: User, *, before: int | None = None) -> PastAnswers:
    """What ``user`` decided and did not take back, by 20; those older than the decision ``before``.

    One query, by an index, however much was answered.
    """
    decisions = Decision.objects.standing(project, user)
    if before is not None:
        decisions = decisions.filter(pk__lt=before)
    rows = decisions.select_related("item", "label__superseded_by")[: ON_A_PAGE + 1]
    answers = [_past(decision) for decision in rows]
    more = len(answers) > ON_A_PAGE
    shown = answers[:ON_A_PAGE]
    return PastAnswers(shown, shown[-1].decision.pk if more else None)


def _past(decision: Decision) -> PastAnswer:
    label = decision.label
    if label is None:
        words = _WITHOUT_LABEL.get(Decision.Action(decision.action), "answered")
        return PastAnswer(decision, words, stands=decision.action in _WITHOUT_LABEL)
    words = "cannot tell" if label.abstained else value_words(label.value)
    if label.rejected:
        words = "rejected the suggestion, gave no label"
    stands = not label.withdrawn and not hasattr(label, "superseded_by")
    return PastAnswer(decision, words, stands)
