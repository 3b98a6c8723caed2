"""The theme, and the page of all components."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.factories.accounts import UserFactory


def test_the_theme_is_kept_and_the_way_leads_back(client: Client) -> None:
    response = client.post("/theme/", {"theme": "dark", "next": "/accounts/login/?a=1"})
    assert response.headers["Location"] == "/accounts/login/?a=1"
    assert response.cookies["labelhub_theme"].value == "dark"


@pytest.mark.parametrize("wanted", ["https://elsewhere.example/", "//elsewhere.example", ""])
def test_the_way_back_never_leads_elsewhere(client: Client, wanted: str) -> None:
    response = client.post("/theme/", {"theme": "light", "next": wanted})
    assert response.headers["Location"] == "/"


def test_an_unknown_theme_is_refused(client: Client) -> None:
    assert client.post("/theme/", {"theme": "pink"}).status_code == 400
    assert client.get("/theme/").status_code == 405


@pytest.mark.django_db
@pytest.mark.parametrize(("cookie", "shown"), [("dark", "dark"), ('"><b>', "auto"), ("", "auto")])
def test_the_first_byte_of_a_page_knows_the_theme(client: Client, cookie: str, shown: str) -> None:
    client.cookies["labelhub_theme"] = cookie
    html = client.get("/accounts/login/").content.decode()
    assert f'<html lang="en" dir="ltr" data-theme="{shown}">' in html


@pytest.mark.django_db
def test_the_components_page_is_for_people_who_signed_in(client: Client) -> None:
    assert client.get("/design/").status_code == 302


@pytest.mark.django_db
def test_the_components_page_shows_all_of_them(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(UserFactory.create())
    with django_assert_num_queries(3):  # session, user, bell
        html = client.get("/design/").content.decode()
    for part in ("kind--author", "figure__range", "matrix__right", "form-errors", "skeleton"):
        assert part in html
    assert "&lt;b&gt;Would buy again.&lt;/b&gt;" in html
    assert "htmx-2.min.js" not in html
