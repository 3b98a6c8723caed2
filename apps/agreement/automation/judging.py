"""The one verdict on a sample: given when all of it is decided, kept in the row, never given again.

Whatever becomes of labels, debates or rule afterwards, the errors of the sample stay what they were
found to be. Only another sample, drawn anew, is judged anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from apps.agreement.automation import promise
from apps.agreement.automation.calibration import candidates_among
from apps.agreement.automation.decisions import first_decisions
from apps.agreement.automation.reach import REACH, measured
from apps.agreement.models import Guarantee
from labelhub.core.agreement.risk_control import Choice, Step
from labelhub.core.debate.routing import read_rule


@dataclass(frozen=True, slots=True)
class Drawn:
    """What has become of a sample: decided blind, waiting for people, or of no use any more.

    ``known``: uncertainty, and whether the debate was wrong, by item; ``led``: labelled beside the
    suggestion before anybody spoke blind; ``gone``: its newest debate goes to people in any case.
    Those two are dropped: the queue and the debate settled them, not the label.
    """

    known: Mapping[int, tuple[float, bool]]
    pending: list[int]
    led: list[int]
    gone: list[int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a complete sample says.

    Attributes:
        choice: the fixed-sequence test.
        bounds: of the uncertainty, one for each step of its path.
    """

    choice: Choice
    bounds: list[float]

    @property
    def chosen(self) -> tuple[float, Step] | None:
        """The bound that keeps the promise, and its step."""
        pairs = zip(self.bounds, self.choice.path, strict=True)
        return next((pair for pair in pairs if pair[1] is self.choice.chosen), None)


def sample_of(guarantee: Guarantee) -> Drawn:
    """Where the items of the sample stand: by the row once it is judged, by the ledger until then.

    The rule is that of the drawing.
    """
    if guarantee.verdict is not None:
        return _stored(guarantee.verdict)
    decided = first_decisions(guarantee)
    rule = read_rule(guarantee.rule)
    there = candidates_among(guarantee.project, rule, guarantee.sample)
    gone = [item for item in guarantee.sample if item not in there]
    known = {
        item: (there[item].uncertainty, decided.truths[item] != there[item].value)
        for item in guarantee.sample
        if item in there and item in decided.truths
    }
    left = [item for item in guarantee.sample if item in there and item not in known]
    pending = [item for item in left if item not in decided.led]
    return Drawn(known, pending, [item for item in left if item in decided.led], gone)


def freeze(guarantee: Guarantee) -> Drawn:
    """Judge the sample if all of it is decided, and keep what was found; of several who do it at
    once the first one counts. Where its items stand then."""
    drawn = sample_of(guarantee)
    if guarantee.verdict is not None or drawn.pending or guarantee.state != Guarantee.State.DRAWN:
        return drawn
    unjudged = Guarantee.objects.filter(
        pk=guarantee.pk, state=Guarantee.State.DRAWN, verdict__isnull=True
    )
    unjudged.update(
        verdict={
            "items": {str(item): list(found) for item, found in drawn.known.items()},
            "led": drawn.led,
            "gone": drawn.gone,
            REACH: measured(guarantee, drawn.known),
        },
        wrong=sum(wrong for _, wrong in drawn.known.values()),
        judged_at=timezone.now(),
    )
    guarantee.refresh_from_db(fields=["verdict", "wrong", "judged_at"])
    return sample_of(guarantee)


def judge(guarantee: Guarantee, drawn: Drawn) -> Verdict | None:
    """What the sample says; None while an item of it waits for a person."""
    if drawn.pending:
        return None
    promised = guarantee.target, guarantee.confidence, guarantee.start_errors
    choice = promise.decide(
        [uncertainty for uncertainty, _ in drawn.known.values()],
        [wrong for _, wrong in drawn.known.values()],
        guarantee.bounds,
        promised,
    )
    return Verdict(choice, list(guarantee.bounds))


def _stored(verdict: Mapping[str, Any]) -> Drawn:
    items = {int(item): (found[0], found[1]) for item, found in verdict["items"].items()}
    return Drawn(items, [], list(verdict["led"]), list(verdict["gone"]))
