"""A feature's model: three parts, blended by what their predictions were worth, tested first."""

import copy
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo import models
from labelhub.core.echo.models import (
    HEAD,
    LLM,
    MOST_VALUES,
    PARTS,
    RATE,
    FeatureModel,
    Prediction,
    part_weights,
    predict,
    teach,
)
from labelhub.core.echo.snapshot import pack_model
from labelhub.core.echo.vectors import vector_of

VALUES = ("now", "later", "never")
TEXTS = ("I need it by Friday", "just looking around", "no thank you", "", "テント")

lessons = st.lists(
    st.tuples(
        st.sampled_from(TEXTS),
        st.sampled_from(VALUES),
        st.sampled_from([VALUES, ()]),
        st.sampled_from(["", "now", "something else"]),
    ),
    max_size=10,
)
Lessons = Sequence[tuple[str, str, Sequence[str], str]]


def taught(told: Lessons) -> FeatureModel:
    model = FeatureModel()
    for text, value, values, said in told:
        teach(model, vector_of(text), value, values, said)
    return model


def losses(said: Prediction, value: str) -> dict[str, float]:
    at = said.values.index(value)
    return {name: -float(np.log(part[at])) for name, part in said.parts.items()}


@given(lessons, st.sampled_from(TEXTS), st.sampled_from([VALUES, ()]), st.sampled_from(["", "now"]))
def test_a_prediction_is_a_distribution_over_what_is_possible(
    told: Lessons, text: str, values: Sequence[str], spoken: str
) -> None:
    said = predict(taught(told), vector_of(text), values, spoken)
    if not said.values:
        assert (said.top, said.probability, said.margin) == ("", 0.0, 0.0)
        return
    for shares in (said.likely, *said.parts.values()):
        assert shares.shape == (len(said.values),)
        assert shares.sum() == pytest.approx(1)
        assert (shares > 0).all()
    assert said.top in said.values
    assert -1e-9 <= said.margin <= said.probability <= 1 + 1e-9
    assert 0 <= said.disagreement <= 1


@given(lessons, st.sampled_from(TEXTS))
def test_to_predict_changes_nothing_and_the_same_lessons_make_the_same_bits(
    told: Lessons, text: str
) -> None:
    model, again = taught(told), taught(told)
    before = pack_model(model)
    one = predict(model, vector_of(text), VALUES, "now")
    assert pack_model(model) == before == pack_model(again)
    assert predict(again, vector_of(text), VALUES, "now").likely.tobytes() == one.likely.tobytes()


@given(lessons)
def test_the_parts_count_for_one_together(told: Lessons) -> None:
    weights = part_weights(taught(told))
    assert set(weights) == set(PARTS)
    assert sum(weights.values()) == pytest.approx(1)
    assert min(weights.values()) >= 0


def test_before_any_answer_every_value_of_a_closed_space_is_as_likely() -> None:
    said = predict(FeatureModel(), vector_of("a tent"), VALUES)
    assert said.likely == pytest.approx(np.full(3, 1 / 3))
    assert (said.top, said.margin, said.disagreement) == ("now", 0.0, 0.0)


def test_before_any_answer_an_open_feature_has_only_what_a_language_model_says() -> None:
    assert predict(FeatureModel(), vector_of("a tent")).values == ()
    said = predict(FeatureModel(), vector_of("a tent"), said="blue")
    assert (said.values, said.probability, said.margin) == (("blue",), 1.0, 1.0)
    assert said.parts[LLM].tolist() == [1.0]


def test_what_a_language_model_says_off_the_menu_is_not_predicted() -> None:
    said = predict(FeatureModel(), vector_of("a tent"), VALUES, "tomorrow")
    assert said.values == VALUES
    assert LLM not in said.parts


def test_off_the_menu_is_counted_against_a_language_model() -> None:
    model = FeatureModel()
    teach(model, vector_of("a tent"), "now", VALUES, "tomorrow")
    assert (model.llm_asked, model.llm_right) == (1, 0)


def test_each_part_is_tested_on_an_answer_before_it_learns_from_it() -> None:
    model = taught([("a tent", "now", VALUES, "")] * 3)
    vector = vector_of("just looking")
    before, foretold = dict(model.losses), predict(model, vector, VALUES, "later")
    teach(model, vector, "later", VALUES, "later")
    for name, loss in losses(foretold, "later").items():
        assert model.losses[name] == pytest.approx(0.98 * before[name] + loss)


