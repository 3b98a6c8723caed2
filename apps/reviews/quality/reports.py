"""Quality reports: all people of a project, one row each, and one person in detail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext, gettext_noop

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.common.figures import count_words, share_words
from apps.labels.models import Annotator, Assignment, ItemState
from apps.projects.models import Item, Membership, Project
from apps.projects.selectors import members, role_in
from apps.reviews.models import Decision, Intervention, Purpose, ReviewerStatus
from apps.reviews.quality.comparison import Pair, SharedLabels, read_shared_labels
from apps.reviews.quality.work import (
    ACCEPTED,
    REJECTED,
    SKIPPED,
    Change,
    Stretch,
    Work,
    by_hundreds,
    by_weeks,
    changes,
    days_of,
    read_work,
    usual_times,
)
from labelhub.core.agreement.figures import Figure, share, undefined
from labelhub.core.agreement.pace import (
    Pace,
    PaceLimits,
    known_times,
    least_seconds,
    measure_pace,
    outlier_limits,
)
from labelhub.core.agreement.with_others import NOTHING_SHARED, RaterAgreement
from labelhub.core.errors import NotFound

NO_ANSWERS = gettext_noop("no answer to a gold question yet")
NO_SUGGESTIONS = gettext_noop("no suggestion was shown yet")
NO_TIMES = gettext_noop("no time was measured yet")
#: Characters of twenty words with blanks, the text that explains the floor.
TWENTY_WORDS = 120
#: A larger share of too fast answers, beyond chance, is an alert.
FAST_SHARE = 0.05
#: People who must contradict a gold question before it counts as doubtful.
DOUBTING = 3
MOST_DOUBTFUL = 10
#: People see their accuracy renewed after so many answers: after each one it would give gold
#: questions away.
TOLD_BY = 20
NOT_TOLD = gettext_noop("shown after %(number)s answers to gold questions")
#: A change for the better, and for the worse.
CHANGED = {
    "accuracy": (gettext_noop("more accurate"), gettext_noop("less accurate than before")),
    "seconds": (gettext_noop("slower than before"), gettext_noop("faster than before")),
}
WEEK, HUNDRED = "week", "hundred"
#: Wrong answers that are listed, and fast ones.
MOST_LISTED = 50


@dataclass(frozen=True, slots=True)
class Counted:
    """One person's figures; ``only_rejected``: suggestions that they rejected without a label;
    ``fast``: answers that are too fast for an attentive person."""

    labels: int
    skips: int
    abstained: int
    only_rejected: int
    late: int
    undone: int
    accepted: Figure
    accuracy: Figure
    pace: Pace
    fast: Figure

    @property
    def words(self) -> str:
        """Counts besides labels: ``3 skipped, 1 late``."""
        counts = (
            (self.skips, gettext("%(number)s skipped")),
            (self.abstained, gettext("%(number)s abstained")),
            (self.only_rejected, gettext("%(number)s only rejected")),
            (self.late, gettext("%(number)s late")),
            (self.undone, gettext("%(number)s undone")),
        )
        return ", ".join(words % {"number": count_words(count)} for count, words in counts if count)

    @property
    def fast_words(self) -> str:
        """The share of too fast answers; empty if it is negligible."""
        share_of_all = self.fast.get("value")
        return (
            gettext("%(share)s too fast") % {"share": share_words(share_of_all)}
            if share_of_all and share_of_all >= 0.005
            else ""
        )

    @property
    def too_fast(self) -> bool:
        """Whether too many answers are too fast, beyond chance."""
        low = self.fast.get("low")
        return low is not None and low > FAST_SHARE


@dataclass(frozen=True, slots=True)
class PersonRow:
    """One person's row: role, status, figures and ``alerts``."""

    user: User
    kind: str
    role: str
    status: str
    reason: str
    counted: Counted
    agreement: RaterAgreement
    changes: Sequence[Change]
    alerts: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class DoubtfulItem:
    """A gold question that more than half of its answers contradict."""

    item: Item
    answers: int
    wrong: int


