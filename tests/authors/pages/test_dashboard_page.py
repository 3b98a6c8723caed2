"""/p/<slug>/sites/ and a site's first page: what members see, and what is worth a warning."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.authors.models import Author, Question, Site
from tests.authors.pages.reading import page, words
from tests.cases import all_cases
from tests.factories.authors import asked, author_of, message_of, shown_to, site_with_features

pytestmark = pytest.mark.django_db


def many(author: Author, *, nofit: int, answered: int, days_ago: int) -> None:
    """Questions that ended so, that many days ago."""
    index = timezone.now() - timedelta(days=days_ago)
    first = author.questions.first()
    assert first is not None
    statuses = ["nofit"] * nofit + ["answered"] * answered
    Question.objects.bulk_create(
        Question(
            site=author.site, author=author, message=first.message, feature=first.feature,
            number=100 * days_ago + at_, kind="choice", text="How?", language="en", min_ms=5000,
            source="template", status=status, created_at=index, shown_at=index, expires_at=index,
        )
        for at_, status in enumerate(statuses, 10)
    )  # fmt: skip


@all_cases("days", ["9" * 5000, "28x", "-7", "³"])
def test_days_that_are_not_offered_are_a_week(viewer: Client, site: Site, days: str) -> None:
    for rest in ("", "offers/"):
        assert viewer.get(page(site, rest), {"days": days}).status_code == 200


def busy(site: Site) -> Author:
    """One message with two questions, and two messages that are not asked about."""
    author = author_of(site, "customer")
    asked(author)
    shown_to(author)
    message_of(author, "hello!")
    message_of(author, "thanks!")
    return author


def test_the_list_takes_as_many_queries_for_any_number_of_sites(
    site: Site, manager: Client, django_assert_num_queries: Any
) -> None:
    address = f"/p/{site.project.slug}/sites/"
    manager.get(address)
    with django_assert_num_queries(11, exact=False) as first:
        manager.get(address)
    for _ in range(3):
        busy(site_with_features(site.project))
    with django_assert_num_queries(len(first)):
        manager.get(address)


def test_viewers_see_numbers_and_nothing_that_was_written(viewer: Client, site: Site) -> None:
    html = viewer.get(page(site)).content.decode()
    for rest in ("live", "install", "authors", "settings", "rewards", "console", "questions"):
        assert page(site, f"{rest}/") not in html


def test_the_features_that_were_asked_about_are_listed(manager: Client, site: Site) -> None:
    author = busy(site)
    keys = set(author.questions.values_list("feature__key", flat=True))
    context = manager.get(page(site)).context
    assert {row["feature"].key for row in context["features"]} == keys
    assert context["features_left"] == site.features.count() - len(keys)


def test_a_rise_of_none_fits_is_told_in_words(manager: Client, site: Site) -> None:
    author = busy(site)
    many(author, nofit=5, answered=95, days_ago=9)
    assert "Worse than before" not in words(manager.get(page(site)))
    many(author, nofit=40, answered=60, days_ago=1)
    shown = words(manager.get(page(site)))
    assert "“None of these fit” rose from 5 % (5 of 100) to 40 % (40 of 100)" in shown
