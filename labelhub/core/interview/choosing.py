"""Which features a message is looked at for, and which of them its author is asked about.

Without more, those that an author was asked about least come first. A site that learns what to ask
has a chooser of its own: it decides the order, corrects what a model expects by what authors said
before, and says how likely each question was.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from labelhub.core.interview.features import Feature
from labelhub.core.llm.types import Call

#: How likely a model holds each value of a feature, by the feature's key; of those it told of.
Likely: TypeAlias = Mapping[str, Mapping[str, float]]


class Chooser(Protocol):
    """Decides for one message, in this order; each is asked once."""

    def ranked(self, features: Sequence[Feature]) -> Sequence[Feature]:
        """``features``, those most worth a look first; the last may be left out."""
        ...

    def looked_at(self, relevant: Sequence[Feature], most: int) -> Mapping[str, Call | None]:
        """By key, the features whose values a model is asked for (usually ``most``), and the calls
        that ask; None: the interview's own call."""
        ...

    def expected(
        self, relevant: Sequence[Feature], said: Mapping[str, str], likely: Likely
    ) -> Mapping[str, str]:
        """The value expected of each relevant feature by its key, given what a model ``said`` and
        how ``likely`` it held each value."""
        ...

    def wanted(self, candidates: Sequence[str], most: int) -> Mapping[str, float]:
        """Which of the ``candidates`` to ask about, best first, and how likely each was to be."""
        ...


class LeastAsked:
    """What an author was asked about least comes first; in the site's order among equals."""

    def __init__(self, asked: Mapping[str, int]) -> None:
        self._asked = asked

    def ranked(self, features: Sequence[Feature]) -> Sequence[Feature]:
        """See :class:`Chooser`."""
        return sorted(features, key=lambda feature: self._asked.get(feature.key, 0))

    def looked_at(self, relevant: Sequence[Feature], most: int) -> Mapping[str, Call | None]:
        """The first ones, in the interview's own words."""
        return dict.fromkeys([feature.key for feature in relevant[:most]])

    def expected(
        self, relevant: Sequence[Feature], said: Mapping[str, str], likely: Likely
    ) -> Mapping[str, str]:
        """What the model said."""
        return said

    def wanted(self, candidates: Sequence[str], most: int) -> Mapping[str, float]:
        """The first ones, for certain."""
        return dict.fromkeys(candidates[:most], 1.0)
