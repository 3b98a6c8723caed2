"""What is counted against limits: model calls of a day, their cost, surveys, and erased authors.

Days are UTC, and the database counts, so that several servers share one limit. An erasure does not
reset it. For somebody whom the host signs in, a keyed hash of the host's id and a few numbers are
kept for 90 days. Of an anonymous author nothing is known but the network: what they used today goes
to the next new author from there on that day, once. Hashes change every quarter (those of networks
every day) and are made with the server's key: rows cannot be joined, and tell nothing to anybody
without the key and the id.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from apps.authors.models import (
    Author,
    CarriedLimits,
    DailyUse,
    Message,
    Question,
    Reward,
    Site,
    SiteUse,
)
from apps.authors.querysets import OPEN
from apps.common.prepared import Update, prepared, prepared_update
from apps.common.rows import insert_row
from apps.common.sealing import keyed_hash
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.limits import AskHistory, ThrottleRule

#: Where a site has no budget.
_NO_BUDGET = 2**62


def count_cost(site_id: int, nanousd: int, *, calls: int = 0) -> None:
    """Add to what the site's models have cost today (UTC), and to the calls that were not counted
    before they began; of a site that is gone, nothing."""
    day = _today()
    if not (nanousd or calls) or _add_use(site_id, day, nanousd, calls):
        return
    open_day(site_id)
    _add_use(site_id, day, nanousd, calls)


def budget_spent(site: Site) -> bool:
    """Whether the site's models have cost, or were called, as much today (UTC) as they may."""
    use = SiteUse.objects.filter(site=site, day=_today()).first() or SiteUse()
    budget = site.daily_budget_nanousd
    dear = budget is not None and use.cost_nanousd >= budget
    return dear or use.calls >= site.calls_per_day


def open_day(site_id: int) -> None:
    """Make sure that there is a row to count in today, unless the site is gone."""
    if SiteUse.objects.filter(site=site_id, day=_today()).exists():
        return
    first = [SiteUse(site=site, day=_today()) for site in Site.objects.filter(pk=site_id)]
    # Two that are the first of the day at once make one row.
    SiteUse.objects.bulk_create(first, ignore_conflicts=True)


@prepared_update
def _add_use(site: int, day: date, nanousd: int, calls: int) -> Update:
    return SiteUse.objects.filter(site=site, day=day), {
        "cost_nanousd": F("cost_nanousd") + nanousd,
        "calls": F("calls") + calls,
    }


@prepared_update
def _count_call(site: int, day: date, most: int, budget: int) -> Update:
    room = SiteUse.objects.filter(site=site, day=day, calls__lt=most, cost_nanousd__lt=budget)
    return room, {"calls": F("calls") + 1}


def _today() -> date:
    return timezone.now().date()


#: What models do for somebody; each has the site's limits for itself.
REPLY, ASK = "reply", "ask"


class LimitReached(LabelhubError):
    """Models have worked enough today for this person, their network, or the site."""

    code = "limit"


@dataclass(frozen=True, slots=True)
class Person:
    """For whom models work. ``network`` (a keyed hash) is empty where it is not known, and then has
    no limit of its own."""

    key: str
    network: str
    verified: bool


def person_of(author: Author) -> Person:
    key = f"subject {author.subject}" if author.verified else _key(author)
    return Person(key, author.network, author.verified)


def unknown_person(subject: str, network: str, socket: str) -> Person:
    """A visitor of whom nothing is stored.

    All who stay unknown in one network are one person: a new socket tells nobody from those before.

    Args:
        subject: the host's id for them, if it says one.
        network: a keyed hash, empty where it is not known.
        socket: names the socket they sit at, which is the person where nothing else is known.
    """
    if subject:
        return Person(f"subject {subject}", network, verified=True)
    return Person(f"unknown {network or socket}", network, verified=False)


def reserve(site: Site, kind: str, person: Person) -> None:
    """Count one unit of work before it begins, against all limits or none.

    Raises:
        LimitReached: there is no room for it today; the site's managers are told how often.
    """
    day = _today()
    most = site.replies_verified if person.verified else site.replies_anonymous
    limits = [(f"{kind} {person.key}", most, "this person")]
    if person.network:
        limits.append((f"{kind} network {person.network}", site.replies_network, "this network"))
    counted: list[str] = []
    with transaction.atomic(savepoint=False):
        reached = ""
        for holder, most, name in limits:
            who = _holder_hash(site, day, holder)
            if not _count_use(site, day, who, most):
                reached = (
                    f"Models have already worked {most} times today for {name}; wait until "
                    "midnight UTC."
                )
                break
            counted.append(who)
        # The call of the site last: its row is everybody's, and locked until the end.
        reached = reached or _call_refused(site, day)
        if reached:
            DailyUse.objects.filter(site=site, day=day, who__in=counted).update(
                count=F("count") - 1
            )
            open_day(site.pk)
            SiteUse.objects.filter(site=site, day=day).update(refused=F("refused") + 1)
    if reached:
        raise LimitReached(reached)


