"""What a site wants to learn from authors: features, and the starter library of them.

A feature is answered by choosing (``choice``), yes or no (``yes_no``), one of several bands of
numbers (``number``), or with one word (``word``). A choice is closed where ``values`` names all it
can be, and open where it names none. Source: paper 004, sections 2.2 and 4 (binary values, closed
sets of labels, and free text, depending on the feature).
"""

from labelhub.core.interview.features.feature import (
    ANSWERS,
    CHOICE,
    NUMBER,
    OPTIONS,
    WORD,
    YES_NO,
    Feature,
    Template,
    derived_words,
)
from labelhub.core.interview.features.library import starter_library
from labelhub.core.interview.features.parsing import MOST_VALUES, parse_feature
from labelhub.core.interview.features.spaces import MOST_BOUNDS

__all__ = [
    "ANSWERS",
    "CHOICE",
    "MOST_BOUNDS",
    "MOST_VALUES",
    "NUMBER",
    "OPTIONS",
    "WORD",
    "YES_NO",
    "Feature",
    "Template",
    "derived_words",
    "parse_feature",
    "starter_library",
]
