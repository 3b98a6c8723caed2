"""Probabilities are those at the label's first token, or none at all."""

import math
from collections.abc import Mapping

import pytest

from labelhub.core.llm.parsing import label_probabilities, margin, read_completion, set_margin
from labelhub.core.llm.types import Call, Completion, Output, TokenChoices
from labelhub.core.schema import parse_schema, schema_from_names
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


def of(names: tuple[str, ...], *tokens: TokenChoices, decided: str = "") -> dict[str, float]:
    """The probabilities of other names in an answer of these tokens, rounded."""
    text = "".join(token.token for token in tokens)
    found = label_probabilities(text, tokens, names, decided=decided)
    return {name: round(p, 3) for name, p in found.items()}


def test_labels_that_share_their_first_token_are_told_apart_at_the_next() -> None:
    names = ("Dovish", "Doubtful", "Hawkish")
    first = at_label(" Do", {" Do": 0.8, " H": 0.2})
    assert of(names, first, at_label("vish", {"vish": 0.75, "ubt": 0.25})) == {
        "Dovish": 0.6, "Doubtful": 0.2, "Hawkish": 0.2,
    }  # fmt: skip
    assert of(names, first) == {}, "the answer ends before it says which"


def test_a_label_in_many_pieces_is_followed_to_where_it_is_the_only_one() -> None:
    names = ("very negative", "very positive", "neutral")
    tokens = (
        at_label("Very", {"Very": 0.5, "very": 0.3, " neut": 0.2}),
        at_label(" ", {" ": 1.0, "\n": 1e-9}),
        at_label("pos", {"pos": 0.5, "neg": 0.3, "Pos": 0.2}),
        sure("itive"),
    )
    found = of(names, *tokens, decided="very positive")
    # What "very" with a small letter would have led to is not known: half of it for each.
    assert found == {"very positive": 0.5, "very negative": 0.3, "neutral": 0.2}


def test_case_blanks_and_quotation_marks_of_a_token_do_not_matter() -> None:
    shares = {" D": 0.3, "d": 0.2, ' "D': 0.1, "**D": 0.1, "H": 0.2, " hawk": 0.1}
    assert read(sure("Final Decision:"), at_label(" D", shares), sure("ovish")) == {
        "Dovish": 0.7, "Hawkish": 0.3,
    }  # fmt: skip


def test_one_name_that_begins_another_is_told_by_what_comes_after_it() -> None:
    names = ("Food", "Food and drink", "Price")
    food = at_label("Food", {"Food": 0.9, "Price": 0.1})
    assert of(names, food) == {}, "nobody tells how likely the answer was to end here"
    for end in ('"', "\n", "."):
        tokens = (food, at_label(end, {end: 0.5, " and": 0.5}), sure("}"))
        assert of(names, *tokens) == {"Food": 0.45, "Food and drink": 0.45, "Price": 0.1}
    tokens = (food, at_label(" and", {" and": 0.9, "\n": 0.1}), sure(" drink"))
    assert of(names, *tokens) == {"Food and drink": 0.81, "Food": 0.09, "Price": 0.1}


def test_numbers_that_begin_others_are_told_by_what_comes_after_them() -> None:
    names = ("1", "2", "10")
    one = at_label(" 1", {" 1": 0.8, " 2": 0.2})
    assert of(names, one) == {}
    assert of(names, one, at_label("\n", {"\n": 0.75, "0": 0.25})) == {
        "1": 0.6, "2": 0.2, "10": 0.2,
    }  # fmt: skip


def test_a_character_that_tokens_cut_apart_before_the_label_does_no_harm() -> None:
    tokens = (sure("\ufffd"), sure("\ufffd\nFinal Decision:"), at_label(" D", USUAL), sure("ovish"))
    found = label_probabilities("🙂\nFinal Decision: Dovish", tokens, NAMES, decided="Dovish")
    assert {name: round(p, 3) for name, p in found.items()} == {"Dovish": 0.667, "Hawkish": 0.333}


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


ASPECTS = ("Food", "Price", "Staff")


def present(*tokens: TokenChoices) -> dict[str, float]:
    """The probability of each aspect's being in an answer of these tokens, rounded."""
    schema = schema_from_names("multi", ASPECTS)
    text = "".join(token.token for token in tokens)
    call = Call("annotator", "annotator", (), "", schema, "")
    reply = read_completion(call, Completion(text, logprobs=tokens))
    return {name: round(p, 3) for name, p in reply.probabilities.items()}


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


def test_in_words_the_end_of_the_list_must_be_told() -> None:
    food = at_label(" Food", {" Food": 0.9, " Price": 0.1})
    more = at_label(",", {",": 0.75, "\n": 0.25})
    listed = (sure("Final Decision:"), food, more, sure(" Price"))
    assert present(*listed) == {}, "the answer ends, and nobody tells how surely"
    assert present(*listed, at_label("\n", {"\n": 0.9, ",": 0.1})) == {
        "Food": 1.0, "Price": 0.75, "Staff": 0.075,
    }  # fmt: skip
    assert present(sure("Final Decision:"), sure(" none"), sure("\n")) == {}


def test_a_set_is_as_sure_as_its_least_sure_label() -> None:
    assert set_margin({"Food": 0.9, "Price": 0.4, "Staff": 0.05}) == pytest.approx(0.2)
    assert set_margin({}) is None
