"""/p/<slug>/sites/ and a site's first page: what members see, and what is worth a warning."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.roles import Role
from apps.authors.models import Answer, Author, Message, Question, Site
from tests.authors.pages.conftest import browser
from tests.authors.pages.reading import page, words
from tests.factories.authors import asked, author_of, message_of, shown_to, site_with_features
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db


def busy(site: Site) -> Author:
    """One message with two questions, and two messages that are not asked about."""
    author = author_of(site, "customer")
    asked(author)
    shown_to(author)
    message_of(author, "hello!")
    message_of(author, "thanks!")
    return author


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


def test_a_project_without_sites_is_taught_what_they_are() -> None:
    site = site_with_features()
    client = browser(site, Role.MANAGER)
    site.delete()
    shown = words(client.get(f"/p/{site.project.slug}/sites/"))
    assert "Ask the person who wrote it" in shown
    assert "Make the first site" in shown


def test_a_project_of_another_task_says_what_to_do(client: Client) -> None:
    project = ProjectFactory.create()
    client.force_login(member(project, Role.MANAGER))
    for address in ("sites/", "sites/new/"):
        response = client.get(f"/p/{project.slug}/{address}")
        assert "This project asks the same of every text" in words(response)
        assert "/projects/new/?task=per_item" in response.content.decode()
    made = client.get("/projects/new/?task=per_item").content.decode()
    assert re.search(r'value="per_item"[^>]*\schecked', made)


def test_the_list_shows_the_week_in_small(site: Site, viewer: Client) -> None:
    busy(site)
    shown = words(viewer.get(f"/p/{site.project.slug}/sites/"))
    assert "Messages 3 Worth asking 1 Asked about 1 Shown 1 Answered 0" in shown
    assert "Corner shop On https://shop.example.org" in shown
    assert "New site" not in shown


def test_the_list_takes_as_many_queries_for_any_number_of_sites(
    site: Site, manager: Client, django_assert_num_queries: Any
) -> None:
    address = f"/p/{site.project.slug}/sites/"
    manager.get(address)
    with django_assert_num_queries(10, exact=False) as first:
        manager.get(address)
    for _ in range(3):
        busy(site_with_features(site.project))
    with django_assert_num_queries(len(first)):
        manager.get(address)


def test_a_site_without_messages_says_how_to_begin(manager: Client, site: Site) -> None:
    shown = words(manager.get(page(site)))
    assert "Nobody has written here in this time" in shown
    assert "Try it in the preview" in shown


def test_the_funnel_tells_shares_with_their_doubt(manager: Client, site: Site) -> None:
    busy(site)
    shown = words(manager.get(page(site)))
    assert "Messages written by authors 3" in shown
    assert "33 % 6 % to 79 % n 3 of messages" in shown
    assert "Filter Too short, repeated, many links: left alone without a model. 67 %" in shown
    assert "Time pressure" in shown


def test_the_dashboard_takes_as_many_queries_for_any_traffic(
    manager: Client, site: Site, django_assert_num_queries: Any
) -> None:
    author = busy(site)
    with django_assert_num_queries(17, exact=False) as first:
        manager.get(page(site))
    many(author, nofit=20, answered=30, days_ago=1)
    with django_assert_num_queries(len(first)):
        manager.get(page(site, "?days=91"))


def test_a_rise_of_none_fits_is_told_in_words(manager: Client, site: Site) -> None:
    author = busy(site)
    many(author, nofit=5, answered=95, days_ago=9)
    assert "Worse than before" not in words(manager.get(page(site)))
    many(author, nofit=40, answered=60, days_ago=1)
    shown = words(manager.get(page(site)))
    assert "“None of these fit” rose from 5.0% (5 of 100) to 40.0% (40 of 100)" in shown


def test_what_a_label_costs(manager: Client, site: Site) -> None:
    author = busy(site)
    question = author.questions.first()
    assert question is not None
    Message.objects.filter(author=author).update(cost_nanousd=1_000_000)
    Answer.objects.create(
        question=question, author=author, ref="a", outcome="answer", value="Now",
        server_ms=7400, timing="ok",
    )  # fmt: skip
    shown = words(manager.get(page(site)))
    assert "Labels that count 1 none excluded" in shown
    assert "Seconds to answer 7.4 s median, n 1" in shown
    assert "Cost of a label $0.0030" in shown


@pytest.mark.thorough
@pytest.mark.parametrize("given", ["", "0", "8", "x", "-7", "٧"])
def test_a_strange_window_is_the_usual_one(manager: Client, site: Site, given: str) -> None:
    busy(site)
    html = manager.get(page(site), {"days": given}).content.decode()
    assert '<a href="?days=7" aria-current="page">' in html


def test_a_window_longer_than_the_retention_says_what_is_gone(manager: Client, site: Site) -> None:
    busy(site)
    Site.objects.update(retention_days=30)
    gone = "Messages are deleted after 30 days here"
    assert gone not in words(manager.get(page(site, "?days=28")))
    assert gone in words(manager.get(page(site, "?days=91")))


def test_viewers_see_numbers_and_nothing_that_was_written(viewer: Client, site: Site) -> None:
    html = viewer.get(page(site)).content.decode()
    for rest in (
        "live/",
        "install/",
        "authors/",
        "settings/",
        "rewards/",
        "console/",
        "questions/",
    ):
        assert page(site, rest) not in html
        assert viewer.get(page(site, rest)).status_code == 403


def test_a_site_of_another_project_is_nowhere(manager: Client, site: Site) -> None:
    other = site_with_features()
    assert manager.get(f"/p/{site.project.slug}/sites/{other.pk}/").status_code == 404
