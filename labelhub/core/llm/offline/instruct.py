"""Instructions for predicting a feature: always the same ones, from a fixed list."""

from labelhub.core.llm.types import Call

#: What to look at; each is about something else.
_WAYS = (
    "Go by what the author asks for and leave aside what they only mention on the way.",
    "Look at words of degree and urgency first: they tell how much something matters to them.",
    "Take the plain meaning of the last sentence, where people mostly say what they want.",
    "Ask what must have happened before somebody writes this, and what they hope comes next.",
    "Where feelings and facts point to different things, trust what the author feels.",
    "Short messages leave things unsaid; take what is usual in such a situation.",
    "Negations and conditions turn a meaning round; read them before anything else.",
    "Weigh what is said about the author more than what is said about things or other people.",
)


def instructions(call: Call) -> str:
    """As many as ``call.inputs["count"]`` says, beginning with number ``call.inputs["first"]``."""
    first, count = int(call.inputs.get("first", 0)), int(call.inputs.get("count", 1))
    chosen = (_WAYS[at % len(_WAYS)] for at in range(first, first + count))
    return "\n".join(f"Instruction: {words}" for words in chosen)