def test_a_part_that_did_not_speak_neither_gains_nor_loses_by_it() -> None:
    model = FeatureModel()
    for _ in range(30):
        teach(model, vector_of("a tent"), "now", VALUES)
        teach(model, vector_of("a lamp"), "later", VALUES)
    weights = part_weights(model)
    assert weights[RATE] < weights[LLM] < weights[HEAD]


@pytest.mark.thorough
@pytest.mark.parametrize(("right", "preferred"), [(0.9, LLM), (1 / 3, HEAD)])
def test_the_part_that_predicts_better_comes_to_count(right: float, preferred: str) -> None:
    """Of a language model that knows, messages without signs; of one that guesses, with signs."""
    draws, model = np.random.default_rng(0), FeatureModel()
    words = dict(zip(VALUES, ("friday urgent", "browsing maybe", "unsubscribe stop"), strict=True))
    hits = []
    for at in range(400):
        value = str(draws.choice(VALUES))
        text = "please help me" if preferred == LLM else words[value]
        said = value if draws.random() < right else str(draws.choice(VALUES))
        vector = vector_of(f"{text} {draws.integers(50)}")
        if at >= 200:
            hits.append(predict(model, vector, VALUES, said).top == value)
        teach(model, vector, value, VALUES, said)
    weights = part_weights(model)
    assert max(weights, key=lambda name: weights[name]) == preferred
    assert weights[preferred] > 0.9
    assert np.mean(hits) > 0.85


@pytest.mark.thorough
def test_how_often_a_language_model_was_right_becomes_how_likely_its_word_is() -> None:
    draws, model, found = np.random.default_rng(0), FeatureModel(), []
    for _ in range(600):
        value, knows = str(draws.choice(VALUES)), draws.random() < 0.7
        other = str(draws.choice([each for each in VALUES if each != value]))
        said = value if knows else other
        likely = predict(model, vector_of("hello"), VALUES, said).parts[LLM]
        found.append(float(likely[VALUES.index(said)]))
        teach(model, vector_of("hello"), value, VALUES, said)
    assert found[0] == pytest.approx(0.6)
    assert np.mean(found[100:]) == pytest.approx(0.7, abs=0.05)


def test_words_that_tell_are_learnt_from_few_answers() -> None:
    model = FeatureModel()
    for at in range(20):
        teach(model, vector_of(f"I need it by friday {at}"), "now", VALUES)
        teach(model, vector_of(f"just looking around {at}"), "later", VALUES)
    assert predict(model, vector_of("until friday please"), VALUES).top == "now"
    assert predict(model, vector_of("I am only looking"), VALUES).top == "later"
    assert predict(model, vector_of("I am only looking"), VALUES).probability > 0.7


def test_how_often_each_value_was_given_is_what_is_expected_of_a_strange_message() -> None:
    model = taught([("a tent", "now", VALUES, "")] * 8 + [("a tent", "later", VALUES, "")])
    said = predict(model, vector_of("テント"), VALUES)
    assert said.parts[RATE] == pytest.approx([9 / 12, 2 / 12, 1 / 12])
    assert said.parts[HEAD] == pytest.approx(np.full(3, 1 / 3), abs=0.1)


def test_a_new_value_of_an_open_feature_gets_a_row_and_is_expected_from_then_on() -> None:
    model = taught([("a tent", "blue", (), ""), ("a lamp", "red", (), "")])
    assert model.values == ["blue", "red"]
    assert model.counts.tolist() == [1, 1]
    assert model.head.mean.shape == model.head.var.shape == (2, len(model.places))
    said = predict(model, vector_of("a lamp"))
    assert (said.values, said.top) == (("blue", "red"), "red")
    with_third = predict(model, vector_of("a lamp"), said="green")
    assert with_third.values == ("blue", "red", "green")


def test_of_an_open_feature_no_more_values_are_learnt_than_it_may_hold() -> None:
    model = FeatureModel()
    for at in range(MOST_VALUES):
        teach(model, vector_of("a tent"), f"word {at}")
    full = pack_model(model)
    teach(model, vector_of("a lamp"), "one more")
    assert pack_model(model) == full
    assert len(model.values) == MOST_VALUES
    teach(model, vector_of("a lamp"), "word 3")
    assert pack_model(model) != full


def test_a_value_that_left_the_closed_space_is_expected_no_more() -> None:
    model = taught([("a tent", "some day", ("now", "some day"), "")] * 5)
    said = predict(model, vector_of("a tent"), VALUES)
    assert said.values == VALUES
    assert said.likely.sum() == pytest.approx(1)


