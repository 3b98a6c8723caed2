"""Who comes: an author is found or made, and what they agreed to is written down."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.authors.models import Author, CarriedLimits, Consent, ConsentText, Event, Site
from apps.authors.refusals import ConsentOutdated, Erased, IdentRequired
from apps.authors.selectors.sites import KnownSite, consent_hash, consent_words, signing_secrets
from apps.authors.services.carried import has_agreed_since, take_over
from apps.authors.services.locking import lock_or_create_author
from apps.common.sealing import digest, keyed_hash
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.identity import Ident, read_ident

#: An author who was here so recently goes on where they were.
RESUMED_WITHIN = timedelta(minutes=10)
#: Refused signatures of a site that are written down in a minute.
MOST_REFUSALS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """What somebody brings when they come.

    ``consent_hash`` is that of the words they were shown; ``network`` their address's prefix.
    ``sid`` and ``token`` are what they were told when they were here before; ``consented_at`` is
    when they agreed, where the page says it.
    """

    sid: str = ""
    token: str = ""
    ident: str = ""
    consent_version: int = 0
    consent_hash: str = ""
    consent_by: str = Site.ConsentBy.WIDGET
    consented_at: datetime | None = None
    network: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Welcome:
    """Who they are here. ``token`` lets an anonymous author come back; it is new or as sent."""

    author: Author
    consent: Consent | None
    token: str
    resumed: bool
    ident_until: datetime | None = None


def welcome(known: KnownSite, arrival: Arrival) -> Welcome:
    """Find or make the author. Nothing is written before the consent was looked at.

    Raises:
        ConsentOutdated: what was agreed to is not the present text.
        IdentRequired: the site wants a signature and there is none.
        IdentInvalid: the signature is wrong, or ``IdentExpired``: too old.
        Erased: they were here before, and their data was deleted since: their consent with it.
            Nothing is written then.
    """
    site = known.site
    check_consent(known, arrival)
    ident = check_ident(site, arrival.ident)
    now = timezone.now()
    with transaction.atomic():
        author, token, made = _author(site, arrival, ident, now)
        resumed = not made and now - author.seen_at < RESUMED_WITHIN
        author.seen_at = now
        author.network = network_hash(arrival.network)
        author.save(update_fields=["seen_at", "network", "token_digest", "token_until"])
        if made:
            _check_agreed_anew(arrival, author, take_over(author))
        # Somebody who has opted out agrees anew by saying so, not by coming back.
        agreed = not author.opted_out_at
        consent = consent_of(author, known.consent, arrival.consent_by) if agreed else None
    return Welcome(
        author=author,
        consent=consent,
        token=token,
        resumed=resumed,
        ident_until=ident.expires_at if ident else None,
    )


def network_hash(network: str) -> str:
    """Under which a network is known. This machine is none: a proxy on it that does not say for
    whom it asks would be everybody."""
    local = network.startswith(("127.", "::"))
    return keyed_hash("network", network) if network and not local else ""


def _known_before(site: Site, **named: Any) -> Author:
    """Whom a page names that was here before, locked: an erasure comes before this transaction or
    after it.

    Raises:
        Erased: they are not known any more. Their page still holds a consent that was deleted with
            their data; who agrees after that comes without an id of before.
    """
    author = Author.objects.select_for_update(no_key=True).filter(site=site, **named).first()
    if author is None:
        raise Erased("Your data was deleted, and your consent with it; ask for it anew.")
    return author


def _check_agreed_anew(arrival: Arrival, author: Author, kept: CarriedLimits | None) -> None:
    """Refuse somebody whose data was deleted and for whom the host says a consent of before: it
    says so for everybody, also when they come back.

    Raises:
        Erased: see there.
    """
    # An anonymous newcomer is only taken for the one who went, as far as caps go.
    if kept is None or not author.verified or arrival.consent_by != Site.ConsentBy.HOST:
        return
    if not has_agreed_since(kept, arrival.consented_at):
        raise Erased("Your data was deleted, and your consent with it; ask for it anew.")


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def check_consent(known: KnownSite, arrival: Arrival) -> None:
    """Refuse who has not agreed to the words that the site has now.

    Raises:
        ConsentOutdated: see there.
    """
    if known.site.consent_by != arrival.consent_by:
        raise ConsentOutdated(
            "This site has its consent from the widget itself."
            if known.site.consent_by == Site.ConsentBy.WIDGET
            else "This site has its consent from the host: set data-consent to host."
        )
    if arrival.consent_by == Site.ConsentBy.HOST:
        return
    texts = known.consent.texts
    shown = {consent_hash(consent_words(known.consent, each, each)) for each in texts}
    if arrival.consent_version != known.consent.version or arrival.consent_hash not in shown:
        raise ConsentOutdated("The text to agree to has changed; ask again.")


def check_ident(site: Site, token: str) -> Ident | None:
    """Whom the host says this is; None for nobody in particular.

    Raises:
        IdentRequired: the site wants a signature and there is none.
        IdentInvalid: the signature is wrong, or ``IdentExpired``: too old.
    """
    if not token:
        if site.identity == Site.Identity.VERIFIED:
            raise IdentRequired("This site asks only people whom its host has signed in.")
        return None
    try:
        return read_ident(
            token, signing_secrets(site), audience=site.public_key, now=timezone.now()
        )
    except LabelhubError as error:
        _note_refused(site, error.code)
        raise


def _note_refused(site: Site, code: str) -> None:
    """So many in a minute say all there is to say; whoever makes tokens up must not fill a disk."""
    lately = timezone.now() - timedelta(minutes=1)
    told = Event.objects.filter(site=site, kind=Event.Kind.IDENT, at__gt=lately)
    if told.order_by()[:MOST_REFUSALS].count() < MOST_REFUSALS:
        Event.objects.create(site=site, kind=Event.Kind.IDENT, data={"code": code})


@transaction.atomic
def author_of_subject(site: Site, subject: str) -> Author:
    """The author whom the host knows by ``subject``; nobody erases them before the transaction
    ends."""
    author, made = lock_or_create_author(site, subject)
    if made:
        take_over(author)
    return author


def consent_of(author: Author, text: ConsentText, by: str) -> Consent:
    """The author's consent to that text; written on the first time."""
    standing = author.consents.filter(text=text, withdrawn_at__isnull=True).first()
    return standing or Consent.objects.create(author=author, text=text, by=by)


