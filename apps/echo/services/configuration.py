"""What managers set of a site's Echo: on or off, settings, priors, freezing, instructions."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.authors.models import Feature, Site
from apps.authors.selectors.sites import current_consent
from apps.authors.services.features import add_features
from apps.authors.services.sites import set_consent_text
from apps.echo.models import Echo
from apps.echo.services.events import log_events
from apps.echo.services.selection import forget_known
from labelhub.core.echo.events import Event, Expected, Frozen
from labelhub.core.errors import InvalidInput

SETTINGS = (
    "on", "k", "explore", "burden", "models_per_message", "llm_features", "example_tokens",
    "search_on", "search_calls_per_day", "offers_on", "offer_every_messages", "offer_min_seconds",
    "offer_least_match", "offer_explore", "reward_minutes",
)  # fmt: skip


@transaction.atomic
def switch_echo(site: Site, *, on: bool) -> Echo:
    """Let Echo choose and learn at a site, or not; what it has learnt stays."""
    echo, made = Echo.objects.get_or_create(site=site, defaults={"on": on})
    if not made and echo.on != on:
        echo.on = on
        echo.save(update_fields=["on"])
    if on:
        log_priors(echo)
    forget_known(site.pk)
    return echo


@transaction.atomic
def update_echo(echo: Echo, **changes: Any) -> Echo:
    """Change its settings. With the first offers, authors are asked anew whether they agree: the
    text names recommendations from then on.

    Raises:
        InvalidInput: naming the field that is out of its range.
    """
    strange = sorted(set(changes) - set(SETTINGS))
    if strange:
        raise InvalidInput.at(strange[0], "is no setting of Echo.")
    for name, value in changes.items():
        setattr(echo, name, value)
    try:
        echo.clean_fields(
            exclude=[field.name for field in Echo._meta.fields if field.name not in changes]
        )
    except ValidationError as error:
        field, problems = next(iter(error.message_dict.items()))
        raise InvalidInput.at(field, " ".join(problems)) from None
    echo.save(update_fields=list(changes))
    if changes.get("offers_on"):
        site = echo.site
        set_consent_text(site=site, texts=current_consent(site).texts, actor=None)
    forget_known(echo.site_id)
    return echo


def log_priors(echo: Echo) -> int:
    """Write the owner's expectations of features into the log where they have changed."""
    logged = {
        row["feature"]: row["data"]["prior"]
        for row in echo.log.filter(kind="expected").order_by("number").values("feature", "data")
    }
    news: list[tuple[Event, int | None]] = []
    for feature in Feature.objects.filter(site=echo.site_id):
        prior = feature.parsed.prior or 0.0
        if prior != logged.get(feature.key, 0.0):
            news.append((Expected(f"expected-{uuid.uuid4().hex}", feature.key, prior), None))
    return log_events(echo, news)


@transaction.atomic
def freeze(echo: Echo, *, on: bool) -> bool:
    """From here on what happens is logged and not learnt; or learnt again. Whether that is news."""
    # Whoever else freezes it waits here, and finds it done.
    locked = Echo.objects.select_for_update(no_key=True).get(pk=echo.pk)
    if is_frozen(locked) == on:
        return False
    log_events(locked, [(Frozen(f"frozen-{uuid.uuid4().hex}", on), None)])
    return True


def is_frozen(echo: Echo) -> bool:
    """Whether it learns nothing now."""
    last = echo.log.filter(kind="frozen").order_by("-number").first()
    return last is not None and bool(last.data["on"])


def ensure_echo(site: Site) -> Echo:
    """The site's Echo; one that is off where there was none."""
    return Echo.objects.get_or_create(site=site, defaults={"on": False})[0]


@transaction.atomic
def change_echo(site: Site, changes: Mapping[str, Any]) -> Echo:
    """Change settings, all of them or none; ``on`` switches it on or off.

    Raises:
        InvalidInput: naming the field that is out of its range.
    """
    rest = {name: value for name, value in changes.items() if name != "on"}
    echo = switch_echo(site, on=changes["on"]) if "on" in changes else ensure_echo(site)
    return update_echo(echo, **rest) if rest else echo


@transaction.atomic
def set_priors(site: Site, priors: Mapping[str, float | None]) -> None:
    """Say how much each feature is expected to help; those left out are not expected anything of.

    What was learnt stays: a prior moves what is believed before any reward.

    Raises:
        InvalidInput: the site asks about no such feature.
    """
    asked = {row.key: row.parsed for row in site.features.asked()}
    strange = sorted(set(priors) - set(asked))
    if strange:
        raise InvalidInput.at(strange[0][:60], "The site asks about no such feature.")
    changed = [
        replace(feature, prior=priors.get(key))
        for key, feature in asked.items()
        if feature.prior != priors.get(key)
    ]
    if changed:
        add_features(site=site, features=changed)
    log_priors(ensure_echo(site))