@dataclass(frozen=True, slots=True)
class PeopleReport:
    """All people, and the basis of the figures.

    Answers are too fast below the larger of two bounds, in seconds: ``too_fast_below``, from the
    usual times here, and the floor of each answer; ``too_fast_floor`` is that of accepting the
    suggestion for a text of twenty words. ``orphans``: labels of deleted accounts.
    """

    people: Sequence[PersonRow]
    known_items: int
    too_fast_below: float | None
    too_fast_floor: float
    agreement_cut: bool
    orphans: int
    doubtful: Sequence[DoubtfulItem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PeopleFigures:
    """What takes long of the report: the figures of everybody who worked here, by their user ids,
    and the basis of the figures; see :class:`PeopleReport`."""

    people: Mapping[int, tuple[Counted, Sequence[Change]]]
    nobody: Counted
    agreements: Mapping[int, RaterAgreement]
    agreement_cut: bool
    usual: PaceLimits | None
    orphans: int


def people_figures(project: Project, shared: SharedLabels | None = None) -> PeopleFigures:
    """The figures of all people here. Four queries for any number; two with ``shared``."""
    work, orphans = read_work(project)
    usual = usual_pace(project)
    shared = shared or read_shared_labels(project)
    return PeopleFigures(
        people={
            user_id: figures_of(work.of(user_id), usual)
            for user_id in np.unique(work.user).tolist()
        },
        nobody=count(work.where(slice(0)), usual),
        agreements=shared.by_person(),
        agreement_cut=shared.cut,
        usual=usual,
        orphans=orphans,
    )


def people_report(project: Project, figures: PeopleFigures | None = None) -> PeopleReport:
    """All people who label or labelled here, by name. Ten queries for any number; six with
    ``figures``, which may be a little older than members and their status."""
    figures = figures or people_figures(project)
    team = {member.user_id: member for member in members(project)}
    gone = figures.people.keys() - team.keys()
    left = User.objects.in_bulk(gone) if gone else {}
    standings = {
        status.user_id: status for status in ReviewerStatus.objects.filter(project=project)
    }
    rows = []
    for user_id in [*team, *left]:
        member = team.get(user_id)
        if user_id not in figures.people and (member is None or member.role != Role.REVIEWER):
            continue
        rows.append(
            person_row(
                project,
                member.user if member else left[user_id],
                figures.people.get(user_id, (figures.nobody, ())),
                member=member,
                standing=standings.get(user_id),
                agreement=figures.agreements.get(user_id),
            )
        )
    usual = figures.usual
    return PeopleReport(
        people=sorted(rows, key=lambda row: row.user.display_name.casefold()),
        known_items=ItemState.objects.filter(project=project, is_gold_question=True).count(),
        too_fast_below=usual.low if usual else None,
        too_fast_floor=float(least_seconds(TWENTY_WORDS, choices=1)),
        agreement_cut=figures.agreement_cut,
        orphans=figures.orphans,
        doubtful=doubtful_items(project),
    )


def usual_pace(project: Project) -> PaceLimits | None:
    """The limits of usual times of answers here. One query."""
    return outlier_limits(known_times(usual_times(project)))


def count(work: Work, everybody: PaceLimits | None) -> Counted:
    suggested = work.answered & (work.action <= REJECTED)
    first = work.first_known
    soon = work.too_fast(everybody)
    return Counted(
        labels=int(work.labelled.sum()),
        skips=int((~work.undone & (work.action == SKIPPED)).sum()),
        abstained=int((work.labelled & work.abstained).sum()),
        only_rejected=int((work.answered & work.only_rejected).sum()),
        late=int((work.labelled & work.late).sum()),
        undone=int(work.undone.sum()),
        accepted=share(
            int((suggested & (work.action == ACCEPTED)).sum()),
            int(suggested.sum()),
            reason=gettext(NO_SUGGESTIONS),
        ),
        accuracy=share(
            int((work.correct[first] == 1).sum()), int(first.sum()), reason=gettext(NO_ANSWERS)
        ),
        pace=measure_pace(work.times),
        fast=share(
            int(soon.sum()), int((work.timed | work.bounded).sum()), reason=gettext(NO_TIMES)
        ),
    )


def figures_of(own: Work, everybody: PaceLimits | None) -> tuple[Counted, Sequence[Change]]:
    """One person's figures and changes. ``everybody``: the limits of usual times."""
    return count(own, everybody), changes(by_hundreds(own))


def person_row(
    project: Project,
    user: User,
    figures: tuple[Counted, Sequence[Change]],
    *,
    member: Membership | None,
    standing: ReviewerStatus | None,
    agreement: RaterAgreement | None,
) -> PersonRow:
    counted, changed = figures
    kind, role = (member.kind, member.role) if member else (ReviewerKind.CROWD, "")
    return PersonRow(
        user=user,
        kind=kind,
        role=role,
        status=status_of(project, standing, role),
        reason=standing.reason if standing else "",
        counted=counted,
        agreement=agreement
        or RaterAgreement(0, undefined(NOTHING_SHARED), undefined(NOTHING_SHARED)),
        changes=changed,
        alerts=_alerts(project, counted, changed),
    )


def status_of(project: Project, standing: ReviewerStatus | None, role: str) -> str:
    """The status of a person; a reviewer without one may have to qualify."""
    if standing is not None:
        return str(standing.status)
    qualifying = project.qualify_items and role == Role.REVIEWER
    return ReviewerStatus.Status.QUALIFYING if qualifying else ReviewerStatus.Status.ACTIVE


def doubtful_items(project: Project) -> list[DoubtfulItem]:
    """Gold questions that more than half of their answers contradict: their gold may be wrong. Two
    queries at most."""
    answers = Decision.objects.filter(project=project, correct__isnull=False)
    rows = (
        answers.exclude(purpose=Purpose.WORK)
        .order_by()
        .values("item")
        .annotate(
            people=Count("reviewer", distinct=True),
            wrong=Count("reviewer", distinct=True, filter=Q(correct=False)),
        )
        .filter(wrong__gte=DOUBTING)
        .order_by("-wrong", "item")
    )
    found = [row for row in rows if 2 * row["wrong"] > row["people"]][:MOST_DOUBTFUL]
    items = Item.objects.in_bulk([row["item"] for row in found]) if found else {}
    return [DoubtfulItem(items[row["item"]], row["people"], row["wrong"]) for row in found]


def _alerts(project: Project, counted: Counted, changed: Sequence[Change]) -> list[str]:
    alerts = []
    high = counted.accuracy.get("high")
    if high is not None and high < project.qualify_accuracy:
        alerts.append(gettext_noop("wrong too often"))
    if counted.too_fast:
        alerts.append(gettext_noop("too fast"))
    return alerts + [CHANGED[change.measure][change.worse] for change in changed]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonReport:
    """One person in detail. ``fast``: items of the latest too fast answers; ``own``: as they may
    see it themselves."""

    row: PersonRow
    stretches: Sequence[Stretch]
    by: str
    changes: Sequence[Change]
    assigned: int
    pairs: Sequence[Pair] = ()
    wrong: Sequence[Decision] = ()
    fast: Sequence[Item] = ()
    own: bool = False


def find_worker(project: Project, user_id: int) -> User:
    """A user who is a member of the project, or has worked in it.

    Raises:
        NotFound: there is no such person here.
    """
    user = User.objects.filter(pk=user_id).first()
    here = user and (
        role_in(user, project) or Decision.objects.filter(project=project, reviewer=user).exists()
    )
    if user is None or not here:
        raise NotFound("This person is not in the project.")
    return user


def person_report(
    project: Project, user: User, *, by: str = HUNDRED, own: bool = False
) -> PersonReport:
    """The work of ``user``, in stretches of a hundred labels or by ``week``.

    ``own``: for themselves, without anything that gives gold questions or other people away.
    """
    mine, _ = read_work(project, user.pk)
    shared, everybody = read_shared_labels(project), usual_pace(project)
    row = person_row(
        project,
        user,
        figures_of(mine, everybody),
        member=Membership.objects.filter(project=project, user=user).first(),
        standing=ReviewerStatus.objects.filter(project=project, user=user).first(),
        agreement=shared.by_person().get(user.pk),
    )
    stretches = by_weeks(mine, days_of(project, user.pk)) if by == WEEK else by_hundreds(mine)
    report = PersonReport(
        row=row,
        stretches=stretches,
        by=by,
        changes=changes(stretches),
        assigned=Assignment.objects.filter(project=project, user=user, open=True).count(),
    )
    if own:
        return _own_report(report, mine)
    # Of the latest, these first.
    latest = mine.where(mine.too_fast(everybody)).item[::-1][:MOST_LISTED].tolist()
    found = Item.objects.in_bulk(latest) if latest else {}
    pairs = shared.pairs_of(user.pk)
    users = User.objects.in_bulk([pair.other for pair in pairs if pair.other > 0])
    ids = [-pair.other for pair in pairs if pair.other < 0]
    others = Annotator.objects.in_bulk(ids) if ids else {}
    names = {pk: user.display_name for pk, user in users.items()} | {
        -pk: gettext("%(name)s (no account)") % {"name": other.name} for pk, other in others.items()
    }
    wrong = Decision.objects.filter(project=project, reviewer=user, correct=False)
    wrong = wrong.exclude(purpose=Purpose.WORK).select_related("item__state__gold", "label")
    return replace(
        report,
        pairs=[replace(pair, name=names[pair.other]) for pair in pairs],
        wrong=list(wrong.order_by("-pk")[:MOST_LISTED]),
        fast=[found[item] for item in latest if item in found],
    )


def interventions(project: Project, user: User | None = None) -> QuerySet[Intervention]:
    """The log of interventions, the latest first; with ``user`` only those that concern them."""
    rows = Intervention.objects.filter(project=project).select_related("actor", "subject")
    return rows.filter(subject=user) if user else rows


def _own_report(report: PersonReport, work: Work) -> PersonReport:
    first = work.where(work.first_known)
    known = len(first) // TOLD_BY * TOLD_BY
    right = int((first.correct[:known] == 1).sum())
    reason = gettext(NOT_TOLD) % {"number": TOLD_BY}
    accuracy = share(right, known, reason=reason) if known else undefined(reason)
    counted = replace(report.row.counted, accuracy=accuracy)
    quiet = [replace(stretch, right=0, known=0) for stretch in report.stretches]
    return replace(
        report,
        row=replace(report.row, counted=counted, changes=(), alerts=()),
        stretches=quiet,
        changes=[change for change in changes(quiet) if change.measure == "seconds"],
        own=True,
    )
