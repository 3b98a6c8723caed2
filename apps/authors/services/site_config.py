"""What a process remembers of a site's configuration, and the plug-ins of the apps above.

Choosers of features and makers of offers register here once, when the server starts.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol, TypeAlias
from uuid import UUID

from apps.authors.models import Author, Feature, Message, Site
from apps.authors.selectors.sites import FRESH
from apps.authors.services.limits import AskedQuestion
from apps.llm.models import ModelSpec
from apps.llm.services import ensure_builtin
from labelhub.core.interview.calls import Chooser
from labelhub.core.interview.features import Feature as Definition
from labelhub.core.interview.pipeline import AuthorMessage


@dataclass(frozen=True)
class SiteConfig:
    """The features that a site asks about, in its order, and the model that words the questions."""

    features: tuple[Feature, ...]
    spec: ModelSpec
    read_at: float

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        return tuple(_interned(feature.parsed) for feature in self.features)


@lru_cache(maxsize=10_000)
def _interned(definition: Definition) -> Definition:
    """The first of equal definitions: what is remembered by one is found without comparing it field
    by field each time."""
    return definition


_configs: dict[str, SiteConfig] = {}


def config_of(site: Site) -> SiteConfig:
    """The site's kit, as old as what a process believes of a site may be."""
    now = time.monotonic()
    known = _configs.get(site.public_key)
    if known is not None and now - known.read_at < FRESH:
        return known
    if len(_configs) > 1000:
        _configs.clear()
    features = tuple(Feature.objects.filter(site=site).asked())
    read = {row.pk: row for row in (known.features if known else ())}
    for row in features:
        old = read.get(row.pk)
        if old is not None and "parsed" in vars(old) and old.definition == row.definition:
            vars(row)["parsed"] = old.parsed
    kit = SiteConfig(features, site.model or ensure_builtin(), now)
    _configs[site.public_key] = kit
    return kit


class MessageChooser(Chooser, Protocol):
    """A chooser for one message, which keeps what it chose."""

    def store(self) -> None:
        """Write down what was chosen and why; in the transaction that stores the questions."""
        ...


ChooserFor: TypeAlias = Callable[
    [Message, AuthorMessage, Sequence[Feature], Sequence[AskedQuestion]], MessageChooser | None
]
_choosers: list[ChooserFor] = []


def register_chooser(chooser_for: ChooserFor) -> None:
    """Let ``chooser_for`` decide at the sites for whose messages it has a chooser."""
    if chooser_for not in _choosers:
        _choosers.append(chooser_for)


def chooser_for(
    message: Message,
    shown: AuthorMessage,
    features: Sequence[Feature],
    asked: Sequence[AskedQuestion],
) -> MessageChooser | None:
    """Who decides for this message, ``shown`` to models; None: what its author was asked about
    least."""
    for known in _choosers:
        chooser = known(message, shown, features, asked)
        if chooser is not None:
            return chooser
    return None


class Offers:
    """Offers to authors; here there are none, until an app above registers its own."""

    def made_at(self, site_id: int) -> bool:
        """Whether authors of the site may be offered something: they are told before they agree."""
        return False

    def waiting(self, author_ids: Sequence[int]) -> list[int]:
        """Authors with an offer that was not delivered yet."""
        return []

    def next(self, author: Author) -> Mapping[str, Any] | None:
        """The offer to bring, as the widget takes it; brought from now on."""
        return None

    def record_event(
        self, author: Author, uid: UUID, event: str, ref: str, feature: str = ""
    ) -> None:
        """Record an event of an offer; idempotent by ``ref``. ``feature``: what mattered most, with
        the event "mattered".

        Raises:
            UnknownQuestion, NotYours, BadField: nothing is written.
        """

    def withdraw(self, author_id: int) -> None:
        """Nothing is offered at what the author has written so far, and what is on their pages goes
        off them."""

    def data_of(self, author: Author) -> Sequence[Mapping[str, Any]]:
        """What the author was offered and did with it, for their data export; oldest first."""
        return ()

    def withdrawn(self, uids: Collection[UUID]) -> set[UUID]:
        """Those of the offers that are to go off the pages."""
        return set()

    def delivered(self, author: Author) -> set[UUID]:
        """The last offers that were brought to the author: a page may still have them."""
        return set()


_offers = [Offers()]


def register_offers(offers: Offers) -> None:
    _offers[:] = [offers]


def offers() -> Offers:
    return _offers[0]


def next_offer(author: Author) -> Mapping[str, Any] | None:
    """The offer to bring to an author, unless they have opted out."""
    return offers().next(author) if author.opted_out_at is None else None
