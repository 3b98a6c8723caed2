"""The single annotator against canned replies."""

import pytest

from labelhub.core.llm.types import Reply, Status
from labelhub.core.schema import Schema
from tests.core.debate.canned import STANCE, Play, played

SAID = '- Price: "the bill was high"\nFinal Decision: Price'


@pytest.mark.parametrize(
    "status", [Status.UNPARSED, Status.REFUSED, Status.TRUNCATED, Status.FAILED]
)
def test_no_answer_is_no_label(play: Play, status: Status) -> None:
    outcome = play("single", {"annotator": Reply("words", status=status)})
    assert outcome.value is None
    assert (outcome.flags, outcome.uncertainty) == ((str(status),), 1.0)
    assert outcome.failed == (status is Status.FAILED)


def test_probabilities_tell_how_sure_an_answer_is(play: Play) -> None:
    reply = Reply(SAID, value=["Price"], probabilities={"Price": 0.9, "Food": 0.35})
    outcome = play("single", {"annotator": reply})
    assert (outcome.signals["margin"], outcome.uncertainty) == (0.3, 0.7)
    assert outcome.signals["margin_unknown"] == ""
    reply = Reply(SAID, value="Dovish", probabilities={"Dovish": 0.6, "Hawkish": 0.3})
    assert play("single", {"annotator": reply}, asked=STANCE).signals["margin"] == 0.3


@pytest.mark.parametrize(
    ("reply", "flag"),
    [
        (Reply(SAID, value=["Price"], rung=4), "lenient"),
        (Reply(SAID, value=["Price"], cut_off=True), "cut_off"),
    ],
)
def test_an_answer_in_another_form_is_flagged(play: Play, reply: Reply, flag: str) -> None:
    outcome = play("single", {"annotator": reply})
    assert (outcome.value, outcome.flags) == (["Price"], (flag,))


def test_quotations_may_be_asked_for_after_the_label(schema: Schema) -> None:
    said = 'Final Decision: Price\n- Price: "the bill was high"; "never said"'
    debate = played(
        "single", {"annotator": said}, asked=schema, given={"quotes": "after the label"}
    )
    form = debate.read("annotator").rpartition("</text id=")[2]
    assert form.index("Final Decision:") < form.index("- NAME:")
    assert debate.outcome.value == ["Price"]
    assert debate.outcome.evidence == {"Price": ("the bill was high",)}
