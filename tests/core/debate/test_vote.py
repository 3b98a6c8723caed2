"""Votes against canned replies: several models, each asked alone."""

from typing import Any

from labelhub.core.debate.outcome import Outcome
from labelhub.core.llm.types import Reply
from tests.cases import all_cases
from tests.core.debate.canned import FAILED, REFUSED, UNREAD, fenced, played, says


def voted(*answers: str | Reply, **where: Any) -> Outcome:
    letters = "abcdefghi"[: len(answers)]
    said = {
        f"annotator_{letter}": says(answer) if isinstance(answer, str) else answer
        for letter, answer in zip(letters, answers, strict=True)
    }
    return played("vote", said, given={"annotators": len(answers)}, **where).outcome


def test_all_are_asked_at_once_and_know_nothing_of_each_other() -> None:
    debate = played("vote", {"*": says("Dovish")})
    roles = ["annotator_a", "annotator_b", "annotator_c"]
    assert debate.steps == [roles]
    (calls,) = debate.asked
    assert [call.role for call in calls] == roles
    assert [call.sample for call in calls] == [1, 2, 3]
    assert {call.messages for call in calls} == {calls[0].messages}
    assert all(call.params == {"temperature": 0} for call in calls)
    assert fenced(debate.read("annotator_b")) == ["The soup was cold and the bill was high."]
    assert "nnotator_" not in debate.read("annotator_a")


@all_cases(
    ("answers", "value", "flags"),
    [
        (["Dovish", "Dovish", "Dovish"], "Dovish", ()),
        (["Dovish", "Neutral", "Dovish"], "Dovish", ()),
        (["Dovish", "Neutral", "Hawkish"], None, ("tie",)),
        (["Dovish", "Neutral"], None, ("tie",)),
        (["Dovish", UNREAD, REFUSED], "Dovish", ("unparsed", "refused", "no_majority")),
        (["Dovish", UNREAD], "Dovish", ("unparsed", "no_majority")),
        ([UNREAD, REFUSED], None, ("unparsed", "refused")),
        (["Dovish", "Dovish", FAILED], "Dovish", ("failed",)),
    ],
)
def test_the_majority_decides(
    answers: list[str | Reply], value: str | None, flags: tuple[str, ...]
) -> None:
    outcome = voted(*answers)
    assert (outcome.value, outcome.flags, outcome.failed) == (value, flags, False)
    assert outcome.signals["first"] == (answers[0] if isinstance(answers[0], str) else None)
