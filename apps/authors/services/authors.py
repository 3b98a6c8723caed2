"""Authors arrive, agree, opt out and leave: over the socket or through a host's server."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.authors.errors import ConsentOutdated, Erased, IdentRequired, OptedOut
from apps.authors.models import (
    Author,
    Consent,
    ConsentText,
    Event,
    Message,
    Question,
    Site,
)
from apps.authors.querysets import OPEN
from apps.authors.selectors.sites import (
    KnownSite,
    check_open,
    consent_hash,
    consent_words,
    current_consent,
    signing_secrets,
)
from apps.authors.services.limits import has_agreed_since, inherit_limits
from apps.authors.services.locking import lock_or_create_author
from apps.authors.services.messages import Incoming, StoredMessage, store_message, verdict
from apps.common.sealing import digest, keyed_hash
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.identity import VerifiedVisitor, read_ident

#: An author who was here so recently goes on where they were.
RESUMED_WITHIN = timedelta(minutes=10)
#: Refused signatures of a site that are written down in a minute.
MOST_REFUSALS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """What a page sends with its hello.

    ``consent_hash`` is that of the text shown; ``network`` is the prefix of the address. ``sid``
    and ``token`` come from an earlier visit; ``consented_at`` is the time of consent, if sent.
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
class AdmittedAuthor:
    """An author with their consent. ``token`` lets an anonymous author return; new or as sent."""

    author: Author
    consent: Consent | None
    token: str
    resumed: bool
    ident_until: datetime | None = None


def admit_author(known: KnownSite, arrival: Arrival) -> AdmittedAuthor:
    """Find or create the author. Nothing is written before the consent is checked.

    Raises:
        ConsentOutdated: the consent is not to the present text.
        IdentRequired: the site requires a signature and there is none.
        IdentInvalid: the signature is wrong, or ``IdentExpired``: too old.
        Erased: the author's data and consent were deleted since an earlier visit. Nothing is
            written.
    """
    site = known.site
    check_consent(known, arrival)
    ident = check_ident(site, arrival.ident)
    now = timezone.now()
    with transaction.atomic():
        author, token, made = _find_or_create_author(site, arrival, ident, now)
        resumed = not made and now - author.seen_at < RESUMED_WITHIN
        author.seen_at = now
        author.network = network_hash(arrival.network)
        author.save(update_fields=["seen_at", "network", "token_digest", "token_until"])
        kept = inherit_limits(author) if made else None
        # Hosts send the same consent for everybody: one from before an erasure is void. An
        # anonymous newcomer is only taken for the one who went, as far as caps go.
        from_host = arrival.consent_by == Site.ConsentBy.HOST
        if (
            kept is not None
            and author.verified
            and from_host
            and not has_agreed_since(kept, arrival.consented_at)
        ):
            raise Erased("Your data was deleted, with your consent; ask for consent again.")
        # An author who has opted out must agree again explicitly.
        agreed = not author.opted_out_at
        consent = consent_of(author, known.consent, arrival.consent_by) if agreed else None
    return AdmittedAuthor(
        author=author,
        consent=consent,
        token=token,
        resumed=resumed,
        ident_until=ident.expires_at if ident else None,
    )


def network_hash(network: str) -> str:
    """Keyed hash of a network; empty for this machine: a proxy here that hides its clients would
    put all of them into one network."""
    local = network.startswith(("127.", "::"))
    return keyed_hash("network", network) if network and not local else ""


def _remembered_author(site: Site, **named: Any) -> Author:
    """Lock the author that a page remembers, so that an erasure runs before or after this
    transaction.

    Raises:
        Erased: the data and the consent were deleted. A page connects without the old id after a
            new consent.
    """
    author = Author.objects.select_for_update(no_key=True).filter(site=site, **named).first()
    if author is None:
        raise Erased("Your data was deleted, with your consent; ask for consent again.")
    return author


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def check_consent(known: KnownSite, arrival: Arrival) -> None:
    """Refuse a consent to anything but the current text.

    Raises:
        ConsentOutdated: see there.
    """
    if known.site.consent_by != arrival.consent_by:
        raise ConsentOutdated(
            "On this site the widget itself asks for consent."
            if known.site.consent_by == Site.ConsentBy.WIDGET
            else "On this site the host asks for consent: set data-consent to host."
        )
    if arrival.consent_by == Site.ConsentBy.HOST:
        return
    texts = known.consent.texts
    shown = {consent_hash(consent_words(known.consent, language, language)) for language in texts}
    if arrival.consent_version != known.consent.version or arrival.consent_hash not in shown:
        raise ConsentOutdated("The consent text has changed; ask again.")


