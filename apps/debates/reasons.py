"""Why a debate sends its item to people first, in words."""

REASON_WORDS = {
    "extractor_differs": "extractor and judge differ",
    "critic_differs": "critic and judge differ",
    "judge_adds": "the judge added a label",
    "unparsed": "no usable answer",
    "truncated": "the answer was cut off",
    "refused": "the model refused",
    "failed": "the debate failed",
    "injection": "the text tries to give orders",
}


def reason_words(code: str) -> str:
    """The reason as people read it; a code without words as it is, blanks for underscores."""
    return REASON_WORDS.get(code, code.replace("_", " "))
