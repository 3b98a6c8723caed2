"""The single annotator against canned replies."""

import pytest

from labelhub.core.llm.types import Reply, Status
from tests.cases import all_cases
from tests.core.debate.canned import STANCE, Play, played

REPLIES = '- Price: "the bill was high"\nFinal Decision: Price'


@pytest.mark.parametrize(
    "status", [Status.UNPARSED, Status.REFUSED, Status.TRUNCATED, Status.FAILED]
)
def test_no_answer_is_no_label(play: Play, status: Status) -> None:
    outcome = play("single", {"annotator": Reply("words", status=status)})
    assert outcome.value is None
    assert (outcome.flags, outcome.uncertainty) == ((str(status),), 1.0)
    assert outcome.failed == (status is Status.FAILED)


def test_probabilities_tell_how_sure_an_answer_is(play: Play) -> None:
    reply = Reply(REPLIES, value=["Price"], probabilities={"Price": 0.9, "Food": 0.35})
    outcome = play("single", {"annotator": reply})
    assert (outcome.signals["margin"], outcome.uncertainty) == (0.3, 0.7)
    assert outcome.signals["margin_unknown"] == ""
    reply = Reply(REPLIES, value="Dovish", probabilities={"Dovish": 0.6, "Hawkish": 0.3})
    assert play("single", {"annotator": reply}, asked=STANCE).signals["margin"] == 0.3


@all_cases("status", [status for status in Status if status is not Status.OK])
def test_no_answer_after_reasons_is_no_label(status: Status) -> None:
    outcome = played("cot", {"annotator": Reply("words", status=status)}).outcome
    assert (outcome.value, outcome.uncertainty) == (None, 1.0)
    assert outcome.flags == (str(status),)
    assert outcome.failed == (status is Status.FAILED)
