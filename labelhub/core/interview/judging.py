"""Which of a site's features a message is held against, where there are too many for one call."""

import hashlib
from collections.abc import Mapping, Sequence

from labelhub.core.interview.features import Feature

#: Features that one call for relevance is asked about: a model that reads of hundreds costs with
#: each of them, and finds fewer.
MOST_JUDGED = 40


def judged_first(
    features: Sequence[Feature],
    asked: Mapping[str, int],
    text: str,
    *,
    most: int = MOST_JUDGED,
) -> tuple[list[Feature], list[Feature]]:
    """The features to judge and those left out, both in the site's order.

    The rule: those that the author was asked about least. Among equals, the site's order from a
    place on that the message draws, so that none is out of reach of everybody, and the same message
    gets the same ones. The places are ``most`` apart: messages share their sets, and what is
    remembered by a set is of use.

    Args:
        features: in the site's order.
        asked: how often the author was asked about a feature already, by its key.
        text: the message.
        most: that are judged, from 1.
    """
    if len(features) <= most:
        return list(features), []
    places = -(-len(features) // most)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    start = int.from_bytes(digest[:8]) % places * most
    turned = [*features[start:], *features[:start]]
    turned.sort(key=lambda feature: asked.get(feature.key, 0))
    keys = {feature.key for feature in turned[:most]}
    return (
        [feature for feature in features if feature.key in keys],
        [feature for feature in features if feature.key not in keys],
    )
