"""An expected error reaches people as words, wherever it was raised."""

import json

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django_htmx.middleware import HtmxMiddleware

from apps.common.middleware import LabelhubErrorMiddleware
from labelhub.core.errors import Conflict, Forbidden, InvalidInput, LabelhubError, NotFound


def answer(
    error: Exception,
    *,
    path: str = "/p/x/",
    htmx: bool = False,
    script: bool = False,
    referer: str = "",
) -> HttpResponse | None:
    headers = {"Referer": referer} | ({"HX-Request": "true"} if htmx else {})
    headers |= {"X-Requested-With": "fetch"} if script else {}
    request = RequestFactory().get(path, headers=headers)
    request.user = AnonymousUser()
    HtmxMiddleware(_nothing)(request)
    return LabelhubErrorMiddleware(_nothing).process_exception(request, error)


def _nothing(_request: HttpRequest) -> HttpResponse:
    return HttpResponse()


@pytest.mark.parametrize("kind", [InvalidInput, NotFound, Forbidden, Conflict, LabelhubError])
def test_a_page_says_what_was_wrong_with_the_right_status(kind: type[LabelhubError]) -> None:
    response = answer(kind("Row 17: <b>text</b> is missing."))
    assert response is not None
    assert response.status_code == kind.http_status
    html = response.content.decode()
    assert "Row 17: &lt;b&gt;text&lt;/b&gt; is missing." in html
    assert f"· {kind.code}" not in html
    assert "<h1>" in html


@pytest.mark.parametrize(
    ("referer", "leads_back"),
    [("http://testserver/p/x/runs/", True), ("https://elsewhere.example/", False)],
)
def test_the_way_back_is_offered_inside_this_server_only(referer: str, leads_back: bool) -> None:
    response = answer(Conflict("Changed."), referer=referer)
    assert response is not None
    assert (f'href="{referer}"' in response.content.decode()) is leads_back


def test_a_pages_script_gets_words_that_it_can_show() -> None:
    response = answer(Forbidden("You only look on here."), script=True)
    assert response is not None
    assert response.status_code == 403
    body = json.loads(response.content)
    assert body == {"code": Forbidden.code, "message": "You only look on here."}


def test_an_htmx_request_gets_a_toast_with_the_right_status() -> None:
    response = answer(Conflict("Somebody else <was> here."), htmx=True)
    assert response is not None
    assert response.status_code == 409
    assert response["HX-Retarget"] == "#toasts"
    assert response["HX-Reswap"] == "beforeend"
    html = response.content.decode()
    assert "Somebody else &lt;was&gt; here." in html
    assert "<html" not in html


def test_the_api_answers_for_itself() -> None:
    assert answer(NotFound("x"), path="/api/v1/projects/x/") is None


def test_other_errors_are_left_to_django() -> None:
    assert answer(ValueError("a fault of ours")) is None


@pytest.mark.django_db
def test_an_address_that_leads_nowhere_gets_our_page(client: Client) -> None:
    response = client.get("/nothing/here/")
    assert response.status_code == 404
    assert b"There is nothing here" in response.content
    assert b"next=/nothing/here/" in response.content


@pytest.mark.parametrize("name", ["400.html", "403.html", "403_csrf.html", "404.html", "500.html"])
def test_error_pages_need_no_context(name: str) -> None:
    html = render_to_string(name)
    assert "To the projects" in html
    assert "<h1>" in html


@pytest.mark.django_db
def test_a_form_without_its_token_gets_our_page() -> None:
    response = Client(enforce_csrf_checks=True).post("/theme/", {"theme": "dark"})
    assert response.status_code == 403
    assert b"This page has expired" in response.content


def test_htmx_may_neither_evaluate_nor_style() -> None:
    html = render_to_string("404.html")
    config = html.split('name="htmx-config" content=\'')[1].split("'")[0]
    assert json.loads(config)["allowEval"] is False
    assert json.loads(config)["includeIndicatorStyles"] is False


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/?q=a%00b", "/p/x%00/", "/api/v1/projects/?q=%00"])
def test_a_nul_in_an_address_is_the_askers_mistake(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 400
    is_problem = response["Content-Type"] == "application/problem+json"
    assert is_problem is address.startswith("/api/")
