"""/sites/<id>/live/: the last messages, each with every verdict and its reason."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from apps.authors.models import Message, Site
from apps.authors.selectors import messages as selector
from apps.authors.selectors.messages import SHOWN, feed
from apps.authors.stages import REASONS, STAGES, stage_rows
from labelhub.core.interview.pipeline import StageVerdict
from tests.authors.pages.reading import page, words
from tests.factories.authors import asked, author_of, message_of, site_with_features

pytestmark = pytest.mark.django_db


def test_nobody_has_written_yet(manager: Client, site: Site) -> None:
    assert "Nobody has written yet" in words(manager.get(page(site, "live/")))


def test_a_message_tells_what_every_stage_said(manager: Client, site: Site) -> None:
    asked(author_of(site), "I need a warm lamp, write to jo@example.org please.")
    shown = words(manager.get(page(site, "live/")))
    assert "[e-mail]" in shown
    assert "jo@example.org" not in shown
    assert "1 taken out: email" in shown or "1 taken out: e-mail" in shown
    assert "How urgent did this feel to you when you wrote it?" in shown
    assert "Asked about" in shown


def test_a_dropped_message_tells_the_stage_and_the_reason(manager: Client, site: Site) -> None:
    author = author_of(site)
    message_of(author, "hello")
    message_of(author, "With my herniated disc I feel like killing myself.")
    shown = words(manager.get(page(site, "live/")))
    assert "Filter: too short" in shown
    assert "Sensitive topics: speaks of a danger or a death" in shown
    assert "the words are not kept" in shown
    assert "herniated" not in shown


def test_what_the_models_have_just_now_says_so(manager: Client, site: Site) -> None:
    message_of(author_of(site))
    assert "With the models" in words(manager.get(page(site, "live/")))


def test_it_shows_one_stage_alone(manager: Client, site: Site) -> None:
    author = author_of(site)
    asked(author)
    message_of(author, "hello")
    rows = page(site, "live/rows/")
    assert "Filter: too short" not in words(manager.get(rows, {"stage": "asked"}))
    assert "Asked about" not in words(manager.get(rows, {"stage": "screen"}))
    assert "None of late" in words(manager.get(rows, {"stage": "budget"}))
    both = words(manager.get(rows, {"stage": "nonsense"}))
    assert "too short" in both
    assert "Asked about" in both


def test_the_list_alone_is_no_page(manager: Client, site: Site) -> None:
    html = manager.get(page(site, "live/rows/")).content.decode()
    assert "<html" not in html


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


def test_the_newest_come_first_and_only_so_many(site: Site) -> None:
    author = author_of(site)
    for number in range(SHOWN + 5):
        message_of(author, f"I am looking for tent number {number} for the summer.")
    rows = feed(site)
    assert len(rows) == SHOWN
    assert [row.message.pk for row in rows] == sorted((r.message.pk for r in rows), reverse=True)


def test_other_sites_and_assistants_are_left_out(site: Site) -> None:
    other = author_of(site_with_features(site.project))
    message_of(other)
    message_of(author_of(site), "Here you are.", role="assistant")
    assert feed(site) == []


def test_one_stage_is_looked_for_so_far_back(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    author = author_of(site)
    message_of(author, "hello")
    message_of(author)
    assert len(feed(site, "screen")) == 1
    monkeypatch.setattr(selector, "SEARCHED", 1)
    assert feed(site, "screen") == []


def test_it_takes_as_many_queries_for_any_number(
    manager: Client, site: Site, django_assert_num_queries: Any
) -> None:
    author = author_of(site)
    asked(author)
    address = page(site, "live/rows/")
    manager.get(address)
    with django_assert_num_queries(7, exact=False) as first:
        manager.get(address)
    author.questions.update(status="answered")
    Message.objects.update(received_at=Message.objects.get().received_at - timedelta(hours=1))
    for number in range(4):
        asked(author, f"I am looking for tent number {number}.")
        author.questions.update(status="answered")
    with django_assert_num_queries(len(first)):
        manager.get(address)


def test_every_stage_of_the_product_has_a_name() -> None:
    result = stage_rows([{"stage": stage, "passed": True} for stage in STAGES])
    assert [item.name for item in result] == [words.name for words in STAGES.values()]


def test_the_verdicts_of_the_models_stages_are_told_with_their_details() -> None:
    relevance = StageVerdict("relevance", passed=True, data={"always": ["mood"], "relevant": []})
    stored = [
        {"stage": relevance.stage, "passed": True, "reason": "", "data": dict(relevance.data)},
        {
            "stage": "prediction",
            "passed": True,
            "reason": "",
            "data": {"predicted": {"mood": "calm"}, "unusable": {"budget": "not_offered"}},
        },
        {
            "stage": "questions",
            "passed": False,
            "reason": "no_question",
            "data": {"questions": {"mood": {"source": "", "failed": "", "faults": [["leading"]]}}},
        },
    ]
    first, second, third = stage_rows(stored)
    assert first.details == ("always: mood",)
    assert second.details == ("mood = calm", "budget: not one of its values")
    assert third.mark == "dropped"
    assert third.reason == REASONS["no_question"]
    assert third.details == ("mood: dropped; refused before for leading",)


def test_verdicts_of_another_version_are_shown_as_they_are() -> None:
    (result,) = stage_rows([{"stage": "brand_new", "passed": False, "reason": "odd", "data": None}])
    assert (result.name, result.reason, result.details) == ("Brand new", "odd", ())
