"""Self-consistency against canned replies: samples of one model, counted."""

from typing import Any

from labelhub.core.llm.types import Reply
from tests.cases import all_cases
from tests.core.debate.canned import FAILED, REFUSED, UNREAD, played, says


def sampled(*answers: str | Reply, **where: Any) -> Any:
    replies = {
        f"sample/{sample}": says(answer) if isinstance(answer, str) else answer
        for sample, answer in enumerate(answers, start=1)
    }
    return played("self_consistency", replies, given={"samples": len(answers)}, **where)


@all_cases(
    ("answers", "value", "d_rate", "flags"),
    [
        (["Dovish"] * 5, "Dovish", 1.0, ()),
        (["Dovish"] * 4 + ["Neutral"], "Dovish", 0.6, ()),
        (["Dovish"] * 3 + ["Neutral", "Hawkish"], "Dovish", 0.4, ()),
        (["Dovish"] * 3 + ["Neutral"] * 2, "Dovish", 0.2, ()),
        (["Dovish", "Dovish", "Neutral", "Hawkish", UNREAD], "Dovish", 0.2,
         ("unparsed", "no_majority")),
        (["Dovish"] * 2 + ["Neutral"] * 2 + ["Hawkish"], None, 0.0, ("tie",)),
        (["Dovish"] * 2 + [UNREAD] * 3, "Dovish", 0.0, ("unparsed", "no_majority")),
        (["Dovish"] * 2 + ["Neutral"] * 2 + [REFUSED], None, 0.0, ("refused", "tie")),
        ([UNREAD] * 5, None, 0.0, ("unparsed",)),
        (["Dovish"] * 4 + [FAILED], "Dovish", 0.6, ("failed",)),
    ],
)  # fmt: skip
def test_the_most_frequent_answer_wins(
    answers: list[str | Reply], value: str | None, d_rate: float, flags: tuple[str, ...]
) -> None:
    outcome = sampled(*answers).outcome
    assert (outcome.value, outcome.signals["d_rate"], outcome.flags) == (value, d_rate, flags)
    assert outcome.uncertainty == round(1 - d_rate, 4)
    assert not outcome.failed