@transaction.atomic
def opt_out(author: Author) -> None:
    """They do not want to be asked again. What they have answered stays until they delete it."""
    now = timezone.now()
    if Author.objects.filter(pk=author.pk, opted_out_at__isnull=True).update(opted_out_at=now):
        Event.objects.create(site_id=author.site_id, author=author, kind=Event.Kind.OPTED_OUT)
    author.consents.filter(withdrawn_at__isnull=True).update(withdrawn_at=now)
    author.questions.filter(status__in=("waiting", "pushed", "shown")).update(
        status="retracted", closed_at=now
    )
    author.opted_out_at = now


def opt_in(author: Author) -> None:
    """They have agreed anew after having opted out."""
    Author.objects.filter(pk=author.pk).update(opted_out_at=None)
    author.opted_out_at = None


def _author(
    site: Site, arrival: Arrival, ident: Ident | None, now: datetime
) -> tuple[Author, str, bool]:
    """The author, locked, the token to come back with, and whether they are new."""
    remembered = None
    if arrival.sid:
        _known_before(site, uid=_uuid(arrival.sid))
    if arrival.token:
        remembered = _known_before(site, token_digest=digest(arrival.token))
    until = now + timedelta(days=site.retention_days)
    if ident is not None:
        author, made = lock_or_create_author(site, ident.sub)
        return author, "", made
    if remembered is not None and (remembered.token_until or now) > now:
        remembered.token_until = until
        return remembered, arrival.token, False
    token = secrets.token_urlsafe(32)
    author = Author(site=site, token_digest=digest(token), token_until=until, seen_at=now)
    try:
        author.save(force_insert=True)
    except IntegrityError:  # the site was deleted meanwhile
        raise ConsentOutdated("This site is gone.") from None
    return author, token, True
