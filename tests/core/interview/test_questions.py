"""Ready questions, and the order in which options are shown."""

from collections import Counter
from dataclasses import replace

from labelhub.core.interview.features import Template
from labelhub.core.interview.questions import shuffled, template_draft
from tests.cases import all_cases
from tests.core.interview.cases import CAUSE, GOOD, RECIPIENT, URGENCY, WORD


def test_a_template_offers_the_predicted_value() -> None:
    draft = template_draft(URGENCY, "soon", "en")
    assert draft is not None
    assert (draft.source, draft.kind, draft.ordinal) == ("template", "choice", True)
    assert draft.predicted == "Fairly soon"
    assert draft.values[draft.predicted] == "soon"


@all_cases("predicted", RECIPIENT.values)
def test_of_many_values_the_predicted_one_and_three_others_are_shown(predicted: str) -> None:
    draft = template_draft(RECIPIENT, predicted, "en")
    assert draft is not None
    assert len(draft.options) == 4
    assert draft.values[draft.predicted] == predicted
    order = [RECIPIENT.values.index(draft.values[option]) for option in draft.options]
    assert order == sorted(order)


def test_there_is_no_template_for_another_language_or_an_unknown_value() -> None:
    assert template_draft(URGENCY, "soon", "nl") is None
    assert template_draft(URGENCY, "yesterday", "en") is None
    assert template_draft(CAUSE, "boredom", "en") is None


def test_an_open_choice_offers_the_predicted_words_and_three_of_its_own() -> None:
    options = {letter: f"Cause {letter}" for letter in "abcd"}
    feature = replace(CAUSE, templates={"en": Template("What caused it?", options)})
    draft = template_draft(feature, "a noisy street", "en")
    assert draft is not None
    assert draft.options == ("a noisy street", "Cause a", "Cause b", "Cause c")
    assert draft.predicted == "a noisy street"
    assert not draft.values
    assert template_draft(feature, " ", "en") is None


def test_a_question_for_one_word_has_no_options() -> None:
    draft = template_draft(replace(WORD, templates={"en": Template("Which?")}), "quiet", "en")
    assert draft is not None
    assert (draft.kind, draft.options, draft.predicted) == ("word", (), "")


def test_an_order_is_the_same_for_the_same_seed() -> None:
    assert shuffled(GOOD, "impression-1") == shuffled(GOOD, "impression-1")


def test_a_scale_is_kept_or_turned_round_about_equally_often() -> None:
    orders = Counter(shuffled(GOOD, f"seed {number}") for number in range(400))
    assert set(orders) == {GOOD.options, GOOD.options[::-1]}
    assert 150 < orders[GOOD.options] < 250


def test_other_options_come_in_every_order_about_equally_often() -> None:
    nominal = replace(GOOD, ordinal=False)
    orders = Counter(shuffled(nominal, f"seed {number}") for number in range(4800))
    assert len(orders) == 24
    assert min(orders.values()) > 140
    assert max(orders.values()) < 270


def test_nothing_is_lost_by_shuffling() -> None:
    for draft in (GOOD, replace(GOOD, ordinal=False), replace(GOOD, options=())):
        assert sorted(shuffled(draft, "x")) == sorted(draft.options)
