"""What holds for every REST address, whatever its view: the table is the OpenAPI document."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from apps.accounts.services import create_api_key
from tests.architecture.access_world import World, shared_world
from tests.common.openapi import for_operators, operations

pytestmark = pytest.mark.django_db
JSON: dict[str, Any] = {"json": {}}
WITH_BODY = {"POST", "PUT", "PATCH"}


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    with shared_world(django_db_blocker) as shared:
        yield shared


@pytest.fixture
def rest(world: World) -> httpx.Client:
    """A manager's program that follows redirects, as ``requests`` does."""
    key = create_api_key(user=world.people["manager"], name="test").plain
    server = Client(raise_request_exception=False)

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode()
        headers = {**request.headers, "content-type": request.headers.get("content-type", "")}
        content_type = headers.pop("content-type")
        response: Any = server.generic(
            request.method, path, request.read(), content_type=content_type, headers=headers
        )
        body: Any = response.streaming_content if response.streaming else [response.content]
        return httpx.Response(
            response.status_code, headers=list(response.items()), content=b"".join(body)
        )

    return httpx.Client(
        transport=httpx.MockTransport(answer),
        base_url="http://testserver",
        follow_redirects=True,
        headers={"Authorization": f"Bearer {key}"},
    )


def places(world: World, path: str) -> dict[str, Any]:
    shared = world.shared if for_operators(path) else {}
    return {**world.ids, **shared, "id": world.ids["pk"]}


def requests(world: World) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Method, address and headers of every operation; a site's servers have a key of their own."""
    operator = create_api_key(user=world.people["operator"], name="test", scope="admin").plain
    for method, path, operation in operations():
        from_server = "siteKey" in str(operation["security"])
        key = {"Authorization": f"Bearer {world.server_key}"} if from_server else {}
        if for_operators(path):
            key = {"Authorization": f"Bearer {operator}"}
        yield method, path.format(**places(world, path)), key


def asked(rest: httpx.Client, method: str, url: str, **more: Any) -> httpx.Response:
    """The answer; whatever was done is undone."""
    with transaction.atomic():
        answer = rest.request(method, url, **more)
        transaction.set_rollback(True)
    return answer


def test_every_operation_answers_the_same_without_its_final_slash(
    world: World, rest: httpx.Client
) -> None:
    faults = []
    for method, url, headers in requests(world):
        more = {"headers": headers} | (JSON if method in WITH_BODY else {})
        with_slash, without = (
            asked(rest, method, address, **more) for address in (url, url.rstrip("/"))
        )
        same = with_slash.status_code == without.status_code and not without.history
        alike = with_slash.headers.get("Content-Type") == without.headers.get("Content-Type")
        if not (same and alike):
            statuses = f"{with_slash.status_code}, {without.status_code} by {without.history}"
            faults.append(f"{method} {url}: {statuses}")
    assert faults == []


def test_the_next_page_of_a_list_is_reached_from_either_form(
    world: World, rest: httpx.Client
) -> None:
    pages = [
        asked(rest, "GET", f"/api/v1/projects/{world.project.slug}/members{slash}?page_size=1")
        for slash in ("/", "")
    ]
    assert pages[0].json() == pages[1].json()
    assert asked(rest, "GET", pages[1].json()["next"]).status_code == 200


def test_options_never_fail(world: World, rest: httpx.Client) -> None:
    answers = {
        url: asked(rest, "OPTIONS", url, headers=headers).status_code
        for _, url, headers in requests(world)
    }
    # A server key that opens POST alone is no key to OPTIONS.
    assert {url: status for url, status in answers.items() if status not in {200, 401}} == {}
    assert list(answers.values()).count(401) < 3


def test_no_operation_ignores_a_parameter_that_it_does_not_know(
    world: World, rest: httpx.Client
) -> None:
    faults = []
    for method, url, headers in requests(world):
        answer = asked(rest, method, url, params={"sinc": "2099"}, headers=headers)
        problem = answer.json() if "problem" in answer.headers.get("Content-Type", "") else {}
        if (answer.status_code, problem.get("code")) != (400, "unknown_parameter"):
            faults.append(f"{method} {url}: {answer.status_code}")
    assert faults == []


