"""What a site's pages count: by bar, by feature, by window, in as many queries for any traffic."""

from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from django.utils import timezone

from apps.authors.models import Answer, Author, Message, Question, Site
from apps.authors.selectors.funnel import (
    WINDOWS,
    answers_since,
    funnels_by_feature,
    funnels_of,
    position_check_of,
    site_traffic,
    start_of,
)
from tests.factories.authors import author_of, site_with_features

pytestmark = pytest.mark.django_db
NOW = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0)
_refs = count(1)


def wrote(author: Author, days_ago: int = 0, dropped_at: str = "", **fields: Any) -> Message:
    """A message that was asked about, or was dropped at a stage."""
    conversation, _ = author.conversations.get_or_create(ref="talk")
    status = Message.Status.DROPPED if dropped_at else Message.Status.ASKED
    usual: dict[str, Any] = {"status": status, "dropped_at": dropped_at, "role": "author"}
    return Message.objects.create(
        conversation=conversation,
        author=author,
        ref=f"m-{next(_refs)}",
        received_at=NOW - timedelta(days=days_ago),
        **(usual | fields),
    )


def questioned(message: Message, status: str, **fields: Any) -> Question:
    """A question about it, of the site's first feature unless told otherwise."""
    site = message.author.site
    feature = site.features.get(key=fields.pop("feature", "sentiment"))
    number = message.questions.count() + 1
    return Question.objects.create(
        site=site, author=message.author, message=message, feature=feature, number=number,
        kind="choice", text="How?", language="en", source="template", min_ms=5000, status=status,
        created_at=message.received_at, expires_at=message.received_at + timedelta(minutes=10),
        **fields,
    )  # fmt: skip


def answered(question: Question, **fields: Any) -> Answer:
    """What was said to it."""
    usual = {"outcome": "answer", "server_ms": 8000, "timing": "ok"}
    return Answer.objects.create(
        question=question,
        author=question.author,
        ref=f"a-{next(_refs)}",
        received_at=question.created_at,
        **(usual | fields),
    )


def test_messages_are_counted_with_the_stage_that_dropped_them(author: Author) -> None:
    for stage in ("screen", "screen", "sensitive", "relevance", "throttle", "budget"):
        wrote(author, dropped_at=stage)
    wrote(author)
    wrote(author, role="assistant", status=Message.Status.CONTEXT)
    now = site_traffic(author.site, 7, NOW).now
    assert now.messages == 7
    assert now.dropped == {"screen": 2, "sensitive": 1, "relevance": 1, "throttle": 1, "budget": 1}
    assert now.surveys == 1


def test_worth_asking_is_what_only_the_sites_own_limits_kept_back(author: Author) -> None:
    for stage in ("screen", "sensitive", "relevance", "enough"):
        wrote(author, dropped_at=stage)
    for stage in ("throttle", "budget", "model", "interrupted", "prediction", "questions", ""):
        wrote(author, dropped_at=stage)
    assert site_traffic(author.site, 7, NOW).now.taskable == 7


def test_questions_are_counted_by_how_they_ended(author: Author) -> None:
    message = wrote(author)
    for status in ("answered", "nofit", "skipped", "closed", "expired", "waiting"):
        questioned(message, status, shown_at=None if status == "waiting" else NOW)
    questioned(message, "shown", shown_at=NOW, early=3)
    traffic = site_traffic(author.site, 7, NOW)
    now = traffic.now
    assert (now.answered, now.nofit, now.skipped, now.closed, now.expired) == (1, 1, 1, 1, 1)
    assert (traffic.questions, now.shown, now.early) == (7, 6, 1)


@pytest.mark.parametrize("days", WINDOWS)
def test_the_window_before_is_as_long_and_counts_apart(author: Author, days: int) -> None:
    start = start_of(days, NOW)
    for moment in (start, start - timedelta(seconds=1), start - timedelta(days=days)):
        wrote(author, days_ago=0)
        Message.objects.filter(pk=Message.objects.latest("pk").pk).update(received_at=moment)
    wrote(author, days_ago=3 * days)
    traffic = site_traffic(author.site, days, NOW)
    assert (traffic.now.messages, traffic.before.messages) == (1, 2)


def test_another_site_counts_for_itself(author: Author) -> None:
    other = author_of(site_with_features(author.site.project))
    questioned(wrote(other), "answered")
    assert site_traffic(author.site, 7, NOW).now.messages == 0
    found = funnels_of(author.site.project, start_of(7, NOW))
    assert found[author.site_id].messages == 0
    assert (found[other.site_id].messages, found[other.site_id].answered) == (1, 1)


def test_features_have_their_own_funnel(author: Author) -> None:
    message = wrote(author)
    questioned(message, "answered", feature="urgency")
    questioned(message, "nofit", feature="urgency")
    questioned(message, "skipped", feature="budget")
    keys = dict(author.site.features.values_list("key", "pk"))
    found = funnels_by_feature(author.site, start_of(7, NOW))
    asked, urgency = found[keys["urgency"]]
    assert (asked, urgency.answered, urgency.nofit, urgency.shown) == (2, 1, 1, 2)
    assert found[keys["budget"]][0] == 1
    assert keys["sentiment"] not in found


def test_labels_count_answers_that_stand_and_are_not_excluded(author: Author) -> None:
    for fields in (
        {"server_ms": 6000},
        {"server_ms": 7000, "outcome": "nofit"},
        {"server_ms": 9000, "excluded_at": NOW},
        {"server_ms": 99_000, "undone_at": NOW},
    ):
        answered(questioned(wrote(author), "answered"), **fields)
    found = answers_since(author.site, start_of(7, NOW))
    assert (found.labels, found.excluded, found.n, found.median_ms) == (1, 1, 3, 7000)


def test_places_are_checked_of_shuffled_options_only(author: Author) -> None:
    site: Site = author.site
    for number in range(40):
        answered(questioned(wrote(author), "answered"), position=0 if number < 39 else 1)
        answered(questioned(wrote(author), "answered", feature="urgency"), position=3)
    found = position_check_of(site, list(site.features.all()), start_of(7, NOW))
    assert (found.n, found.alarm) == (40, True)


def test_the_counts_take_as_many_queries_for_any_traffic(
    author: Author, django_assert_num_queries: Any
) -> None:
    features = list(author.site.features.all())
    for _ in range(2):
        with django_assert_num_queries(3):
            site_traffic(author.site, 91, NOW)
        with django_assert_num_queries(1):
            funnels_by_feature(author.site, start_of(91, NOW))
        with django_assert_num_queries(1):
            position_check_of(author.site, features, start_of(91, NOW))
        with django_assert_num_queries(4):
            funnels_of(author.site.project, start_of(7, NOW))
        for days in range(20):
            answered(questioned(wrote(author, days), "answered"), position=1)
