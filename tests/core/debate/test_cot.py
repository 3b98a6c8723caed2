"""Chain of thought against canned replies: one call, free text, reasons before the answer."""

from labelhub.core.llm.types import Reply, Status
from tests.cases import all_cases
from tests.core.debate.canned import FAILED, STANCE, fenced, played, says

SAID = 'It says "rates stay".\n- Dovish: "rates stay"\nFinal Decision: Dovish'
TEXT = "The bank says rates stay."


def test_one_call_for_reasons_in_free_text() -> None:
    debate = played("cot", {"annotator": SAID}, text=TEXT)
    assert debate.steps == [["annotator"]]
    assert debate.call("annotator").params == {"temperature": 0, "logprobs": True}
    assert "Let's think step by step." in debate.read("annotator")
    assert fenced(debate.read("annotator")) == [TEXT]


def test_the_answer_is_the_outcome_with_its_reasons() -> None:
    outcome = played("cot", {"annotator": SAID}, text=TEXT).outcome
    assert outcome.value == "Dovish"
    assert outcome.evidence == {"Dovish": ("rates stay",)}
    assert outcome.rationale == 'It says "rates stay".\n- Dovish: "rates stay"'
    assert (outcome.flags, outcome.uncertainty, outcome.failed) == ((), None, False)


@all_cases("status", [each for each in Status if each is not Status.OK])
def test_no_answer_is_no_label(status: Status) -> None:
    outcome = played("cot", {"annotator": Reply("words", status=status)}).outcome
    assert (outcome.value, outcome.uncertainty) == (None, 1.0)
    assert outcome.flags == (str(status),)
    assert outcome.failed == (status is Status.FAILED)


def test_a_failed_call_can_be_tried_again() -> None:
    assert played("cot", {"annotator": FAILED}).outcome.failed
    assert played("cot", {"annotator": says("Dovish")}, asked=STANCE).outcome.value == "Dovish"
