"""Which answers of authors models may be shown, and how they are kept."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.authors.models import Answer, Author
from apps.authors.services.answers import undo
from apps.authors.services.authors import opt_out
from apps.authors.services.privacy import erase_author, forget_old
from apps.authors.services.trust import set_ruling
from apps.echo.models import Echo
from apps.echo.services.prediction import indexes_of
from apps.echo.services.selection import chooser_for
from labelhub.core.interview.pipeline import AuthorMessage
from tests.factories.authors import author_of, message_of
from tests.factories.echo import FAR, NEAR, TEXT, echo_of, forget_examples, labelled

pytestmark = pytest.mark.django_db


def texts(echo: Echo, key: str) -> set[str]:
    """The texts that models may be shown for a feature now."""
    forget_examples(echo.site_id)
    index = indexes_of(echo.site_id, ()).get(key)
    return {example.text for example in index._examples} if index is not None else set()


def _untrusted(given: Answer) -> None:
    set_ruling(given.author, trusted=False, reason="clicks without reading")


def _left(given: Answer) -> None:
    opt_out(given.author)


def _excluded(given: Answer) -> None:
    Answer.objects.filter(pk=given.pk).update(excluded_at=timezone.now())


def _late(given: Answer) -> None:
    Answer.objects.filter(pk=given.pk).update(late=True)


def _taken_back(given: Answer) -> None:
    Answer.objects.filter(pk=given.pk).update(received_at=timezone.now())
    undo(given.author, given.question.uid)


def _erased(given: Answer) -> None:
    erase_author(given.author)


def _forgotten(given: Answer) -> None:
    forget_old(timezone.now() + timedelta(days=1000))


@pytest.mark.parametrize(
    "falls", [_untrusted, _left, _excluded, _late, _taken_back, _erased, _forgotten]
)
def test_what_does_not_stand_is_shown_no_more(
    echo: Echo, other: Author, falls: Callable[[Answer], None]
) -> None:
    given = labelled(other, NEAR, "urgency", "right_now")
    assert texts(echo, "urgency") == {NEAR}
    falls(given)
    assert texts(echo, "urgency") == set()


def test_what_echo_takes_for_clicks_at_random_is_not_shown(echo: Echo, other: Author) -> None:
    labelled(other, NEAR, "urgency", "right_now")
    assert indexes_of(echo.site_id, {other.uid.hex}) == {}


def test_another_sites_answers_are_not_shown(echo: Echo) -> None:
    labelled(author_of(echo_of().site), NEAR, "urgency", "right_now")
    assert texts(echo, "urgency") == set()


@pytest.mark.parametrize("answers", [1, 12])
def test_looking_up_examples_takes_as_many_queries_for_many_answers(
    echo: Echo, author: Author, other: Author, django_assert_num_queries: Any, answers: int
) -> None:
    for number in range(answers):
        labelled(
            other,
            f"{NEAR} {number}",
            ("urgency", "budget")[number % 2],
            ("soon", "lowest")[number % 2],
        )
    forget_examples(echo.site_id)
    with django_assert_num_queries(2):
        indexes_of(echo.site_id, ())
    with django_assert_num_queries(0):
        indexes_of(echo.site_id, ())
    message, features = message_of(author, TEXT), list(echo.site.features.asked())
    shown = AuthorMessage(TEXT, "en")
    chooser_for(message, shown, features, ())
    with django_assert_num_queries(0):
        chooser = chooser_for(message, shown, features, ())
        assert chooser is not None
        chooser.calls_for([feature.parsed for feature in features], 5)


def test_new_answers_are_read_alone_and_other_features_stay_as_they_are(
    echo: Echo, other: Author, monkeypatch: Any
) -> None:
    labelled(other, NEAR, "urgency", "soon")
    labelled(other, NEAR, "budget", "lowest")
    monkeypatch.setattr("apps.echo.services.prediction.FRESH", -1.0)
    before = indexes_of(echo.site_id, ())
    labelled(other, FAR, "urgency", "no_hurry")
    after = indexes_of(echo.site_id, ())
    assert after["budget"] is before["budget"]
    assert len(after["urgency"]._examples) == 2


def test_the_newest_answers_of_a_feature_are_kept(
    echo: Echo, other: Author, monkeypatch: Any
) -> None:
    monkeypatch.setattr("apps.echo.services.prediction.MOST_OF_FEATURE", 2)
    for number in range(4):
        labelled(other, f"{NEAR} {number}", "urgency", "soon")
    assert texts(echo, "urgency") == {f"{NEAR} 2", f"{NEAR} 3"}
