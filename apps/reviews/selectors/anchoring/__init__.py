"""Anchoring measured: what people say of items with the suggestion before them, and without.

For each person a share of the items, drawn by hash, comes without any suggestion. So both arms are
alike but for that, and what differs between them is what seeing the suggestion does. Of each person
and item the first answer counts that they did not take back: later ones may be led by more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from apps.accounts.models import User
from apps.projects.models import Project
from apps.reviews.selectors.anchoring.answers import SHOWN, WITHHELD, Answers, read_answers
from apps.reviews.selectors.anchoring.measuring import (
    Arm,
    arm_of_answers,
    difference_of,
    newcombe_of,
    too_few,
)
from apps.reviews.selectors.anchoring.wording import sentence, warning
from labelhub.core.agreement.figures import Figure, share, undefined

__all__ = ["AnchoringReport", "Arm", "PersonArms", "anchoring_report"]

MEASURES = ("taken_over", "agreement", "accuracy", "seconds")
#: Of one person fewer answers will do to look, not to judge.
FEWEST_OF_ONE = 10


@dataclass(frozen=True, slots=True)
class PersonArms:
    """One person: how often they say what is suggested, in both arms."""

    user: User
    shown: Figure
    withheld: Figure
    difference: Figure


@dataclass(frozen=True, slots=True)
class AnchoringReport:
    """Both arms, ``shown`` less ``withheld`` for each measure, and in words.

    ``warning``: why there is nothing new to come. ``cut``: only the newest answers were looked at.
    """

    arms: Mapping[str, Arm]
    differences: Mapping[str, Figure]
    people: Sequence[PersonArms]
    sentence: str
    warning: str
    cut: bool


def anchoring_report(project: Project) -> AnchoringReport:
    """What seeing the suggestion does to what people say. Five queries."""
    answers, cut = read_answers(project)
    arms = {
        SHOWN: answers.where(~answers.withheld),
        WITHHELD: answers.where(answers.withheld),
    }
    differences = {measure: difference_of(answers, arms, measure) for measure in MEASURES}
    return AnchoringReport(
        arms={str(arm): arm_of_answers(told) for arm, told in arms.items()},
        differences=differences,
        people=_people(answers),
        sentence=sentence(differences["taken_over"]),
        warning=warning(project, any_withheld=bool(answers.withheld.any())),
        cut=cut,
    )


def _people(answers: Answers) -> list[PersonArms]:
    users = User.objects.in_bulk(np.unique(answers.user).tolist()) if len(answers.user) else {}
    rows = [_one_person(user, answers.where(answers.user == user.pk)) for user in users.values()]
    return sorted(rows, key=lambda row: row.user.display_name.casefold())


def _one_person(user: User, own: Answers) -> PersonArms:
    arms = {SHOWN: own.where(~own.withheld), WITHHELD: own.where(own.withheld)}
    shares = {
        arm: share(int(each.same.sum()), len(each.same), reason="no answer yet")
        for arm, each in arms.items()
    }
    reason = too_few({arm: len(each.same) for arm, each in arms.items()}, FEWEST_OF_ONE)
    difference = undefined(reason) if reason else newcombe_of(arms, "taken_over")
    return PersonArms(user, shares[SHOWN], shares[WITHHELD], difference)
