"""A message that a host's own server sends: whose it is, and that they agreed."""

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.authors.models import Author, ConsentText, Site
from apps.authors.refusals import ConsentOutdated, Erased, OptedOut
from apps.authors.selectors.sites import KnownSite, check_open, current_consent
from apps.authors.services.carried import has_agreed_since, take_over
from apps.authors.services.hearing import Heard, Incoming, hear
from apps.authors.services.locking import lock_or_create_author
from apps.authors.services.welcoming import Arrival, check_consent, consent_of

#: That somebody was here is written down no more often.
SEEN_EVERY = timedelta(minutes=1)


def post_message(
    site: Site,
    subject: str,
    incoming: Incoming,
    *,
    version: int | None,
    consented_at: datetime | None = None,
) -> Heard:
    """Store what the author whom the host calls ``subject`` wrote, once; committed when this
    returns. Nothing is written where it raises.

    Args:
        version: the consent text that they agreed to; None for the present one.
        consented_at: when they agreed; needed of somebody whose data was deleted, as a consent of
            before does not count any more, nor one that is still to come.

    Returns:
        The message with its author and their site.

    Raises:
        SiteDisabled: the site is switched off.
        ConsentOutdated: the widget asks for consent here, or that text is not the present one.
        OptedOut: the author does not want to be asked.
        Erased: the author's data was deleted at this moment, or since they agreed.
    """
    check_open(site, None)
    text = current_consent(site)
    check_consent(KnownSite(site, text, 0.0), Arrival(consent_by=Site.ConsentBy.HOST))
    if version not in (None, text.version):
        raise ConsentOutdated(f"The present text to agree to is version {text.version}; ask again.")
    author = _author(site, subject, text, consented_at)
    try:
        heard = hear(site, author, incoming)
    except IntegrityError:  # the site was deleted between the two transactions
        raise Erased("This author's data was deleted meanwhile; nothing was stored.") from None
    heard.message.author = author
    return heard


@transaction.atomic
def _author(site: Site, subject: str, text: ConsentText, consented_at: datetime | None) -> Author:
    """The author with their consent written down; two requests at once make one of each."""
    now = timezone.now()
    author, made = lock_or_create_author(site, subject)
    kept = take_over(author) if made else None
    if kept is not None and not has_agreed_since(kept, consented_at):
        raise Erased(
            "This author's data was deleted, and their consent with it; nothing was stored. Once "
            'they have agreed anew, send when that was as "consented_at".'
        )
    if author.opted_out_at is not None:
        raise OptedOut("This author does not want to be asked; nothing of theirs is kept.")
    if now - author.seen_at > SEEN_EVERY:
        author.seen_at = now
        author.save(update_fields=["seen_at"])
    consent_of(author, text, Site.ConsentBy.HOST)
    author.site = site
    return author
