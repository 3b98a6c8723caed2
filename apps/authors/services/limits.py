"""How much models work in a day (UTC) for one person, one network and one site.

The database counts, so that several servers keep one limit. An erasure does not begin it anew: of
whom the host signs in the id is counted, and what an anonymous person has used goes to the next who
comes anew from their network. Where no network is known nobody can be known again, and it does.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.authors.models import Author, CarriedLimits, DailyUse, Site, SiteUse
from apps.authors.services.spending import budget_spent, open_day
from apps.common.sealing import keyed_hash
from labelhub.core.errors import LabelhubError

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
    """The person whom ``author`` stands for."""
    key = _subject_key(author.subject) if author.verified else _key(author)
    return Person(key, author.network, author.verified)


def unknown_person(subject: str, network: str, socket: str) -> Person:
    """Somebody of whom nothing is kept.

    All who stay unknown in one network are one person: a new socket tells nobody from those before.

    Args:
        subject: the host's id for them, if it says one.
        network: a keyed hash, empty where it is not known.
        socket: names the socket they sit at, which is the person where nothing else is known.
    """
    if subject:
        return Person(_subject_key(subject), network, verified=True)
    return Person(f"unknown {network or socket}", network, verified=False)


def reserve(site: Site, kind: str, person: Person) -> None:
    """Count one piece of work before it begins: in all that limit it, or in none.

    Raises:
        LimitReached: there is no room for it today; the site's managers are told how often.
    """
    day = timezone.now().date()
    most = site.replies_verified if person.verified else site.replies_anonymous
    try:
        with transaction.atomic():
            _take(site, day, f"{kind} {person.key}", most, "this person")
            if person.network:
                named = f"{kind} network {person.network}"
                _take(site, day, named, site.replies_network, "this network")
            _take_call(site, day)
    except LimitReached:
        open_day(site.pk)
        SiteUse.objects.filter(site=site, day=day).update(refused=F("refused") + 1)
        raise


def keep_uses(author: Author, kept: CarriedLimits) -> None:
    """Put aside what an anonymous author has used today, before they are deleted."""
    _move(author, _key(author), _kept_key(kept))


def take_over_uses(author: Author, kept: CarriedLimits) -> None:
    """Count it for a new author, who is taken for the one that went."""
    _move(author, _kept_key(kept), _key(author))


def forget_uses(now: datetime) -> None:
    """Delete what was counted before yesterday."""
    DailyUse.objects.filter(day__lt=now.date() - timedelta(days=1)).delete()


def _take(site: Site, day: date, whom: str, most: int, name: str) -> None:
    who = _who(site, day, whom)
    row = DailyUse.objects.filter(site=site, day=day, who=who)
    below = row.filter(count__lt=most)
    if below.update(count=F("count") + 1):
        return
    if not row.exists():
        # Two that are the first of the day at once make one row.
        first = DailyUse(site_id=site.pk, day=day, who=who)
        DailyUse.objects.bulk_create([first], ignore_conflicts=True)
        if below.update(count=F("count") + 1):
            return
    raise LimitReached(f"Models have worked {most} times today for {name}; no more until midnight.")


def _subject_key(subject: str) -> str:
    return f"subject {subject}"


def _key(author: Author) -> str:
    return f"author {author.pk}"


def _kept_key(kept: CarriedLimits) -> str:
    return f"kept {kept.pk}"


def _who(site: Site, day: date, whom: str) -> str:
    return keyed_hash("use", f"{site.public_key} {day} {whom}")


def _move(author: Author, before: str, now: str) -> None:
    site, day = author.site, timezone.now().date()
    for kind in (REPLY, ASK):
        used = DailyUse.objects.filter(site=site, day=day, who=_who(site, day, f"{kind} {before}"))
        used.update(who=_who(site, day, f"{kind} {now}"))


def _take_call(site: Site, day: date) -> None:
    """One call of the site, last: its row is everybody's, and locked until the end."""
    if budget_spent(site):
        raise LimitReached("The site's budget for today is spent.")
    open_day(site.pk)
    room = SiteUse.objects.filter(site=site, day=day, calls__lt=site.calls_per_day)
    if not room.update(calls=F("calls") + 1):
        raise LimitReached("The site's model calls for today are used up.")