def test_what_is_known_is_named(world: World, rest: httpx.Client) -> None:
    url = f"/api/v1/projects/{world.project.slug}/labels/"
    problem = asked(rest, "GET", url, params={"curent": "1"}).json()
    assert problem["errors"][0]["field"] == "curent"
    assert problem["detail"] == (
        "curent: is unknown; known are action, annotator, current, item, kind, page, "
        "page_size, rejected, since. Did you mean current?"
    )


def test_every_documented_parameter_is_known(world: World, rest: httpx.Client) -> None:
    """The document and the refusal are of one source; this would find a second."""
    faults = []
    for method, path, operation in operations():
        url = path.format(**places(world, path))
        known = [row["name"] for row in operation.get("parameters", []) if row["in"] == "query"]
        answer = asked(rest, method, url, params=dict.fromkeys(known, "1"))
        if "unknown_parameter" in answer.text:
            faults.append(f"{method} {url}: {answer.text}")
    assert faults == []


@pytest.mark.parametrize("query", ["q=%00", "q=%ED%A0%80", "q=%ff"])
def test_a_query_that_no_database_takes_is_refused(
    world: World, rest: httpx.Client, query: str
) -> None:
    answer = asked(rest, "GET", f"/api/v1/projects/{world.project.slug}/items/?{query}")
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        ("&".join(f"f{n}=1" for n in range(5000)), "application/x-www-form-urlencoded", 415),
        ("--x\r\nno end", "multipart/form-data; boundary=x", 415),
        ("a: 1", "application/yaml", 415),
    ],
)
def test_only_json_is_taken(
    world: World, rest: httpx.Client, body: str, content_type: str, status: int
) -> None:
    for method, url, headers in requests(world):
        if method in WITH_BODY and "/import/" not in url and "/catalogue/" not in url:
            sent = {**headers, "Content-Type": content_type}
            answer = asked(rest, method, url, content=body, headers=sent)
            takes_none = answer.status_code < 300 or answer.status_code in {404, 409, 422}
            assert answer.status_code == status or takes_none, f"{method} {url}: {answer.text}"


def multipart(fields: int) -> str:
    parts = (
        f'--x\r\nContent-Disposition: form-data; name="f{n}"\r\n\r\n1\r\n' for n in range(fields)
    )
    return "".join(parts) + "--x--\r\n"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (multipart(5000), 400, "too_many_fields"),
        (multipart(1).replace("\r\n1\r\n", f"\r\n{'1' * 17_000_000}\r\n"), 413, "too_large"),
    ],
    ids=["fields", "bytes"],
)
@pytest.mark.parametrize("place", ["projects/{slug}/import/", "sites/{public_key}/echo/catalogue/"])
def test_a_form_that_cannot_be_read_is_refused_in_words(
    world: World, rest: httpx.Client, place: str, body: str, status: int, code: str
) -> None:
    url = f"/api/v1/{place.format(**world.ids)}"
    sent = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = asked(rest, "POST", url, content=body, headers=sent)
    assert (answer.status_code, answer.json().get("code")) == (status, code)
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_form_without_its_boundary_is_refused(world: World, rest: httpx.Client) -> None:
    url = f"/api/v1/projects/{world.project.slug}/import/"
    answer = asked(rest, "POST", url, content="a", headers={"Content-Type": "multipart/form-data"})
    assert (answer.status_code, answer.json()["code"]) == (400, "parse_error")


def test_a_page_is_still_redirected_to_its_slash(client: Client) -> None:
    assert client.get("/accounts/login")["Location"] == "/accounts/login/"
    assert client.get("/accounts/login").status_code == 301


def test_what_is_posted_to_a_page_without_its_slash_is_never_fetched_instead(
    client: Client,
) -> None:
    answer = client.post("/accounts/login", {"username": "a"})
    assert (answer.status_code, answer["Location"]) == (308, "/accounts/login/")
