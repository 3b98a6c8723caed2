"""An argument needs words, no label."""

from labelhub.core.llm.parsing import read_argument
from labelhub.core.llm.types import Status
from labelhub.core.schema import schema_from_names
from tests.cases import all_cases

STANCE = schema_from_names("single", ["Dovish", "Hawkish"])


@all_cases(
    ("text", "finish_reason", "refusal", "status"),
    [
        ('The words "cut rates" show it.', "stop", "", Status.OK),
        ("Final Decision: Hawkish", "stop", "", Status.OK),
        ("I'm sorry to say that the defence overlooks the cut.", "stop", "", Status.OK),
        ("I won't mince words: they cut.", "stop", "", Status.OK),
        ("The words show", "length", "", Status.OK),
        ("", "stop", "", Status.UNPARSED),
        ("<think>hm</think>\n", "stop", "", Status.UNPARSED),
        ("<think>hm", "length", "", Status.TRUNCATED),
        ("", "stop", "I cannot do that.", Status.REFUSED),
        ("They cut.", "content_filter", "", Status.REFUSED),
        ("I'm sorry, but I can't argue for that.", "stop", "", Status.REFUSED),
        ("I can’t help with that.", "stop", "", Status.REFUSED),
    ],
)
def test_any_words_are_an_argument(
    text: str, finish_reason: str, refusal: str, status: Status
) -> None:
    reply = read_argument(text, STANCE, (), finish_reason, refusal)
    assert (reply.status, reply.value, reply.rung) == (status, None, 0)
    assert reply.ok or reply.note