def check_ident(site: Site, token: str) -> VerifiedVisitor | None:
    """The identity that the host signed; None without a signature.

    Raises:
        IdentRequired: the site wants a signature and there is none.
        IdentInvalid: the signature is wrong, or ``IdentExpired``: too old.
    """
    if not token:
        if site.identity == Site.Identity.VERIFIED:
            raise IdentRequired("This site asks only authors whom its host has signed in.")
        return None
    try:
        return read_ident(
            token, signing_secrets(site), audience=site.public_key, now=timezone.now()
        )
    except LabelhubError as error:
        # So many a minute: forged tokens must not fill the disk.
        lately = timezone.now() - timedelta(minutes=1)
        noted = Event.objects.filter(site=site, kind=Event.Kind.IDENT, at__gt=lately)
        if noted.order_by()[:MOST_REFUSALS].count() < MOST_REFUSALS:
            Event.objects.create(site=site, kind=Event.Kind.IDENT, data={"code": error.code})
        raise


@transaction.atomic
def author_of_subject(site: Site, subject: str) -> Author:
    """The author with the host's id ``subject``, locked until the transaction ends."""
    author, made = lock_or_create_author(site, subject)
    if made:
        inherit_limits(author)
    return author


def consent_of(author: Author, text: ConsentText, by: str) -> Consent:
    """The author's consent to that text; created the first time."""
    standing = author.consents.filter(text=text, withdrawn_at__isnull=True).first()
    return standing or Consent.objects.create(author=author, text=text, by=by)


@transaction.atomic
def opt_out(author: Author) -> None:
    """Never ask this author again. Answers stay until the author deletes them."""
    now = timezone.now()
    if Author.objects.filter(pk=author.pk, opted_out_at__isnull=True).update(opted_out_at=now):
        Event.objects.create(site_id=author.site_id, author=author, kind=Event.Kind.OPTED_OUT)
    author.consents.filter(withdrawn_at__isnull=True).update(withdrawn_at=now)
    author.questions.filter(status__in=OPEN).update(status="retracted", closed_at=now)
    author.opted_out_at = now


def opt_in(author: Author) -> None:
    """The author has consented again after opting out."""
    Author.objects.filter(pk=author.pk).update(opted_out_at=None)
    author.opted_out_at = None


def _find_or_create_author(
    site: Site, arrival: Arrival, ident: VerifiedVisitor | None, now: datetime
) -> tuple[Author, str, bool]:
    """The author, locked, the token to come back with, and whether they are new."""
    remembered = None
    if arrival.sid:
        _remembered_author(site, uid=_uuid(arrival.sid))
    if arrival.token:
        remembered = _remembered_author(site, token_digest=digest(arrival.token))
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
        raise ConsentOutdated("This site has been deleted.") from None
    return author, token, True


#: Shortest time between two updates of ``seen_at``.
SEEN_EVERY = timedelta(minutes=1)


def post_message(
    site: Site,
    subject: str,
    incoming: Incoming,
    *,
    version: int | None,
    consented_at: datetime | None = None,
) -> StoredMessage:
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
        raise ConsentOutdated(f"The present consent text is version {text.version}; ask again.")
    author = _author_with_consent(site, subject, text, consented_at)
    try:
        heard = store_message(site, author.pk, incoming)
    except IntegrityError:  # the site was deleted between the two transactions
        raise Erased("This author's data was deleted meanwhile; nothing was stored.") from None
    heard.message.author = author
    return heard


@transaction.atomic
def _author_with_consent(
    site: Site, subject: str, text: ConsentText, consented_at: datetime | None
) -> Author:
    """The author with their consent written down; two requests at once make one of each."""
    now = timezone.now()
    author, made = lock_or_create_author(site, subject)
    kept = inherit_limits(author) if made else None
    if kept is not None and not has_agreed_since(kept, consented_at):
        raise Erased(
            "This author's data was deleted, with the consent; nothing was stored. Once "
            'the author has agreed again, send the time of that as "consented_at".'
        )
    if author.opted_out_at is not None:
        raise OptedOut("This author has opted out; nothing was stored.")
    if now - author.seen_at > SEEN_EVERY:
        author.seen_at = now
        author.save(update_fields=["seen_at"])
    consent_of(author, text, Site.ConsentBy.HOST)
    author.site = site
    return author


def has_returned(author_id: int, since: datetime) -> bool:
    """Whether the author has connected since then, to any server."""
    return Author.objects.filter(pk=author_id, seen_at__gt=since).exists()


def close_unattended(author_id: int) -> None:
    """Expire the open question of an author who has left, so that the next message may be asked
    about, and end messages that no model was asked about yet.

    The question counts as expired, not as dismissed: leaving is no refusal, and an answer given
    offline still counts.
    """
    now = timezone.now()
    Question.objects.filter(author=author_id, status__in=OPEN, pushed_at__isnull=False).update(
        status=Question.Status.EXPIRED, closed_at=now
    )
    waiting = Message.objects.filter(author=author_id, status=Message.Status.RECEIVED)
    reason = "The author has left."
    for message in waiting.filter(lease_until__isnull=True).only("pk", "stages"):
        left = verdict("left", passed=False, reason=reason, data={})
        Message.objects.filter(
            pk=message.pk, status=Message.Status.RECEIVED, lease_until__isnull=True
        ).update(
            status=Message.Status.DROPPED,
            dropped_at="left",
            reason=reason,
            stages=[*message.stages, left],
            processed_at=now,
        )