def _call_refused(site: Site, day: date) -> str:
    """Count a call of the site's models; why it may not be made, or "" where it was counted."""
    given = site.daily_budget_nanousd
    budget = _NO_BUDGET if given is None else given
    if _count_call(site.pk, day, site.calls_per_day, budget):
        return ""
    open_day(site.pk)
    if _count_call(site.pk, day, site.calls_per_day, budget):
        return ""
    if SiteUse.objects.filter(site=site, day=day, cost_nanousd__gte=budget).exists():
        return "The site's budget for today is spent."
    return "The site has used all model calls of today."


def _count_use(site: Site, day: date, who: str, most: int) -> bool:
    if _add_one(site.pk, day, who, most):
        return True
    # The first of the day, or one too many. Two that are the first at once make one row.
    first = DailyUse(site_id=site.pk, day=day, who=who, count=1)
    if most and insert_row(first, if_free=True).pk is not None:
        return True
    return bool(_add_one(site.pk, day, who, most))


@prepared_update
def _add_one(site: int, day: date, who: str, most: int) -> Update:
    below = DailyUse.objects.filter(site=site, day=day, who=who, count__lt=most)
    return below, {"count": F("count") + 1}


def _key(author: Author) -> str:
    return f"author {author.pk}"


def _holder_hash(site: Site, day: date, holder: str) -> str:
    return keyed_hash("use", f"{site.public_key} {day} {holder}")


def _move_uses(author: Author, before: str, now: str) -> None:
    site, day = author.site, timezone.now().date()
    for kind in (REPLY, ASK):
        used = DailyUse.objects.filter(
            site=site, day=day, who=_holder_hash(site, day, f"{kind} {before}")
        )
        used.update(who=_holder_hash(site, day, f"{kind} {now}"))


KEPT_FOR = timedelta(days=90)
DAY = timedelta(days=1)
#: So much a host's clock may be ahead of this server's.
CLOCKS_DIFFER = timedelta(minutes=1)
WHY = "Before their data was deleted their answers did not count."


def keep_limits(author: Author) -> CarriedLimits | None:
    """Keep what an author has used, before everything else of them is deleted; None where there is
    nothing to keep, or nothing to know them by."""
    now = timezone.now()
    who = _person_hashes(author, now)
    if not who:
        return None
    before = _carried_limits(author, now)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    asked = author.questions.filter(created_at__gte=midnight).values("message").distinct().count()
    kept = CarriedLimits(
        site_id=author.site_id,
        who=who[0],
        surveys=asked + surveys_before(author, now),
        erased_at=now,
        until=now + KEPT_FOR if author.verified else midnight + DAY,
    )
    if author.verified:
        earned = Reward.objects.filter(author=author).standing()
        recent = earned.filter(credited_at__gt=now - DAY)
        kept.day_cents = recent.cents() + day_cents_before(author, now)
        kept.total_cents = earned.cents() + (before.total_cents if before else 0)
        kept.ruling, kept.trusted = author.ruling, author.trusted
    if before is not None:
        before.delete()
    kept.save()
    if not author.verified:
        _move_uses(author, _key(author), f"kept {kept.pk}")
    return kept


def inherit_limits(author: Author) -> CarriedLimits | None:
    """Give a new author what is kept of the person they are; none where nothing is."""
    now = timezone.now()
    hashes = _person_hashes(author, now)
    rows = CarriedLimits.objects.filter(site=author.site_id, who__in=hashes, until__gt=now)
    if not author.verified:  # one newcomer is the one who went, not all of a network
        rows = rows.filter(authors=None)
    found = rows.order_by("-pk").first() if hashes else None
    if found is None:
        return None
    author.carried, author.ruling, author.trusted = found, found.ruling, found.trusted
    author.ruling_reason = WHY if found.ruling is False else ""
    author.trust = {} if found.trusted else {"summary": WHY}
    author.save(update_fields=["carried", "ruling", "ruling_reason", "trusted", "trust"])
    if not author.verified:
        _move_uses(author, f"kept {found.pk}", _key(author))
    return found


def has_agreed_since(kept: CarriedLimits, moment: datetime | None) -> bool:
    """Whether a consent of that moment is newer than the erasure. One that is still to come proves
    nothing: it would outlive the next erasure too."""
    if moment is None:
        return False
    return kept.erased_at < moment <= timezone.now() + CLOCKS_DIFFER


def surveys_before(author: Author, now: datetime) -> int:
    """Surveys of today (UTC) from before the author's data was deleted."""
    kept = _carried_limits(author, now)
    return kept.surveys if kept is not None and kept.erased_at.date() == now.date() else 0


