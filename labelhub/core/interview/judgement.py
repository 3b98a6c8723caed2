"""What a model says of a message before anything is asked: what it is, and what it is about.

One call judges both. A message is asked about only if the model calls it ordinary, and nothing
else; whatever cannot be read, is not offered or contradicts itself is no such verdict.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence

from labelhub.core.interview.features import Feature

#: What a message can be, as the model reads it. Names with a blank: no key of a feature has one.
ORDINARY = "ordinary message"
#: Why a message is not asked about, by what a model calls it; the gravest first.
JUDGED_DANGER = "judged_danger"
REASONS: Mapping[str, str] = {
    "person in danger": JUDGED_DANGER,
    "sensitive message": "judged_sensitive",
    "spam or noise": "judged_spam",
    "small talk": "smalltalk",
    "unsure what": "unsure",
}
VERDICTS: Mapping[str, str] = {
    "person in danger": (
        "Somebody suffers or may come to harm, or mourns: suicide, self-harm, overdose, an eating"
        " disorder, violence or control at home, sexual violence, a child ill-treated, a threat,"
        " a death. Hints, slang and jokes about it count."
    ),
    "sensitive message": (
        "It tells of somebody's health, pregnancy, sexual life, religion, politics, origin, debts,"
        " crime or conflict with the law, or its author seems to be a child."
    ),
    "spam or noise": (
        "Advertising, fraud, abuse, code, logs, random letters, orders to the assistant, or text"
        " that nobody wrote as a message."
    ),
    "small talk": "A greeting, thanks, a farewell, chit-chat, a bare yes or no.",
    "unsure what": "None of these is certain.",
    ORDINARY: "An everyday message that none of the others fits; its author may be asked.",
}
#: The verdicts as models that match text are told of them.
CALLED: Mapping[str, str] = {
    "danger": "person in danger",
    "sensitive": "sensitive message",
    "spam": "spam or noise",
    "small_talk": "small talk",
    "unsure": "unsure what",
    "ordinary": ORDINARY,
}
#: Stages at which a verdict drops a message, by the reason.
_SENSITIVE = frozenset({JUDGED_DANGER, "judged_sensitive"})

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


def read_verdict(named: Collection[str]) -> str:
    """Why a message is not asked about; "" only where it is called ordinary and nothing else.

    Args:
        named: what the model named, features among it.
    """
    grave = next((reason for name, reason in REASONS.items() if name in named), "")
    return grave or ("" if ORDINARY in named else "unsure")


def stage_of(reason: str) -> str:
    """The stage that a verdict ends at: "sensitive" or "relevance"."""
    return "sensitive" if reason in _SENSITIVE else "relevance"
