"""Sites as the widget's edge needs them: looked up often, changed seldom."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.authors.errors import OriginRefused, SiteDisabled, UnknownSite
from apps.authors.models import ConsentText, Site, SiteKey, SiteUse
from apps.authors.translations import RECOMMENDS, REWARD_OFFER, RIGHT_TO_LEFT, WHY, translated
from apps.common.sealing import digest, unseal
from apps.projects.models import Project
from apps.projects.selectors import get_project
from labelhub.core.errors import NotFound

#: Seconds for which a process believes what it knows of a site.
FRESH = 10.0


@dataclass(frozen=True, slots=True)
class KnownSite:
    """A site with its present consent text, as of ``read_at`` (monotonic seconds)."""

    site: Site
    consent: ConsentText
    read_at: float


_known: dict[str, KnownSite] = {}


def known_site(public_key: str) -> KnownSite:
    """The site of that key with its consent text, at most :data:`FRESH` seconds old.

    Raises:
        UnknownSite: no site has it.
    """
    known = cached_site(public_key)
    if known is not None:
        return known
    found = find_site(public_key)
    if len(_known) > 1000:
        _known.clear()
    known = KnownSite(found, current_consent(found), time.monotonic())
    _known[public_key] = known
    return known


def cached_site(public_key: str) -> KnownSite | None:
    """The same without a look at the database; None where there must be one."""
    known = _known.get(public_key)
    fresh = known is not None and time.monotonic() - known.read_at < FRESH
    return known if fresh else None


def clear_known_sites() -> None:
    """Read every site anew: the test suite and a manager's own page must not see what was."""
    _known.clear()


def find_site(public_key: str) -> Site:
    """The site of that key, with its project and models.

    Raises:
        UnknownSite: no site has it.
    """
    related = ("project", "model__provider", "chat_model__provider")
    found = Site.objects.select_related(*related).filter(public_key=public_key[:40]).first()
    if found is None:
        raise UnknownSite("No site has this key; copy the snippet from the site's page again.")
    return found


def get_site(user: User | AnonymousUser, slug: str, site_id: int, right: Right) -> Site:
    """The site of that project, provided that ``user`` holds ``right`` there.

    Raises:
        NotFound: there is no such project or site, or the user is no member.
        Forbidden: the user is a member, without that right.
    """
    project = get_project(user, slug, right)
    related = ("model__provider", "chat_model__provider")
    site = Site.objects.select_related(*related).filter(project=project, pk=site_id).first()
    if site is None:
        raise NotFound("There is no such site in this project.")
    site.project = project
    return site


def sites_of(project: Project) -> QuerySet[Site]:
    return Site.objects.filter(project=project)


def current_consent(site: Site) -> ConsentText:
    """The newest version of what authors agree to.

    Raises:
        NotFound: the site has none (it was not made by ``create_site``).
    """
    newest = site.consent_texts.order_by("-version").first()
    if newest is None:
        raise NotFound("The site %(site)s has no consent text.", site=site)
    return newest


def check_open(site: Site, origin: str | None) -> None:
    """Refuse pages that may not embed the site. ``origin`` is None where no browser asks.

    Raises:
        SiteDisabled: the site is switched off.
        OriginRefused: the origin is not allowed; the message names it.
    """
    if not site.enabled:
        raise SiteDisabled("This site is switched off.")
    if origin is not None and origin.lower() not in site.allowed_origins:
        raise OriginRefused(
            "Pages of %(origin)s may not embed this site; a manager can add the origin on the "
            "site's page.",
            origin=origin[:100],
        )


def consent_hash(text: str) -> str:
    """What a widget sends back to say which words it has shown."""
    return digest(text)[:32]


def consent_words(consent: ConsentText, language: str, default: str) -> str:
    """The text in that language, or in the site's default language; whoever may be offered
    something is told so in the same language."""
    shown = language if consent.texts.get(language) else default
    text = str(consent.texts[shown])
    return f"{text} {translated(RECOMMENDS, shown)}" if consent.recommends else text


def signing_secrets(site: Site) -> dict[str, bytes]:
    """kid → secret, of the signing keys in use."""
    keys = SiteKey.objects.filter(
        site=site, purpose=SiteKey.Purpose.SIGN, revoked_at__isnull=True, sealed__isnull=False
    )
    return {key.kid: unseal(key.sealed) for key in keys if key.sealed is not None}


def find_server_key(public_key: str, plain: str) -> SiteKey | None:
    """The key with its site, if ``plain`` is one of the site's server keys in use."""
    keys = SiteKey.objects.select_related("site__project", "site__model__provider").filter(
        site__public_key=public_key,
        digest=digest(plain),
        purpose=SiteKey.Purpose.SERVER,
        revoked_at__isnull=True,
    )
    return keys.first()


def widget_config(known: KnownSite, language: str) -> Mapping[str, Any]:
    """What the widget is told before anybody has agreed to anything."""
    site = known.site
    spoken_language = language if language in site.languages else site.language
    text = consent_words(known.consent, spoken_language, site.language)
    matcher = site.chat_model is None or site.chat_model.offline
    reward = money_words(site.reward_cents, site.currency)
    offer = translated(REWARD_OFFER, spoken_language).format(amount=reward)
    return {
        "site": site.name,
        "time": int(timezone.now().timestamp() * 1000),
        "languages": site.languages,
        "lang": spoken_language,
        "dir": "rtl" if spoken_language in RIGHT_TO_LEFT else "ltr",
        "mode": ["companion", "chat"],
        "enabled": site.enabled,
        "identity": site.identity,
        "consent": {
            "version": known.consent.version,
            "text": text,
            "hash": consent_hash(text),
            "why": translated(WHY, spoken_language),
            "privacy_url": site.privacy_url,
            "by": site.consent_by,
        },
        "reward": {"text": offer} if site.reward_cents else None,
        "chat": {
            "title": site.chat_title or site.name,
            "greeting": site.chat_greeting,
            "matcher": matcher,
        },
    }


def use_of_today(site: Site) -> SiteUse:
    """What the site's models did today (UTC), and how often a limit kept them from it."""
    today = timezone.now().date()
    return SiteUse.objects.filter(site=site, day=today).first() or SiteUse(site=site, day=today)


def money_words(cents: int, currency: str) -> str:
    """``0.05 USD``."""
    return f"{cents / 100:.2f} {currency}"
