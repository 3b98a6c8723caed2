"""A feature's model: three parts, blended by what their predictions were worth, tested first."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.models import (
    HEAD,
    LLM,
    PARTS,
    FeatureModel,
    part_weights,
    predict,
    teach,
)
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


def taught(lessons: Lessons) -> FeatureModel:
    model = FeatureModel()
    for text, value, values, llm_value in lessons:
        teach(model, vector_of(text), value, values, llm_value)
    return model


@given(lessons, st.sampled_from(TEXTS), st.sampled_from([VALUES, ()]), st.sampled_from(["", "now"]))
def test_a_prediction_is_a_distribution_over_what_is_possible(
    given_lessons: Lessons, text: str, values: Sequence[str], spoken: str
) -> None:
    prediction = predict(taught(given_lessons), vector_of(text), values, spoken)
    if not prediction.values:
        assert (prediction.top, prediction.probability, prediction.margin) == ("", 0.0, 0.0)
        return
    for shares in (prediction.likely, *prediction.parts.values()):
        assert shares.shape == (len(prediction.values),)
        assert shares.sum() == pytest.approx(1)
        assert (shares > 0).all()
    assert prediction.top in prediction.values
    assert -1e-9 <= prediction.margin <= prediction.probability <= 1 + 1e-9
    assert 0 <= prediction.disagreement <= 1


@given(lessons)
def test_the_parts_count_for_one_together(given_lessons: Lessons) -> None:
    weights = part_weights(taught(given_lessons))
    assert set(weights) == set(PARTS)
    assert sum(weights.values()) == pytest.approx(1)
    assert min(weights.values()) >= 0


def test_before_any_answer_an_open_feature_has_only_what_a_language_model_says() -> None:
    assert predict(FeatureModel(), vector_of("a tent")).values == ()
    prediction = predict(FeatureModel(), vector_of("a tent"), llm_value="blue")
    assert (prediction.values, prediction.probability, prediction.margin) == (("blue",), 1.0, 1.0)
    assert prediction.parts[LLM].tolist() == [1.0]


@pytest.mark.thorough
@pytest.mark.parametrize(("right", "preferred"), [(0.9, LLM), (1 / 3, HEAD)])
def test_the_part_that_predicts_better_comes_to_count(right: float, preferred: str) -> None:
    """Of a language model that knows, messages without signs; of one that guesses, with signs."""
    draws, model = np.random.default_rng(0), FeatureModel()
    words = dict(zip(VALUES, ("friday urgent", "browsing maybe", "unsubscribe stop"), strict=True))
    hits = []
    for number in range(400):
        value = str(draws.choice(VALUES))
        text = "please help me" if preferred == LLM else words[value]
        llm_value = value if draws.random() < right else str(draws.choice(VALUES))
        vector = vector_of(f"{text} {draws.integers(50)}")
        if number >= 200:
            hits.append(predict(model, vector, VALUES, llm_value).top == value)
        teach(model, vector, value, VALUES, llm_value)
    weights = part_weights(model)
    assert max(weights, key=lambda name: weights[name]) == preferred
    assert weights[preferred] > 0.9
    assert np.mean(hits) > 0.85


@pytest.mark.thorough
def test_how_often_a_language_model_was_right_becomes_how_likely_its_word_is() -> None:
    draws, model, found = np.random.default_rng(0), FeatureModel(), []
    for _ in range(600):
        value, knows = str(draws.choice(VALUES)), draws.random() < 0.7
        other = str(draws.choice([possible for possible in VALUES if possible != value]))
        llm_value = value if knows else other
        likely = predict(model, vector_of("hello"), VALUES, llm_value).parts[LLM]
        found.append(float(likely[VALUES.index(llm_value)]))
        teach(model, vector_of("hello"), value, VALUES, llm_value)
    assert found[0] == pytest.approx(0.6)
    assert np.mean(found[100:]) == pytest.approx(0.7, abs=0.05)


@pytest.mark.thorough
def test_thousands_of_contrary_answers_leave_numbers_one_can_use() -> None:
    draws, model = np.random.default_rng(0), FeatureModel()
    for _ in range(3_000):
        value, llm_value = str(draws.choice(VALUES)), str(draws.choice([*VALUES, ""]))
        teach(model, vector_of(str(draws.choice(TEXTS))), value, VALUES, llm_value)
    assert np.isfinite(model.mean).all()
    assert (model.var > 0).all()
    said_now = predict(model, vector_of(TEXTS[0]), VALUES, "now")
    assert np.isfinite(said_now.likely).all()
    assert 0 < said_now.probability < 1


@pytest.mark.thorough
def test_a_language_model_that_is_sure_and_wrong_comes_to_count_for_little() -> None:
    draws, model = np.random.default_rng(0), FeatureModel()
    words = dict(zip(VALUES, ("friday urgent", "browsing maybe", "unsubscribe stop"), strict=True))
    for _ in range(200):
        value, llm_value = str(draws.choice(VALUES)), str(draws.choice(VALUES))
        shares = tuple(0.98 if value_ == llm_value else 0.01 for value_ in VALUES)
        teach(model, vector_of(words[value]), value, VALUES, llm_value, llm_shares=shares)
    assert part_weights(model)[LLM] < 0.05


def test_an_answer_counts_by_its_weight_in_every_part() -> None:
    whole, half, none = FeatureModel(), FeatureModel(), FeatureModel()
    for model, weight in ((whole, 1.0), (half, 0.5), (none, 0.0)):
        teach(model, vector_of(TEXTS[0]), "now", VALUES, "now", weight=weight)
    assert 0 == none.losses[HEAD] < half.losses[HEAD] == pytest.approx(whole.losses[HEAD] / 2)
    assert (none.llm_asked, half.llm_asked, whole.llm_asked) == (0, 0.5, 1)
    assert (none.llm_right, half.llm_right, whole.llm_right) == (0, 0.5, 1)
    assert predict(none, vector_of(TEXTS[1]), VALUES).likely == pytest.approx(np.full(3, 1 / 3))
