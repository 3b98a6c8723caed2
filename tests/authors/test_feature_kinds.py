"""From a message to a label, for every kind of answer a feature may have."""

from typing import Any

import pytest
from django.utils import timezone

from apps.authors.models import Question, Site
from apps.authors.services.answers import SubmittedAnswer, record_answer
from apps.authors.services.questions import ask_now
from apps.authors.services.sites import set_features
from apps.labels.models import Label
from labelhub.core.interview.features import parse_feature
from tests.factories.authors import author_of, message_of, shown_to, site_with_features

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.thorough]
TEXT = "Would a laptop that is sturdy make a good gift near 180, as they say?"
KINDS: dict[str, dict[str, Any]] = {
    "choice": {"values": ["solid", "cheap", "pretty"], "meanings": {"solid": "sturdy"}},
    "scale": {"values": ["low", "middle", "high"], "ordinal": True},
    "yes_no": {"answer": "yes_no", "meanings": {"yes": "gift"}},
    "number": {"answer": "number", "bounds": [50, 100, 200, 500], "unit": "USD"},
    "word": {"answer": "word"},
}
#: Value to the words of its option, where they differ.
WORDS = {
    "yes": "Yes",
    "no": "No",
    "under 50": "under 50 USD",
    "50 to 100": "50 to under 100 USD",
    "100 to 200": "100 to under 200 USD",
    "200 to 500": "200 to under 500 USD",
    "over 500": "500 USD or more",
}


def site_of(kind: str) -> Site:
    raw = {"key": "it", "name": "Wish", "definition": "What it is.", "always": True}
    site = site_with_features()
    set_features(site=site, features=[parse_feature(raw | KINDS[kind])])
    return site


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_becomes_a_question_and_its_answer_a_label(kind: str) -> None:
    author = author_of(site_of(kind))
    questions = ask_now(message_of(author, TEXT).pk)
    assert [question.feature.key for question in questions] == ["it"]
    question = shown_to(author)
    predicted = [option for option in question.options if option["label"] == question.predicted]
    if kind == "word":
        sent = SubmittedAnswer(ref="a", word="quiet")
        expected = "quiet"
    else:
        (chosen,) = predicted
        sent = SubmittedAnswer(ref="a", option=chosen["id"])
        expected = str(chosen["label"])
        assert expected == WORDS.get(chosen["value"], chosen["value"])
    answer = record_answer(
        author, question.uid, sent, consent=author.consents.get(), received=timezone.now()
    )
    assert answer.label_uid is not None
    label = Label.objects.get(uid=answer.label_uid)
    assert label.value == expected
    assert label.item.meta["feature"] == "it"


def test_a_number_s_options_keep_the_order_of_the_scale() -> None:
    author = author_of(site_of("number"))
    ask_now(message_of(author, TEXT).pk)
    result = [option["value"] for option in Question.objects.get(author=author).options]
    scale = ["under 50", "50 to 100", "100 to 200", "200 to 500"]
    assert result in (scale, scale[::-1])
