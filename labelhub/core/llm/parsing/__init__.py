"""From what a model wrote to a label, by a short strict ladder; what is not certain is not a label.

Rungs, kept with every reply:

1. the whole text is JSON that answers the question;
2. so is a JSON object (or a fenced list) within the text, with no decision line after it;
3. the last ``Final Decision: …`` line; where there is none, the last ``The label is X`` sentence or
   ``The present aspects are: …`` line; where there is none either, the last line of hashtags;
4. lenient: the last sentence plainly decides for one offered name (see :mod:`.lenient`);
5. any of these, after the question was put once more; whoever asks again sets it;
6. nothing: the reply is ``unparsed`` (0 is stored with such a reply).

Names count letter for letter (case, width, decoration and hyphens for blanks aside), also by the
number the prompt shows: ``Dovish``, ``0``, ``0: Dovish``. A name that is not offered makes the
reply ``unparsed``, with the name in ``off_menu``. Nothing is ever matched by likeness.
"""

from labelhub.core.llm.parsing.decision import without_thinking
from labelhub.core.llm.parsing.ladder import AFTER_REASK, UNPARSED
from labelhub.core.llm.parsing.likelihood import label_probabilities, margin, set_margin
from labelhub.core.llm.parsing.replies import (
    read_answer,
    read_argument,
    read_completion,
    read_ranking,
)

__all__ = [
    "AFTER_REASK",
    "UNPARSED",
    "label_probabilities",
    "margin",
    "read_answer",
    "read_argument",
    "read_completion",
    "read_ranking",
    "set_margin",
    "without_thinking",
]
