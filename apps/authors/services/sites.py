"""Create, change and delete sites, their consent texts, features and keys."""

import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.forms import model_to_dict
from django.utils import timezone

from apps.accounts.models import User
from apps.authors.models import Author, ConsentText, Feature, Reward, Site, SiteKey
from apps.authors.selectors.sites import current_consent
from apps.authors.services.limits import rule_of
from apps.authors.services.locking import lock_site, retry_on_deadlock
from apps.authors.services.site_config import offers
from apps.authors.translations import CONSENT_TEXTS, LANGUAGES
from apps.common.audit import Action, differences, record
from apps.common.sealing import digest, seal
from apps.common.validation import check_model
from apps.llm.services import check_usable
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import Conflict, InvalidInput, NotFound
from labelhub.core.interview.features import Feature as Definition
from labelhub.core.interview.features import parse_feature

MOST_ORIGINS, MOST_FEATURES = 50, 1000
#: Authors per transaction when a site is deleted.
AUTHORS_AT_ONCE = 500
#: Columns that REST and the form read and change as they are.
PLAIN = [
    "name", "enabled", "region", "identity", "consent_by", "privacy_url", "least_relevant",
    "most_questions", "sampling", "every_messages", "min_seconds", "per_conversation", "per_day",
    "reask_share", "chat_title", "chat_greeting", "chat_instructions", "reward_cents", "currency",
    "reward_daily_cents", "reward_total_cents", "reward_hold_days", "keep_text", "retention_days",
    "answers_decide", "country_header", "calls_per_day", "replies_anonymous", "replies_verified",
    "replies_network",
]  # fmt: skip
#: Fields that ``update_site`` changes.
CHANGEABLE = {
    *PLAIN, "allowed_origins", "languages", "model", "chat_model", "daily_budget_nanousd",
}  # fmt: skip


@transaction.atomic
def create_site(
    *,
    project: Project,
    actor: User | None,
    name: str,
    features: Sequence[Definition],
    consent: Mapping[str, str] | None = None,
    **changes: Any,
) -> Site:
    """Create a site in ``project``.

    Args:
        features: the features to ask about, in order.
        consent: language → text; by default the standard text in the site's languages.
        changes: fields of the site, as :func:`update_site` takes them.

    Raises:
        InvalidInput: the project is not ``per_item``, the name is taken, or a field is invalid.
    """
    if not current_schema(project).task.item_options:
        raise InvalidInput(
            "The project %(slug)s asks the same question about every text; a site needs a "
            "project of task per_item, where each text has its own question.",
            slug=project.slug,
        )
    site = Site(
        project=project,
        name=name.strip(),
        public_key=f"pk_{secrets.token_urlsafe(18)}",
        languages=["en"],
        created_by=actor,
    )
    _change(site, changes)
    site.save()
    texts = consent or {language: CONSENT_TEXTS[language] for language in site.languages}
    set_consent_text(site=site, texts=texts, actor=actor)
    set_features(site=site, features=features)
    record(Action.SITE_CREATED, site)
    return site


@transaction.atomic
def update_site(*, site: Site, **changes: Any) -> Site:
    """Change fields of a site; all of them or none.

    Raises:
        InvalidInput: a field cannot be changed, or has an invalid value.
        Conflict: the currency changes while rewards in the present one are unpaid.
    """
    owed = Reward.objects.filter(site=site, payout__isnull=True).standing()
    if changes.get("currency", site.currency) != site.currency and owed.exists():
        raise Conflict(
            "Pay the rewards in %(currency)s before you change the currency.",
            currency=site.currency,
        )
    before = model_to_dict(Site.objects.get(pk=site.pk), fields=list(changes))
    _change(site, changes)
    if "languages" in changes and site.language not in current_consent(site).texts:
        raise InvalidInput.at(
            "languages",
            "Write a consent text in '%(language)s' before you make it the default language.",
            language=site.language,
        )
    site.save(update_fields=sorted(changes))
    changed = differences(before, model_to_dict(site, fields=list(changes)))
    texts = {name: (None, None) for name in changed if name.startswith("chat_")}
    if changed:
        record(Action.SITE_CHANGED, site, changes=changed | texts)
    return site