def test_each_place_of_any_message_has_one_column_in_order() -> None:
    model = taught([(text, "now", VALUES, "") for text in TEXTS])
    seen = {int(place) for text in TEXTS for place in vector_of(text).places}
    assert model.places.tolist() == sorted(seen)
    assert model.head.mean.shape == (3, len(seen))
    assert model.places.dtype == np.int32


def test_a_column_is_the_same_whenever_it_came() -> None:
    """What was learnt of one message does not shift when another brings places in between."""
    model = taught([("a tent", "now", VALUES, "")] * 4)
    before = predict(model, vector_of("a tent"), VALUES).parts[HEAD]
    models._columns(model, vector_of("entirely other words, with places in between"))
    assert predict(model, vector_of("a tent"), VALUES).parts[HEAD].tobytes() == before.tobytes()


def test_parts_that_agree_do_not_disagree_and_parts_that_differ_do() -> None:
    model = taught([("a tent", "now", VALUES, "now")] * 6)
    together = predict(model, vector_of("a tent"), VALUES, "now")
    apart = predict(model, vector_of("a tent"), VALUES, "never")
    assert together.disagreement < 0.3 < apart.disagreement


def test_a_copy_learns_by_itself() -> None:
    model = taught([("a tent", "now", VALUES, "")])
    before, other = pack_model(model), copy.deepcopy(model)
    teach(other, vector_of("a tent"), "never", VALUES)
    assert pack_model(model) == before


@pytest.mark.thorough
def test_thousands_of_contrary_answers_leave_numbers_one_can_use() -> None:
    draws, model = np.random.default_rng(0), FeatureModel()
    for _ in range(3_000):
        value, said = str(draws.choice(VALUES)), str(draws.choice([*VALUES, ""]))
        teach(model, vector_of(str(draws.choice(TEXTS))), value, VALUES, said)
    assert np.isfinite(model.head.mean).all()
    assert (model.head.var > 0).all()
    said_now = predict(model, vector_of(TEXTS[0]), VALUES, "now")
    assert np.isfinite(said_now.likely).all()
    assert 0 < said_now.probability < 1


def test_what_a_language_model_holds_likely_shows_in_its_part() -> None:
    sure, torn = (
        predict(FeatureModel(), vector_of("a tent"), VALUES, "now", told=told)
        for told in ((0.98, 0.01, 0.01), (0.4, 0.35, 0.25))
    )
    assert sure.parts[LLM].sum() == pytest.approx(1)
    assert sure.probability > torn.probability
    assert sure.margin > torn.margin


def test_probabilities_of_other_values_than_those_there_are_count_for_nothing() -> None:
    plain = predict(FeatureModel(), vector_of("a tent"), VALUES, "now")
    strange = predict(FeatureModel(), vector_of("a tent"), VALUES, "now", told=(0.5, 0.5))
    assert strange.likely.tobytes() == plain.likely.tobytes()


@pytest.mark.thorough
def test_a_language_model_that_is_sure_and_wrong_comes_to_count_for_little() -> None:
    draws, model = np.random.default_rng(0), FeatureModel()
    words = dict(zip(VALUES, ("friday urgent", "browsing maybe", "unsubscribe stop"), strict=True))
    for _ in range(200):
        value, said = str(draws.choice(VALUES)), str(draws.choice(VALUES))
        told = tuple(0.98 if each == said else 0.01 for each in VALUES)
        teach(model, vector_of(words[value]), value, VALUES, said, told=told)
    assert part_weights(model)[LLM] < 0.05


def test_an_answer_counts_by_its_weight_in_every_part() -> None:
    whole, half, none = FeatureModel(), FeatureModel(), FeatureModel()
    for model, weight in ((whole, 1.0), (half, 0.5), (none, 0.0)):
        teach(model, vector_of(TEXTS[0]), "now", VALUES, "now", weight=weight)
    assert 0 == none.losses[HEAD] < half.losses[HEAD] == pytest.approx(whole.losses[HEAD] / 2)
    assert (none.llm_asked, half.llm_asked, whole.llm_asked) == (0, 0.5, 1)
    assert (none.llm_right, half.llm_right, whole.llm_right) == (0, 0.5, 1)
    assert predict(none, vector_of(TEXTS[1]), VALUES).likely == pytest.approx(np.full(3, 1 / 3))
