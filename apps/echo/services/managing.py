"""What a manager does to a site's Echo: settings all at once, priors, the instruction in use."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction

from apps.authors.models import Site
from apps.authors.services.feature_files import add_features
from apps.echo.models import Echo, PromptSearch
from apps.echo.selectors.echoes import get_echo
from apps.echo.services.choosing import forget_known
from apps.echo.services.instructing import drop_instruction, use_instruction
from apps.echo.services.switching import switch_echo, tell_priors, update_echo
from labelhub.core.errors import InvalidInput, NotFound


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
    tell_priors(ensure_echo(site))


@transaction.atomic
def set_instruction(site: Site, feature: str, search_id: int | None) -> PromptSearch | None:
    """Predict a feature with what one of its searches found; None: without an instruction.

    Raises:
        NotFound: the site has no such feature, or the feature no such search.
        Conflict: Echo was never on, or the search found nothing that may be used.
    """
    # Whoever changes it meanwhile, a search that ends as well, waits here.
    echo = Echo.objects.select_for_update(no_key=True).get(pk=get_echo(site).pk)
    if not site.features.filter(key=feature).exists():
        raise NotFound("This site has no such feature.")
    if search_id is None:
        drop_instruction(echo, feature)
        found = None
    else:
        search = echo.searches.filter(feature=feature, pk=search_id).first()
        if search is None:
            raise NotFound("This feature has no such search.")
        found = use_instruction(search)
    forget_known(site.pk)
    return found
