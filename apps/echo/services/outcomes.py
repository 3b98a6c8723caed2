"""What became of the features at a site's own downstream task, as its server tells.

A reward is an event of the log as a click on an offer is: credited to the features of the
selection, in the trust that its author has, once for each id.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from apps.authors.refusals import TooLate
from apps.authors.services.hearing import ref_of
from apps.authors.services.locking import lock_author
from apps.echo.models import LogEvent, Selection
from apps.echo.services.logging import log
from apps.echo.services.rewarding import WITHIN, credit_of
from labelhub.core.echo.events import TASK, Rewarded
from labelhub.core.errors import Conflict, NotFound

#: Rewards of one selection that are taken: one must not drown the others.
MOST = 10
#: A selection is rewarded for so long, as what became of an offer is looked at.
REWARDED_WITHIN: timedelta = WITHIN


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reward as it stands; ``fresh`` unless it had been told before."""

    value: float
    fresh: bool


@transaction.atomic
def tell_outcome(selection: Selection, ref: str, value: float, now: datetime) -> Outcome:
    """Write a reward into the log, once; whatever is told again, the first stands.

    Args:
        selection: with its Echo.
        ref: the sender's id of it, of any length.
        value: 0 (of no use) to 1.

    Raises:
        NotFound: the author's data was deleted.
        TooLate: the selection is older than :data:`REWARDED_WITHIN`.
        Conflict: it has had :data:`MOST` rewards.
    """
    # Of an author one after the other, and none after their data was deleted.
    author = lock_author(selection.author_id)
    if author is None:
        raise NotFound("There is no such selection.")
    begun = f"outcome-{selection.pk}-"
    name = f"{begun}{ref_of(ref)[:24]}"
    told = LogEvent.objects.filter(
        echo=selection.echo_id, author=author.pk, ref__startswith=begun
    ).values_list("ref", "data")
    known = dict(told[: MOST + 1])
    if name in known:
        return Outcome(float(known[name]["value"]), fresh=False)
    if now - selection.at > REWARDED_WITHIN:
        raise TooLate(f"A selection is rewarded within {REWARDED_WITHIN.days} days.")
    if len(known) >= MOST:
        raise Conflict(f"This selection has had {MOST} rewards; no more are taken.")
    event = Rewarded(
        id=name,
        author=author.uid.hex,
        trusted=author.counts,
        shown=credit_of(selection),
        value=value,
        signal=TASK,
    )
    log(selection.echo, [(event, author.pk)], at=now)
    return Outcome(value, fresh=True)
