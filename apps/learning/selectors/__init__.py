"""Reading gold to learn from, and what was learnt."""

from apps.learning.selectors.answers import Answers, NotLearnable
from apps.learning.selectors.lesson import Reading, read_gold, read_lesson
from apps.learning.selectors.standing import Standing, standing_of, suspects_of, switch_of

__all__ = [
    "Answers",
    "NotLearnable",
    "Reading",
    "Standing",
    "read_gold",
    "read_lesson",
    "standing_of",
    "suspects_of",
    "switch_of",
]
