"""The OpenAPI document and the pages that show it: Swagger UI and ReDoc."""

import re

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db

PAGES = ("/api/docs/", "/api/docs/redoc/")


def policy(client: Client, address: str) -> dict[str, str]:
    """The sources that a page's Content-Security-Policy allows, by directive."""
    header = client.get(address).headers["Content-Security-Policy"]
    return dict(rule.strip().split(" ", 1) for rule in header.split(";"))


def test_the_document_is_open_to_everybody(client: Client) -> None:
    response = client.get("/api/schema/", HTTP_ACCEPT="application/json")
    assert response.status_code == 200
    assert "/api/v1/projects/" in response.json()["paths"]


def test_the_document_describes_version_1_only(client: Client) -> None:
    paths = client.get("/api/schema/", HTTP_ACCEPT="application/json").json()["paths"]
    assert [path for path in paths if not path.startswith("/api/v1/")] == []


@pytest.mark.parametrize("address", PAGES)
def test_everybody_sees_the_page_and_all_its_files_are_ours(client: Client, address: str) -> None:
    page = client.get(address)
    assert page.status_code == 200
    assert 'data-document="/api/schema/"' in page.content.decode()
    files = re.findall(r'<(?:script|link)\b[^>]* (?:src|href)="([^"]+)"', page.content.decode())
    assert any("/drf_spectacular_sidecar/" in name for name in files)
    assert [name for name in files if not finders.find(name.removeprefix("/static/"))] == []


def test_swagger_ui_needs_no_wider_policy(client: Client) -> None:
    assert policy(client, "/api/docs/") == policy(client, "/accounts/login/")


def test_redoc_may_make_styles_with_its_nonce_and_a_search_worker(client: Client) -> None:
    strict, wider = policy(client, "/accounts/login/"), policy(client, "/api/docs/redoc/")
    assert re.fullmatch(r"'self' 'nonce-[^' ]{20,}'", wider["style-src"])
    assert wider == strict | {"style-src": wider["style-src"], "worker-src": "blob:"}


def test_only_a_session_gets_a_csrf_token(client: Client) -> None:
    assert "data-csrf" not in client.get("/api/docs/").content.decode()
    client.force_login(UserFactory.create())
    assert "data-csrf" in client.get("/api/docs/").content.decode()
