"""One person's work, for a manager or for themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind
from apps.labels.models import Annotator, Assignment
from apps.projects.models import Item, Membership, Project
from apps.projects.selectors import role_in
from apps.reviews.models import Decision, Intervention, Purpose, Standing
from apps.reviews.selectors.quality.comparing import Pair, compared
from apps.reviews.selectors.quality.drift import (
    Change,
    Stretch,
    by_hundreds,
    by_weeks,
    changes,
)
from apps.reviews.selectors.quality.people import PersonRow, below, person_row, usual_pace
from apps.reviews.selectors.quality.reading import Work, days_of, read_work
from labelhub.core.agreement.figures import share, undefined
from labelhub.core.errors import NotFound

#: People see their accuracy by so many answers at a time: were it renewed with each, they could
#: tell which item was a known one, and what its answer is.
TOLD_BY = 20
NOT_TOLD = f"told once you have answered {TOLD_BY} items whose answers are known"
WEEK, HUNDRED = "week", "hundred"
#: Wrong answers that are listed, and fast ones.
MOST_LISTED = 50
NO_ACCOUNT = "without account"


@dataclass(frozen=True, slots=True)
class NamedPair:
    """One person with another, by name."""

    name: str
    pair: Pair


@dataclass(frozen=True, slots=True)
class PersonReport:
    """One person closely. ``fast``: items of the latest answers that came too fast; ``own``: as
    they may see it themselves."""

    row: PersonRow
    stretches: Sequence[Stretch]
    by: str
    changes: Sequence[Change]
    pairs: Sequence[NamedPair]
    wrong: Sequence[Decision]
    fast: Sequence[Item]
    assigned: int
    own: bool


def find_worker(project: Project, user_id: int) -> User:
    """Somebody who is in the project, or has worked in it.

    Raises:
        NotFound: there is no such person here.
    """
    user = User.objects.filter(pk=user_id).first()
    here = user and (
        role_in(user, project) or Decision.objects.filter(project=project, reviewer=user).exists()
    )
    if user is None or not here:
        raise NotFound("There is no such person in this project.")
    return user


def person_report(
    project: Project, user: User, *, by: str = HUNDRED, own: bool = False
) -> PersonReport:
    """What ``user`` did, in stretches of a hundred labels or by ``week``.

    ``own``: for themselves, so that nothing tells which items have known answers, and what others
    do is not told by name.
    """
    mine, _ = read_work(project, user.pk)
    shared, everybody = compared(project), usual_pace(project)
    member = Membership.objects.filter(project=project, user=user).first()
    row = person_row(
        project,
        user,
        mine,
        place=(member.kind, member.role) if member else (ReviewerKind.CROWD, ""),
        standing=Standing.objects.filter(project=project, user=user).first(),
        everybody=everybody,
        agreement=shared.by_person().get(user.pk),
    )
    told = by_weeks(mine, days_of(project, user.pk)) if by == WEEK else by_hundreds(mine)
    given = Assignment.objects.filter(project=project, user=user, open=True).count()
    if own:
        return _for_themselves(row, mine, told, by, given)
    return PersonReport(
        row=row,
        stretches=told,
        by=by,
        changes=changes(told),
        pairs=_named(shared.pairs_of(user.pk)),
        wrong=list(wrong_answers(project, user)[:MOST_LISTED]),
        fast=_items_of(mine.where(mine.too_fast(below(everybody)))),
        assigned=given,
        own=False,
    )


def wrong_answers(project: Project, user: User) -> QuerySet[Decision]:
    """Answers of ``user`` to items of known answer that were not it, the latest first."""
    wrong = Decision.objects.filter(project=project, reviewer=user, correct=False)
    wrong = wrong.exclude(purpose=Purpose.WORK)
    return wrong.select_related("item__state__gold", "label").order_by("-pk")


def _items_of(answers: Work) -> list[Item]:
    """Of the latest, these first."""
    latest = answers.item[::-1][:MOST_LISTED].tolist()
    found = Item.objects.in_bulk(latest) if latest else {}
    return [found[item] for item in latest if item in found]


def interventions(project: Project, user: User | None = None) -> QuerySet[Intervention]:
    """What managers did, the latest first; with ``user`` only what concerns them."""
    rows = Intervention.objects.filter(project=project).select_related("actor", "subject")
    return rows.filter(subject=user) if user else rows


def _for_themselves(
    row: PersonRow, work: Work, told: Sequence[Stretch], by: str, given: int
) -> PersonReport:
    first = work.where(work.first_known)
    known = len(first) // TOLD_BY * TOLD_BY
    right = int((first.correct[:known] == 1).sum())
    accuracy = share(right, known, reason=NOT_TOLD) if known else undefined(NOT_TOLD)
    counted = replace(row.counted, accuracy=accuracy)
    quiet = [replace(one, right=0, known=0) for one in told]
    return PersonReport(
        row=replace(row, counted=counted, changes=(), alerts=()),
        stretches=quiet,
        by=by,
        changes=[one for one in changes(quiet) if one.measure == "seconds"],
        pairs=(),
        wrong=(),
        fast=(),
        assigned=given,
        own=True,
    )


def _named(pairs: Sequence[Pair]) -> list[NamedPair]:
    users = User.objects.in_bulk([pair.other for pair in pairs if pair.other > 0])
    ids = [-pair.other for pair in pairs if pair.other < 0]
    others = Annotator.objects.in_bulk(ids) if ids else {}
    return [
        NamedPair(
            users[pair.other].display_name
            if pair.other in users
            else f"{others[-pair.other].name} ({NO_ACCOUNT})",
            pair,
        )
        for pair in pairs
    ]