def day_cents_before(author: Author, now: datetime) -> int:
    """Cents of the last day from before the author's data was deleted."""
    kept = _carried_limits(author, now)
    return kept.day_cents if kept is not None and now - kept.erased_at < DAY else 0


def total_cents_before(author: Author, now: datetime) -> int:
    """Cents in all from before the author's data was deleted."""
    kept = _carried_limits(author, now)
    return kept.total_cents if kept is not None else 0


def distrusted_before(author: Author, now: datetime) -> bool:
    """Whether the signals spoke against the author before their data was deleted."""
    kept = _carried_limits(author, now)
    return kept is not None and not kept.trusted


def erased_today(author: Author, now: datetime) -> int:
    """Anonymous authors of the same network whose data was deleted today (UTC)."""
    someone = Author(site=author.site, network=author.network)
    return CarriedLimits.objects.filter(
        site=author.site_id, who__in=_person_hashes(someone, now)
    ).count()


def _carried_limits(author: Author, now: datetime) -> CarriedLimits | None:
    # Hardly anybody has any: no query for the others.
    if author.carried_id is None:
        return None
    return CarriedLimits.objects.filter(pk=author.carried_id, until__gt=now).first()


def _person_hashes(author: Author, now: datetime) -> list[str]:
    """The hashes under which a person may be known, the present one first."""
    key = author.site.public_key
    if author.verified:
        quarters = dict.fromkeys(
            f"{moment.year}-{(moment.month - 1) // 3}"
            for moment in (now, now - KEPT_FOR / 2, now - KEPT_FOR)
        )
        return [keyed_hash("limits", f"{key} {quarter} {author.subject}") for quarter in quarters]
    if author.network:
        return [keyed_hash("limits", f"{key} {now.date()} network {author.network}")]
    return []


#: What is older does not count any more; it is also the longest back-off.
REMEMBERED = timedelta(days=7)
#: Of questions and messages, the last ones that are looked at.
MOST = 200
DISMISSED = (Question.Status.SKIPPED, Question.Status.CLOSED)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One question that an author was asked, the newest first."""

    survey: int
    conversation: int
    feature: str
    status: str
    asked_at: datetime
    expires: datetime


def rule_of(site: Site) -> ThrottleRule:
    return ThrottleRule(
        every_messages=site.every_messages,
        min_seconds=site.min_seconds,
        per_conversation=site.per_conversation,
        per_day=site.per_day,
        sampling=site.sampling,
    )


def asked_before(author_id: int) -> list[AskedQuestion]:
    return [AskedQuestion(*row) for row in _asked(author_id)]


def history_of(
    author: Author, message: Message, asked: Sequence[AskedQuestion], now: datetime
) -> AskHistory:
    recent = [question for question in asked if now - question.asked_at < REMEMBERED]
    surveys: dict[int, list[AskedQuestion]] = {}
    for question in recent:
        surveys.setdefault(question.survey, []).append(question)
    last = next(iter(surveys), 0)
    begun = [questions[-1] for questions in surveys.values()]
    return AskHistory(
        began_at=author.created_at,
        messages_since_last_survey=len(_written_since(author.pk, last)),
        last_survey_at=begun[0].asked_at if begun else None,
        surveys_in_conversation=sum(
            question.conversation == message.conversation_id for question in begun
        ),
        surveys_today=sum(question.asked_at.date() == now.date() for question in begun)
        + surveys_before(author, now),
        dismissals_in_a_row=_dismissed_in_a_row(list(surveys.values())),
        opted_out=author.opted_out_at is not None,
        open_questions=sum(
            question.status in OPEN and question.expires > now for question in recent
        ),
    )


def _dismissed_in_a_row(surveys: Sequence[Sequence[AskedQuestion]]) -> int:
    """How many of the latest surveys, newest first, ended without a single answer but by a click
    that sent them away."""
    count = 0
    for questions in surveys:
        statuses = {question.status for question in questions}
        if statuses & {Question.Status.ANSWERED, Question.Status.NOFIT}:
            break
        count += not statuses.isdisjoint(DISMISSED)
    return count


@prepared
def _asked(author: int) -> QuerySet[Question, tuple[int, int, str, str, datetime, datetime]]:
    newest = Question.objects.filter(author=author).order_by("-pk")
    return newest.values_list(
        "message_id", "message__conversation_id", "feature__key", "status", "created_at",
        "expires_at",
    )[:MOST]  # fmt: skip


@prepared
def _written_since(author: int, survey: int) -> QuerySet[Message, tuple[int]]:
    newest = Message.objects.filter(author=author, role="author", pk__gt=survey).order_by("-pk")
    return newest.values_list("pk")[:MOST]
