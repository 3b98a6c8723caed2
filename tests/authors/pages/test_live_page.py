"""/sites/<id>/live/: the last messages, each with every verdict and its reason."""

import re

import pytest
from django.test import Client

from apps.authors.models import Site
from tests.authors.pages.reading import page, words
from tests.factories.authors import asked, author_of, message_of

pytestmark = pytest.mark.django_db


def test_a_dropped_message_tells_the_stage_and_the_reason(manager: Client, site: Site) -> None:
    author = author_of(site)
    message_of(author, "hello")
    message_of(author, "With my herniated disc I feel like killing myself.")
    shown = words(manager.get(page(site, "live/")))
    assert "Filter: too short" in shown
    assert "Sensitive topics: mentions a danger or a death" in shown
    assert "the text is not kept" in shown
    assert "herniated" not in shown


def test_who_has_seen_it_is_sent_nothing(manager: Client, site: Site) -> None:
    author = author_of(site)
    question = asked(author)[0]
    rows = page(site, "live/rows/")
    seen: list[str] = []

    def changed() -> bool:
        response = manager.get(rows, {"seen": seen[-1] if seen else ""})
        if response.status_code == 204:
            return False
        found = re.search(r'data-state="(\w+)"', response.content.decode())
        assert found
        seen.append(found[1])
        return True

    assert [changed(), changed()] == [True, False]
    question.status = "skipped"
    question.save()
    assert [changed(), changed()] == [True, False]
    message_of(author, "hello")
    assert [changed(), changed()] == [True, False]


def test_it_shows_one_stage_alone(manager: Client, site: Site) -> None:
    author = author_of(site)
    asked(author)
    message_of(author, "hello")
    rows = page(site, "live/rows/")
    assert "Filter: too short" not in words(manager.get(rows, {"stage": "asked"}))
    assert "Asked about" not in words(manager.get(rows, {"stage": "screen"}))
    assert "No recent messages" in words(manager.get(rows, {"stage": "budget"}))
    both = words(manager.get(rows, {"stage": "nonsense"}))
    assert "too short" in both
    assert "Asked about" in both
