"""Features and drafts that several tests of interviews share."""

from dataclasses import replace
from typing import Any

from labelhub.core.interview.features import Feature, parse_feature
from labelhub.core.interview.questions import Draft

URGENCY: Feature = parse_feature(
    {
        "key": "urgency",
        "name": "Urgency",
        "definition": "How pressing the matter was.",
        "values": ["no_hurry", "later", "soon", "right_now"],
        "ordinal": True,
        "cues": ["urgent", "today"],
        "templates": {
            "en": {
                "question": "How urgent was this to you?",
                "options": {
                    "no_hurry": "Not at all",
                    "later": "Some time",
                    "soon": "Fairly soon",
                    "right_now": "Right now",
                },
            }
        },
    }
)
RECIPIENT: Feature = parse_feature(
    {
        "key": "recipient",
        "name": "For whom",
        "definition": "For whom it is meant.",
        "values": ["myself", "family", "friend", "colleagues", "stranger", "pet"],
        "always": True,
        "templates": {
            "en": {
                "question": "Whom did you think of?",
                "options": {
                    "myself": "Me",
                    "family": "My family",
                    "friend": "A friend",
                    "colleagues": "Colleagues",
                    "stranger": "A stranger",
                    "pet": "My pet",
                },
            }
        },
    }
)
CAUSE: Feature = parse_feature({"key": "cause", "name": "Cause", "definition": "What caused it."})
WORD: Feature = parse_feature(
    {"key": "trait", "name": "Trait", "definition": "What mattered.", "answer": "word"}
)

GOOD = Draft(
    feature="urgency",
    kind="choice",
    text="How urgent did this feel when you wrote it?",
    options=("No hurry", "Within weeks", "Within days", "Today"),
    values={
        "No hurry": "no_hurry",
        "Within weeks": "later",
        "Within days": "soon",
        "Today": "right_now",
    },
    predicted="Within days",
    language="en",
    ordinal=True,
)


def asking(text: str, language: str = "en") -> Draft:
    """The good draft with another question."""
    return replace(GOOD, text=text, language=language)


def offering(*options: str, **changes: Any) -> Draft:
    """The good draft with other options, for the values in their order."""
    values = dict(zip(options, URGENCY.values, strict=False))
    return replace(
        GOOD, **{"options": options, "values": values, "predicted": options[0], **changes}
    )
