"""Read the label from a model's reply by a short strict ladder; an uncertain answer is no label.

The rungs, stored with every reply:

1. the whole text is JSON that answers the question;
2. a JSON object (or a fenced list) within the text answers it, and no decision line follows;
3. the last ``Final Decision: …`` line; without one, the last ``The label is X`` sentence or ``The
   present aspects are: …`` line; without these, the last line of hashtags;
4. lenient: the last sentence plainly decides for one offered name (see :mod:`.ladder`);
5. any of these after the question was asked again; the caller that asks again sets it;
6. nothing: the reply is ``unparsed`` (0 is stored with such a reply).

Names must match letter for letter (except for case, width, decoration and hyphens for blanks) or by
the number in the prompt: ``Dovish``, ``0``, ``0: Dovish``. A name that is not offered makes the
reply ``unparsed``, with the name in ``off_menu``. Nothing is matched by similarity.
"""

from labelhub.core.llm.parsing.decision import strip_thinking
from labelhub.core.llm.parsing.ladder import AFTER_REASK, UNPARSED
from labelhub.core.llm.parsing.likelihood import label_probabilities, margin, set_margin
from labelhub.core.llm.parsing.replies import read_answer, read_completion

__all__ = [
    "AFTER_REASK",
    "UNPARSED",
    "label_probabilities",
    "margin",
    "read_answer",
    "read_completion",
    "set_margin",
    "strip_thinking",
]
