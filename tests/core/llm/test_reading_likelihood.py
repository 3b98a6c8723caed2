"""Probabilities are those at the label's first token, or none at all."""

import math
from collections.abc import Mapping

import pytest

from labelhub.core.llm.parsing import label_probabilities, read_completion
from labelhub.core.llm.types import Call, Completion, Output, TokenChoices
from labelhub.core.schema import schema_from_names
from tests.cases import all_cases

NAMES = ("Dovish", "Hawkish", "Neutral")
IDS = {"Dovish": "0", "Hawkish": "1", "Neutral": "2"}
STANCE = schema_from_names("single", NAMES)
NAN = math.nan
USUAL = {" D": 0.6, " H": 0.3, " The": 0.1}


def sure(token: str) -> TokenChoices:
    """A token beside which nothing else was likely."""
    return TokenChoices(token, 0.0, ((token, 0.0), ("?", -30.0)))


def at_label(token: str, top: Mapping[str, float]) -> TokenChoices:
    """A token with its alternatives by probability."""
    return TokenChoices(
        token, math.log(top[token]), tuple((other, math.log(p)) for other, p in top.items())
    )


def read(*tokens: TokenChoices, decided: str = "") -> dict[str, float]:
    """The probabilities in an answer of these tokens, rounded."""
    text = "".join(token.token for token in tokens)
    found = label_probabilities(text, tokens, NAMES, ids=IDS, decided=decided)
    return {name: round(p, 3) for name, p in found.items()}


def test_the_label_s_first_token_is_taken_and_nothing_beside_the_labels_counts() -> None:
    tokens = (sure("Final"), sure(" Decision"), sure(":"), at_label(" D", USUAL), sure("ovish"))
    assert read(*tokens) == {"Dovish": 0.667, "Hawkish": 0.333}


@pytest.mark.parametrize("before", ["", "The label is", "**Final Decision:**", "First choice:"])
def test_the_decision_may_have_any_form(before: str) -> None:
    tokens = [*([sure(before)] if before else []), at_label(" D", USUAL), sure("ovish")]
    assert read(*tokens) == {"Dovish": 0.667, "Hawkish": 0.333}


def test_the_last_decision_line_counts_and_not_what_was_thought() -> None:
    other = at_label(" H", {" H": 0.9, " N": 0.1})
    thought = [sure("<think>Final Decision:"), other, sure("awkish</think>")]
    first = [sure("Final Decision:"), other, sure("awkish\n")]
    last = [sure("Final Decision:"), at_label(" D", USUAL), sure("ovish\nThe label is Hawkish")]
    assert read(*thought, *first, *last) == {"Dovish": 0.667, "Hawkish": 0.333}


@all_cases(
    "tokens",
    [
        [],
        [sure("I cannot tell.")],
        [sure("Final Decision:"), sure(" Mixed")],
        [sure("Final Decision:"), TokenChoices(" Dovish", -0.1)],
        [sure("Final Decision:"), TokenChoices(" Dovish", -0.1, ((" Dovish", -0.1),))],
        [sure("Final Decision:"), TokenChoices(" D", NAN, ((" D", NAN), (" H", NAN)))],
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_left_out(tokens: list[TokenChoices]) -> None:
    assert read(*tokens) == {}


def test_a_reply_has_the_probabilities_of_its_labels() -> None:
    tokens = (sure("Final Decision:"), at_label(" D", USUAL), sure("ovish"))
    call = Call("annotator", "annotator", (), "", STANCE, "")
    reply = read_completion(call, Completion("Final Decision: Dovish", logprobs=tokens))
    assert list(reply.probabilities) == ["Dovish", "Hawkish"]
    ranked = Call("clerk", "clerk", (), "", STANCE, "", output=Output.RANKING)
    tokens = (sure("First choice:"), *tokens[1:])
    reply = read_completion(ranked, Completion("First choice: Dovish", logprobs=tokens))
    assert list(reply.probabilities) == ["Dovish", "Hawkish"]


ASPECTS = ("Food", "Price", "Staff")


def present(*tokens: TokenChoices) -> dict[str, float]:
    """The probability of each aspect's being in an answer of these tokens, rounded."""
    schema = schema_from_names("multi", ASPECTS)
    text = "".join(token.token for token in tokens)
    call = Call("annotator", "annotator", (), "", schema, "")
    reply = read_completion(call, Completion(text, logprobs=tokens))
    return {name: round(p, 3) for name, p in reply.probabilities.items()}


def test_in_words_the_end_of_the_list_must_be_told() -> None:
    food = at_label(" Food", {" Food": 0.9, " Price": 0.1})
    more = at_label(",", {",": 0.75, "\n": 0.25})
    listed = (sure("Final Decision:"), food, more, sure(" Price"))
    assert present(*listed) == {}, "the answer ends, and nobody tells how surely"
    assert present(*listed, at_label("\n", {"\n": 0.9, ",": 0.1})) == {
        "Food": 1.0, "Price": 0.75, "Staff": 0.075,
    }  # fmt: skip
    assert present(sure("Final Decision:"), sure(" none"), sure("\n")) == {}


def test_in_json_the_value_counts_wherever_it_stands() -> None:
    label = at_label("D", {"D": 0.5, "N": 0.5})
    tokens = [sure('{"reasoning": "Final Decision: Hawkish", "label": "'), label, sure('ovish"}')]
    assert read(*tokens) == {"Dovish": 0.5, "Neutral": 0.5}


def test_of_a_set_each_label_has_a_probability_of_being_in_it() -> None:
    food = at_label("Food", {"Food": 0.7, "Price": 0.2, "Staff": 0.1})
    more = at_label('",', {'",': 0.9, '"]': 0.1})
    price = at_label("Price", {"Price": 0.8, "Staff": 0.2})
    end = at_label('"]', {'"]': 0.6, '",': 0.4})
    tokens = (sure('{"labels": ["'), food, more, sure(' "'), price, end, sure("}"))
    # Price first and Food next would have been the same set.
    assert present(*tokens) == {"Food": 0.9, "Price": 0.72, "Staff": 0.36}
    alone = (sure('{"labels": ["'), food, end, sure("}"))
    assert present(*alone) == {"Food": 0.7, "Price": 0.4, "Staff": 0.4}