@transaction.atomic
def set_consent_text(*, site: Site, texts: Mapping[str, str], actor: User | None) -> ConsentText:
    """Make ``texts`` the newest version of the consent text; equal texts change nothing.

    If Echo may recommend something, the version also names that: authors who agreed to one without
    it are asked again.

    Raises:
        InvalidInput: the default language has no text, or a text is in an unknown language or
            longer than 600 characters.
    """
    texts = {language: " ".join(text.split()) for language, text in texts.items() if text.strip()}
    strange = next((language for language in texts if language not in LANGUAGES), None)
    if strange is not None:
        raise InvalidInput.at(
            "consent",
            "'%(strange)s' is not among %(languages)s.",
            strange=strange,
            languages=", ".join(LANGUAGES),
        )
    if site.language not in texts:
        raise InvalidInput.at(
            "consent",
            "The text in the default language '%(language)s' is missing.",
            language=site.language,
        )
    long = next((language for language, text in texts.items() if len(text) > 600), None)
    if long is not None:
        raise InvalidInput.at(
            "consent", "The text in '%(long)s' is longer than 600 characters.", long=long
        )
    lock_site(site)
    newest = site.consent_texts.first()
    recommends = offers().made_at(site.pk)
    if newest is not None and (newest.texts, newest.recommends) == (texts, recommends):
        return newest
    version = newest.version + 1 if newest else 1
    record(Action.CONSENT_CHANGED, site, changes={"version": (version - 1, version)})
    return ConsentText.objects.create(
        site=site, version=version, texts=texts, recommends=recommends, created_by=actor
    )


@transaction.atomic
def set_features(*, site: Site, features: Sequence[Definition]) -> list[Feature]:
    """Set the features of the site, in this order. Features that are left out are retired; their
    answers stay.

    Raises:
        InvalidInput: none, too many, or two with one key.
    """
    keys = [feature.key for feature in features]
    if not 1 <= len(keys) <= MOST_FEATURES:
        raise InvalidInput.at(
            "features",
            "Choose between 1 and %(most_features)s features.",
            most_features=MOST_FEATURES,
        )
    if len(set(keys)) < len(keys):
        raise InvalidInput.at("features", "Two features have the same key.")
    lock_site(site)
    known = {row.key: row for row in site.features.all()}
    wanted = dict(zip(keys, features, strict=True))
    gone = [row.pk for row in known.values() if row.active and row.key not in wanted]
    Feature.objects.filter(pk__in=gone).update(active=False)
    rows = [known.get(key) or Feature(site=site, key=key) for key in keys]
    changed = [
        row for index, row in enumerate(rows) if _update_feature_row(row, index, wanted[row.key])
    ]
    Feature.objects.bulk_create([row for row in changed if row.key not in known])
    Feature.objects.bulk_update(
        [row for row in changed if row.key in known], ["definition", "position", "active"]
    )
    if changed or gone:
        counts = {"changed": (None, len(changed)), "retired": (None, len(gone))}
        record(Action.FEATURES_CHANGED, site, changes=counts)
    return rows


def _update_feature_row(row: Feature, position: int, definition: Definition) -> bool:
    """Update the row; returns whether it has changed."""
    before = (row.definition, row.position, row.active)
    row.definition, row.position, row.active = definition.to_json(), position, True
    parse_feature(row.definition)
    vars(row).pop("parsed", None)
    return before != (row.definition, row.position, row.active)


@transaction.atomic
def add_key(*, site: Site, purpose: str, actor: User | None) -> tuple[SiteKey, str]:
    """Create a key; returns its row and the secret, which is shown only once.

    A signing secret is stored encrypted, because it is needed to check signatures; of a server key
    only a hash is stored. Each secret contains the ``kid`` of its row, to identify it.
    """
    kid = secrets.token_hex(6)
    kind = "sk" if purpose == SiteKey.Purpose.SERVER else "ss"
    plain = f"{kind}_{kid}_{secrets.token_urlsafe(32)}"
    key = SiteKey(site=site, purpose=purpose, kid=kid, created_by=actor)
    if purpose == SiteKey.Purpose.SIGN:
        key.sealed = seal(plain.encode())
    else:
        key.digest = digest(plain)
    key.save(force_insert=True)
    record(
        Action.SITE_KEY_CREATED,
        key,
        project=site.project,
        name=f"{site.name} {kid}",
        changes={"purpose": (None, purpose)},
    )
    return key, plain


