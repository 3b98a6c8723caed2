"""Caps and rulings that outlive an erasure: a keyed hash and a few numbers, for a while.

Of a person whom the host signs in the hash is of the host's id for them, for 90 days. Of an
anonymous one nothing is known but their network: only how often they were asked and how often
models worked for them that day is kept, and the next who comes anew from there on that day has it
counted, once. Hashes of one person differ from quarter to quarter (those of networks from day to
day) and are made with the server's key, so that rows cannot be joined, and tell nothing to whoever
has not the key and the id.
"""

from datetime import datetime, timedelta

from django.db.models import Sum
from django.utils import timezone

from apps.authors.models import Author, CarriedLimits, Reward, Site
from apps.authors.querysets import RewardQuerySet
from apps.authors.services.limits import keep_uses, take_over_uses
from apps.common.sealing import keyed_hash

KEPT = timedelta(days=90)
DAY = timedelta(days=1)
#: So much a host's clock may be ahead of this server's.
CLOCKS_DIFFER = timedelta(minutes=1)
WHY = "Before their data was deleted their answers did not count."


def keep_limits(author: Author) -> CarriedLimits | None:
    """Keep what an author has used, before everything else of them is deleted; None where there is
    nothing to keep, or nothing to know them by."""
    now = timezone.now()
    who = _whos(author, now)
    if not who:
        return None
    before = _standing(author, now)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    asked = author.questions.filter(created_at__gte=midnight).values("message").distinct().count()
    kept = CarriedLimits(
        site_id=author.site_id,
        who=who[0],
        surveys=asked + surveys_before(author, now),
        erased_at=now,
        until=now + KEPT if author.verified else midnight + DAY,
    )
    if author.verified:
        earned = Reward.objects.filter(author=author).standing()
        recent = earned.filter(credited_at__gt=now - DAY)
        kept.day_cents = _cents(recent) + day_cents_before(author, now)
        kept.total_cents = _cents(earned) + (before.total_cents if before else 0)
        kept.ruling, kept.trusted = author.ruling, author.trusted
    if before is not None:
        before.delete()
    kept.save()
    if not author.verified:
        keep_uses(author, kept)
    return kept


def take_over(author: Author) -> CarriedLimits | None:
    """Give a new author what is kept of the person they are; none where nothing is."""
    now = timezone.now()
    whos = _whos(author, now)
    rows = CarriedLimits.objects.filter(site=author.site_id, who__in=whos, until__gt=now)
    if not author.verified:  # one newcomer is the one who went, not all of a network
        rows = rows.filter(authors=None)
    found = rows.order_by("-pk").first() if whos else None
    if found is None:
        return None
    author.carried, author.ruling, author.trusted = found, found.ruling, found.trusted
    author.ruling_reason = WHY if found.ruling is False else ""
    author.trust = {} if found.trusted else {"summary": WHY}
    author.save(update_fields=["carried", "ruling", "ruling_reason", "trusted", "trust"])
    if not author.verified:
        take_over_uses(author, found)
    return found


def has_agreed_since(kept: CarriedLimits, moment: datetime | None) -> bool:
    """Whether a consent of that moment is newer than the erasure. One that is still to come proves
    nothing: it would outlive the next erasure too."""
    if moment is None:
        return False
    return kept.erased_at < moment <= timezone.now() + CLOCKS_DIFFER


def surveys_before(author: Author, now: datetime) -> int:
    """Surveys of today (UTC) from before the author's data was deleted."""
    kept = _standing(author, now)
    return kept.surveys if kept is not None and kept.erased_at.date() == now.date() else 0


def day_cents_before(author: Author, now: datetime) -> int:
    """Cents of the last day from before the author's data was deleted."""
    kept = _standing(author, now)
    return kept.day_cents if kept is not None and now - kept.erased_at < DAY else 0


def total_cents_before(author: Author, now: datetime) -> int:
    """Cents in all from before the author's data was deleted."""
    kept = _standing(author, now)
    return kept.total_cents if kept is not None else 0


def distrusted_before(author: Author, now: datetime) -> bool:
    """Whether the signals spoke against the author before their data was deleted."""
    kept = _standing(author, now)
    return kept is not None and not kept.trusted


def erased_today(author: Author, now: datetime) -> int:
    """Anonymous authors of the same network whose data was deleted today (UTC)."""
    someone = Author(site=author.site, network=author.network)
    return CarriedLimits.objects.filter(site=author.site_id, who__in=_whos(someone, now)).count()


def forget_carried(now: datetime) -> None:
    """Delete what was kept long enough."""
    CarriedLimits.objects.filter(until__lte=now).delete()


def limits_of(site: Site, subject: str, now: datetime) -> CarriedLimits | None:
    """What is kept of a person whose data was deleted, by the host's id for them."""
    whos = _whos(Author(site=site, subject=subject), now)
    rows = CarriedLimits.objects.filter(site=site, who__in=whos, until__gt=now)
    return rows.order_by("-pk").first()


def _standing(author: Author, now: datetime) -> CarriedLimits | None:
    # Hardly anybody has any: no query for the others.
    if author.carried_id is None:
        return None
    return CarriedLimits.objects.filter(pk=author.carried_id, until__gt=now).first()


def _whos(author: Author, now: datetime) -> list[str]:
    """The hashes under which a person may be known, the present one first."""
    key = author.site.public_key
    if author.verified:
        quarters = dict.fromkeys(
            f"{at.year}-{(at.month - 1) // 3}" for at in (now, now - KEPT / 2, now - KEPT)
        )
        return [keyed_hash("limits", f"{key} {each} {author.subject}") for each in quarters]
    if author.network:
        return [keyed_hash("limits", f"{key} {now.date()} network {author.network}")]
    return []


def _cents(rewards: RewardQuerySet) -> int:
    return rewards.aggregate(cents=Sum("cents"))["cents"] or 0
