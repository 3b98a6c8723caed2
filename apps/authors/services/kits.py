"""What asking about a message needs of its site, read once for many messages."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from apps.authors.models import Feature, Site
from apps.authors.selectors.sites import FRESH
from apps.llm.models import ModelSpec
from apps.llm.services import ensure_builtin
from labelhub.core.interview.features import Feature as Definition


@dataclass(frozen=True)
class Kit:
    """The features that a site asks about, in its order, and the model that words the questions."""

    features: tuple[Feature, ...]
    spec: ModelSpec
    read_at: float

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """The features' definitions."""
        return tuple(_remembered(feature.parsed) for feature in self.features)


@lru_cache(maxsize=10_000)
def _remembered(definition: Definition) -> Definition:
    """The first of equal definitions: what is remembered by one is found without comparing it field
    by field each time."""
    return definition


_kits: dict[str, Kit] = {}


def kit_of(site: Site) -> Kit:
    """The site's kit, as old as what a process believes of a site may be."""
    now = time.monotonic()
    known = _kits.get(site.public_key)
    if known is not None and now - known.read_at < FRESH:
        return known
    if len(_kits) > 1000:
        _kits.clear()
    features = tuple(Feature.objects.filter(site=site).asked())
    _take_over(known.features if known else (), features)
    kit = Kit(features, site.model or ensure_builtin(), now)
    _kits[site.public_key] = kit
    return kit


def _take_over(before: Iterable[Feature], now: Iterable[Feature]) -> None:
    """What was read of the same definitions before need not be read again: of a thousand features
    that takes longer than fetching them."""
    read = {row.pk: row for row in before}
    for row in now:
        old = read.get(row.pk)
        if old is not None and "parsed" in vars(old) and old.definition == row.definition:
            vars(row)["parsed"] = old.parsed
