"""An argument needs words, no label."""

from labelhub.core.llm.parsing import read_argument, read_completion
from labelhub.core.llm.types import Call, Completion, Output, Status
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


def test_an_argument_keeps_its_evidence_and_says_that_it_was_cut() -> None:
    call = Call("defence", "advocate", (), "", STANCE, "They cut rates.", output=Output.ARGUMENT)
    said = '- Dovish: "cut rates"; "invented"\nSo it'
    reply = read_completion(call, Completion(said, finish_reason="length"))
    assert reply.evidence == {"Dovish": ("cut rates",)}
    assert reply.cut_off
