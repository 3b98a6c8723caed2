"""The two answers of a trial: how the second is had, and that lots are settled by the item."""

from labelhub.core.debate.judges import Candidates, candidates
from labelhub.core.debate.outcome import DebateItem
from labelhub.core.llm.types import Reply
from labelhub.core.schema import Schema, Value, parse_schema, schema_from_names
from tests.cases import all_cases
from tests.core.debate.canned import STANCE

YES_NO = schema_from_names("single", ["Yes", "No"])
SCALE = schema_from_names("ordinal", ["poor", "fair", "good"])
CHOICES = parse_schema({"task": "per_item"})


def two(hearing: Reply, schema: Schema = STANCE, item: DebateItem | None = None) -> Candidates:
    assert hearing.value is not None
    return candidates(hearing.value, hearing, item or DebateItem("1", "text"), schema)


@all_cases(
    ("hearing", "schema", "second", "how"),
    [
        (Reply(value="Dovish", ranking=("Dovish", "Neutral")), STANCE, "Neutral", "ranking"),
        (Reply(value="Dovish", ranking=("Dovish", "Dovish", "Hawkish")),
         STANCE, "Hawkish", "ranking"),
        (Reply(value="Yes", ranking=("Yes",)), YES_NO, "No", "only other"),
        (Reply(value="Yes"), YES_NO, "No", "only other"),
        (Reply(value="Dovish", probabilities={"Dovish": 0.6, "Neutral": 0.3, "Hawkish": 0.1}),
         STANCE, "Neutral", "probabilities"),
        (Reply(value="Dovish", probabilities={"Dovish": 0.2, "Hawkish": 0.1}),
         STANCE, "Hawkish", "probabilities"),
        (Reply(value=3, probabilities={"good": 0.6, "poor": 0.3}), SCALE, 1, "probabilities"),
        (Reply(value=3, ranking=(3, 2)), SCALE, 2, "ranking"),
    ],
)  # fmt: skip
def test_the_second_is_what_the_hearing_tells(
    hearing: Reply, schema: Schema, second: Value, how: str
) -> None:
    found = two(hearing, schema)
    assert (found.first, found.second, found.second_by) == (hearing.value, second, how)


def test_one_choice_is_argued_for_by_both() -> None:
    found = two(Reply(value="a"), CHOICES, DebateItem("1", "text", options=("a",)))
    assert (found.first, found.second) == ("a", "a")
