"""Managers' settings of a site's Echo: on or off, settings, priors, freezing."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.authors.models import Feature, Site
from apps.authors.selectors.sites import current_consent
from apps.authors.services.features import add_features
from apps.authors.services.locking import lock_site
from apps.authors.services.sites import set_consent_text
from apps.common.audit import Action, differences, record
from apps.echo.models import Echo
from apps.echo.selectors.learning import is_frozen
from apps.echo.services.events import log_events
from apps.echo.services.selection import forget_known
from apps.echo.states import readable_selector
from labelhub.core.echo.events import Event, Expected, Frozen
from labelhub.core.echo.state import EchoState, pooled_prior
from labelhub.core.errors import InvalidInput

SETTINGS = (
    "on", "k", "explore", "burden", "models_per_message", "shares_relevance", "llm_features",
    "example_tokens",
    "offers_on", "offer_every_messages", "offer_min_seconds", "offer_least_match", "offer_explore",
    "reward_minutes",
)  # fmt: skip


@transaction.atomic
def switch_echo(site: Site, *, on: bool) -> Echo:
    """Switch Echo on or off at a site; nothing learnt is lost."""
    lock_site(site)
    echo, made = Echo.objects.get_or_create(site=site, defaults={"on": on})
    if not made and echo.on != on:
        echo.on = on
        echo.save(update_fields=["on"])
    record(Action.ECHO_CHANGED, site, changes={"on": (None, on)})
    if on:
        log_priors(echo)
    forget_known(site.pk)
    return echo


@transaction.atomic
def update_echo(echo: Echo, **changes: Any) -> Echo:
    """Change settings. Switching offers on asks authors for consent again, as the text then
    mentions recommendations.

    Raises:
        InvalidInput: a value is out of range; the error names its field.
    """
    for name, value in changes.items():
        setattr(echo, name, value)
    try:
        echo.clean_fields(
            exclude=[field.name for field in Echo._meta.fields if field.name not in changes]
        )
    except ValidationError as error:
        field, problems = next(iter(error.message_dict.items()))
        raise InvalidInput.at(field, " ".join(problems)) from None
    # As in set_priors, the site is locked before its Echo, or the two would deadlock.
    lock_site(echo.site)
    before = Echo.objects.filter(pk=echo.pk).values(*changes).first() or {}
    echo.save(update_fields=list(changes))
    record(Action.ECHO_CHANGED, echo.site, changes=differences(before, changes))
    if "shares_relevance" in changes:
        log_priors(echo)
    if changes.get("offers_on"):
        site = echo.site
        set_consent_text(site=site, texts=current_consent(site).texts, actor=None)
    forget_known(echo.site_id)
    return echo


#: Begins the ref of a prior from other sites.
_SHARED = "shared-"


@transaction.atomic
def log_priors(echo: Echo) -> int:
    """Log changed priors of features; returns their number.

    A new feature without a prior of the owner starts from what the other sites of the server have
    learnt about one with the same key and values, unless this site or that one declines.
    """
    # A concurrent call waits here, and finds the priors logged.
    locked = Echo.objects.select_for_update(no_key=True).get(pk=echo.pk)
    logged = {
        feature: (ref, prior)
        for feature, ref, prior in locked.log.filter(kind="expected")
        .order_by("number")
        .values_list("feature", "ref", "data__prior")
    }
    # Not parsed, as this is done at each learning.
    features = {row.key: row for row in Feature.objects.filter(site=echo.site_id)}
    priors = {key: row.definition.get("prior") for key, row in features.items()}
    unset = {key for key, prior in priors.items() if prior is None}
    shared = _shared_priors(locked, {key: features[key] for key in unset - logged.keys()})
    news: list[tuple[Event, int | None]] = []
    for key, given in priors.items():
        ref, last = logged.get(key, ("", 0.0))
        begins, prior = "expected-", given or 0.0
        if key in shared:
            begins, prior = _SHARED, shared[key]
        elif given is None and ref.startswith(_SHARED) and locked.shares_relevance:
            prior = last
        if prior != last:
            news.append((Expected(f"{begins}{uuid.uuid4().hex}", key, prior), None))
    return len(log_events(echo, news))


def _shared_priors(echo: Echo, features: Mapping[str, Feature]) -> dict[str, float]:
    """Priors of those ``features`` (by key) that this site has learnt nothing about yet."""
    if not (echo.shares_relevance and features):
        return {}
    state = readable_selector(echo)
    if state is None:  # which features are new is known once it is rebuilt
        return {}
    new = features.keys() - state.places.keys()
    alike = Feature.objects.filter(key__in=new, site__echo__shares_relevance=True)
    rows = list(alike.exclude(site=echo.site_id))
    others = Echo.objects.filter(site__in={row.site_id for row in rows}).exclude(state=b"")
    states = {other.pk: readable_selector(other) for other in others}
    known: dict[str, list[EchoState]] = {}
    for row in rows:
        learnt = states.get(row.site_id)
        if learnt is None or row.key not in learnt.places:
            continue
        if row.parsed.values == features[row.key].parsed.values:
            known.setdefault(row.key, []).append(learnt)
    return {key: pooled_prior(learnt, key) for key, learnt in known.items()}


@transaction.atomic
def freeze(echo: Echo, *, on: bool) -> bool:
    """Freeze or resume learning; returns whether this changed anything."""
    # A concurrent call waits here, and finds it done.
    locked = Echo.objects.select_for_update(no_key=True).get(pk=echo.pk)
    if is_frozen(locked) == on:
        return False
    log_events(locked, [(Frozen(f"frozen-{uuid.uuid4().hex}", on), None)])
    record(Action.ECHO_CHANGED, echo.site, changes={"frozen": (not on, on)})
    return True


def ensure_echo(site: Site) -> Echo:
    """The site's Echo; created switched off if there is none."""
    return Echo.objects.get_or_create(site=site, defaults={"on": False})[0]


@transaction.atomic
def change_echo(site: Site, changes: Mapping[str, Any]) -> Echo:
    """Change all settings or none; ``on`` switches Echo on or off.

    Raises:
        InvalidInput: a value is out of range; the error names its field.
    """
    rest = {name: value for name, value in changes.items() if name != "on"}
    echo = switch_echo(site, on=changes["on"]) if "on" in changes else ensure_echo(site)
    return update_echo(echo, **rest) if rest else echo


@transaction.atomic
def set_priors(site: Site, priors: Mapping[str, float | None]) -> None:
    """Set the priors of features; features that are left out get none.

    Nothing learnt is lost: a prior changes the belief before any reward.

    Raises:
        InvalidInput: the site does not ask about a feature.
    """
    asked = {row.key: row.parsed for row in site.features.asked()}
    strange = sorted(set(priors) - set(asked))
    if strange:
        raise InvalidInput.at(strange[0][:60], "The site does not ask about this feature.")
    changed = [
        replace(feature, prior=priors.get(key))
        for key, feature in asked.items()
        if feature.prior != priors.get(key)
    ]
    if changed:
        add_features(site=site, features=changed)
        record(Action.ECHO_CHANGED, site, changes={"priors": (None, len(changed))})
    log_priors(ensure_echo(site))
