"""Free answers that authors of almost the same words gave."""

from labelhub.core.llm.offline.hearing import near_answers
from labelhub.core.llm.offline.lexicon import Lexicon
from labelhub.core.llm.types import Call


def example_answer(call: Call, book: Lexicon) -> str:
    """The answer of the example most like the text; "" where none is like it."""
    if not call.inputs.get("answers"):
        return ""
    return max(near_answers(call, book), key=lambda each: each[0], default=(0.0, ""))[1]
