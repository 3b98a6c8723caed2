"""The search of the header: pages, actions, projects and items."""

import re
from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.projects.models import Project
from tests.cases import all_cases
from tests.factories.labels import open_item, queued_items
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(client: Client) -> Project:
    """A project whose viewer is signed in."""
    made = ProjectFactory.create(name="Harbour hotels")
    client.force_login(member(made, Role.VIEWER))
    return made


def search(client: Client, words: str, **more: str) -> str:
    """The page's HTML."""
    response = client.get("/find/", {"q": words} | more)
    assert response.status_code == 200
    return response.content.decode()


def test_nothing_of_other_peoples_projects_is_found(project: Project, client: Client) -> None:
    foreign = ProjectFactory.create(name="Their harbour")
    open_item(foreign, text="The harbour is theirs.")

    html = search(client, "their")

    assert "Nothing found" in html


@all_cases("words", ["%", "_", "100%", "\\", "'; --"])
def test_signs_with_a_meaning_elsewhere_are_only_signs(
    project: Project, client: Client, words: str
) -> None:
    open_item(project, text="plain")

    assert "Nothing found" in search(client, words)


def test_what_is_searched_and_found_is_escaped(project: Project, client: Client) -> None:
    open_item(project, text="<script>alert(1)</script>")

    html = search(client, "<script>")

    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert 'value="&lt;script&gt;"' in html


def test_it_takes_the_same_queries_however_many_items(
    project: Project, client: Client, django_assert_num_queries: Any
) -> None:
    queued_items(project, 9, text="breakfast")

    # session, user, bell; projects; items with project
    with django_assert_num_queries(5):
        search(client, "breakfast")


def test_it_finds_projects_by_name_and_items_by_id_and_text(
    project: Project, client: Client
) -> None:
    by_text = open_item(project, text="We looked over the harbour.")
    by_id = open_item(project, text="Nothing.", external_id="harbour-7")
    other = open_item(project, text="Nothing either.")

    html = search(client, "HARBOUR")

    assert f"/p/{project.slug}/" in html
    for item in (by_text, by_id):
        assert f"/p/{project.slug}/items/{item.pk}/" in html
    assert f"/items/{other.pk}/" not in html


def hits(client: Client, words: str, project: Project, language: str = "en") -> list[str]:
    """The addresses that the header's dialog shows for ``words`` on a page of ``project``."""
    headers = {"HX-Request": "true", "Accept-Language": language}
    answer = client.get("/find/", {"q": words, "project": project.slug}, headers=headers)
    html = answer.content.decode()
    assert "<html" not in html
    return re.findall(r'href="([^"]+)"', html)


@all_cases(
    ("words", "page"),
    [
        ("agre", "agreement/"),
        ("kappa", "agreement/"),
        ("quality agreement", "agreement/"),
        ("auto accept", "automation/"),
        ("AUTO-ACCEPT", "automation/"),
        ("api", "api/"),
    ],
)
def test_it_finds_pages_of_the_project_by_the_beginnings_of_words(
    project: Project, client: Client, words: str, page: str
) -> None:
    assert f"/p/{project.slug}/{page}" in hits(client, words, project)


@all_cases("words", ["übers", "overv"])
def test_names_in_the_language_of_the_page_and_in_english_are_found(
    project: Project, client: Client, words: str
) -> None:
    assert hits(client, words, project, "de") == [f"/p/{project.slug}/"]


def test_it_offers_only_what_the_role_may_do(project: Project, client: Client) -> None:
    assert hits(client, "run start", project) == []
    assert hits(client, "people", project) == []
    client.force_login(member(project, Role.MANAGER))
    assert hits(client, "run start", project) == [f"/p/{project.slug}/runs/new/"]
    assert hits(client, "people", project) == [f"/p/{project.slug}/people/"]


def test_without_words_it_shows_rooms_actions_and_projects(
    project: Project, client: Client
) -> None:
    open_item(project, text="anything")

    shown = hits(client, "", project)

    assert f"/p/{project.slug}/runs/" in shown
    assert "/projects/new/" in shown
    assert not any("/items/" in address and address[-2].isdigit() for address in shown)


def test_pages_of_a_foreign_project_are_not_shown(project: Project, client: Client) -> None:
    foreign = ProjectFactory.create(name="Their harbour")
    assert not any(foreign.slug in address for address in hits(client, "agreement", foreign))
