"""Probabilities are those at the label's first token, or none at all."""

import math
from collections.abc import Mapping

import pytest

from labelhub.core.llm.parsing import label_probabilities, margin, read_completion
from labelhub.core.llm.types import Call, Completion, Output, TokenChoices
from labelhub.core.schema import parse_schema, schema_from_names

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
        token, math.log(top[token]), tuple((each, math.log(p)) for each, p in top.items())
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


def test_in_json_the_value_counts_wherever_it_stands() -> None:
    label = at_label("D", {"D": 0.5, "N": 0.5})
    tokens = [sure('{"reasoning": "Final Decision: Hawkish", "label": "'), label, sure('ovish"}')]
    assert read(*tokens) == {"Dovish": 0.5, "Neutral": 0.5}


def test_numbers_stand_for_their_labels() -> None:
    number = at_label(" 0", {" 0": 0.4, "0": 0.1, " 1": 0.25, " Hawk": 0.25})
    assert read(sure("Final Decision:"), number) == {"Dovish": 0.5, "Hawkish": 0.5}


def test_a_sampled_label_need_not_be_the_likeliest() -> None:
    tokens = (at_label("H", {"D": 0.8, "H": 0.2}), sure("awkish"))
    assert read(*tokens, decided="Hawkish") == {"Dovish": 0.8, "Hawkish": 0.2}


@pytest.mark.parametrize(
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


def test_a_token_that_begins_two_labels_tells_nothing() -> None:
    tokens = (at_label("Do", {"Do": 0.9, "H": 0.1}), sure("vish"))
    assert label_probabilities("Dovish", tokens, ("Dovish", "Doubtful", "Hawkish")) == {}


def test_one_name_that_begins_another_tells_nothing() -> None:
    tokens = (at_label("Food", {"Food": 0.9, "Price": 0.1}),)
    assert label_probabilities("Food", tokens, ("Food", "Food and drink", "Price")) == {}


def test_tokens_of_another_text_tell_nothing() -> None:
    tokens = (at_label("D", {"D": 0.9, "H": 0.1}), sure("ovish"))
    assert label_probabilities("Hawkish", tokens, NAMES) == {}
    assert read(*tokens, decided="Hawkish") == {}


def test_the_margin_is_between_the_first_two() -> None:
    assert margin({"a": 0.2, "b": 0.7, "c": 0.1}) == pytest.approx(0.5)
    assert margin({"a": 1.0}) == 1.0
    assert margin({}) is None


def test_a_reply_has_the_probabilities_of_its_labels() -> None:
    tokens = (sure("Final Decision:"), at_label(" D", USUAL), sure("ovish"))
    call = Call("annotator", "annotator", (), "", STANCE, "")
    reply = read_completion(call, Completion("Final Decision: Dovish", logprobs=tokens))
    assert list(reply.probabilities) == ["Dovish", "Hawkish"]
    ranked = Call("clerk", "clerk", (), "", STANCE, "", output=Output.RANKING)
    tokens = (sure("First choice:"), *tokens[1:])
    reply = read_completion(ranked, Completion("First choice: Dovish", logprobs=tokens))
    assert list(reply.probabilities) == ["Dovish", "Hawkish"]


def test_a_scale_s_probabilities_go_by_the_names_of_its_points() -> None:
    labels = [{"name": "low", "point": -1}, {"name": "high", "point": 1}]
    schema = parse_schema({"task": "ordinal", "labels": labels})
    tokens = (sure("Final Decision:"), at_label(" -", {" -": 0.75, " 1": 0.25}), sure("1"))
    call = Call("annotator", "annotator", (), "", schema, "")
    reply = read_completion(call, Completion("Final Decision: -1", logprobs=tokens))
    assert reply.value == -1
    assert reply.probabilities == pytest.approx({"low": 0.75, "high": 0.25})


def test_several_answers_at_once_have_none() -> None:
    schema = schema_from_names("multi", NAMES)
    tokens = (sure("Final Decision:"), at_label(" D", USUAL), sure("ovish"))
    call = Call("annotator", "annotator", (), "", schema, "")
    reply = read_completion(call, Completion("Final Decision: Dovish", logprobs=tokens))
    assert (reply.value, reply.probabilities) == (["Dovish"], {})