@transaction.atomic
def revoke_key(*, site: Site, kid: str) -> None:
    """Revoke a key: from now on, everything signed or sent with it is refused.

    Raises:
        NotFound: the site has no such key, or it was already revoked.
    """
    found = SiteKey.objects.filter(site=site, kid=kid, revoked_at__isnull=True)
    if not found.update(revoked_at=timezone.now()):
        raise NotFound("The site has no such key in use.")
    record(Action.SITE_KEY_REVOKED, site, name=f"{site.name} {kid}")


def delete_site(*, site: Site) -> None:
    """Delete the site with its authors, messages and answers; the labelled items stay."""
    with transaction.atomic():
        # What follows cannot be taken back, though it takes several transactions.
        record(Action.SITE_DELETED, site)
        Site.objects.filter(pk=site.pk).update(enabled=False)
    while _delete_authors(site):
        pass
    retry_on_deadlock(transaction.atomic(site.delete))()


@retry_on_deadlock
@transaction.atomic
def _delete_authors(site: Site) -> bool:
    """Delete some authors, locked before their rows; returns whether there were any."""
    locked = Author.objects.select_for_update().filter(site=site).order_by("pk")
    ids = list(locked.values_list("pk", flat=True)[:AUTHORS_AT_ONCE])
    Author.objects.filter(pk__in=ids).delete()
    return bool(ids)


def _change(site: Site, changes: Mapping[str, Any]) -> None:
    strange = next((field for field in changes if field not in CHANGEABLE), None)
    if strange is not None:
        raise InvalidInput.at(strange, "A site has no such field, or it cannot be changed.")
    for field, value in changes.items():
        setattr(site, field, value.strip() if isinstance(value, str) else value)
    chosen = [changes[field] for field in ("model", "chat_model") if changes.get(field)]
    check_usable(chosen, site.project)
    if "allowed_origins" in changes:
        if not isinstance(site.allowed_origins, list) or len(site.allowed_origins) > MOST_ORIGINS:
            raise InvalidInput.at(
                "allowed_origins",
                "Must be a list of at most %(most_origins)s origins.",
                most_origins=MOST_ORIGINS,
            )
        site.allowed_origins = list(
            dict.fromkeys(
                _read_origin(str(given).strip())
                for given in site.allowed_origins
                if str(given).strip()
            )
        )
    if "languages" in changes:
        if not isinstance(site.languages, list) or not site.languages:
            raise InvalidInput.at("languages", "Name at least one language.")
        strange = next((given for given in site.languages if given not in LANGUAGES), None)
        if strange is not None:
            raise InvalidInput.at(
                "languages",
                "'%(strange)s' is not among %(languages)s.",
                strange=strange,
                languages=", ".join(LANGUAGES),
            )
        site.languages = list(dict.fromkeys(site.languages))
    check_model(site, exclude=["created_by", "project"])
    # Otherwise invalid limits would fail at the next message.
    rule_of(site)
    _check_name(site)


def _check_name(site: Site) -> None:
    if site.project.sites.filter(name=site.name).exclude(pk=site.pk).exists():
        raise InvalidInput.at(
            "name", "There is already a site “%(name)s” in this project.", name=site.name
        )


_ORIGIN = re.compile(r"https?://[^\s/?#@]+")


def _read_origin(given: str) -> str:
    bare = given.rstrip("/").lower()
    if not _ORIGIN.fullmatch(bare) or "*" in bare or not _has_host(bare):
        raise InvalidInput.at(
            "allowed_origins",
            "'%(given)s' is not an origin; write scheme and host, such as "
            "https://shop.example.org, without a path.",
            given=given[:80],
        )
    scheme, _, host = bare.partition("://")
    usual = {"http": ":80", "https": ":443"}[scheme]
    return bare.removesuffix(usual) if host.endswith(usual) else bare


def _has_host(origin: str) -> bool:
    try:
        parts = urlsplit(origin)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
