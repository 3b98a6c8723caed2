"""Every operation of the server's OpenAPI document can be called by its id."""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.urls import resolve

from apps.common.api.docs import openapi_document
from deploy.operations import TABLE, write_table
from labelhub_client import Operation, WrongUse, operations
from labelhub_client.api import PREFIX, REPEATABLE, SLOW, build_request
from tests.cases import all_cases
from tests.client.helpers import scripted

DOCUMENTED = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, methods in openapi_document()["paths"].items()
    for method, operation in methods.items()
}


def place_names(operation: Mapping[str, Any]) -> dict[str, Any]:
    """Something to stand in each place of an operation's path."""
    return {
        given["name"]: sample(given["schema"])
        for given in operation.get("parameters", [])
        if given["in"] == "path"
    }


def sample(schema: Mapping[str, Any]) -> Any:
    """A value of a simple schema."""
    if schema.get("format") == "uuid":
        return UUID(int=7)
    return 7 if schema.get("type") == "integer" else "x"


def without_names(route: str) -> str:
    """A path in which places are alike, whatever they are called."""
    return re.sub(r"<[^>]+>|\{[^}]+\}", "{}", route).strip("/")


def test_the_table_is_the_documents() -> None:
    assert TABLE.read_text() == write_table(openapi_document()), "renew it: make operations"
    assert len(DOCUMENTED) == len(operations()) > 100


@all_cases("name", sorted(DOCUMENTED))
def test_each_operation_can_be_called_by_its_id(name: str) -> None:
    method, path, described = DOCUMENTED[name]
    client, script = scripted(httpx.Response(200, json={"done": True}))
    body: dict[str, Any] = {"json": {}} if "requestBody" in described else {}

    assert client.call(name, **place_names(described), **body).done

    (request,) = script.seen
    assert request.method == method
    match = resolve(request.url.path)
    assert without_names(match.route) == without_names(path)
    assert bool(request.content) == bool(body)


@all_cases("operation", operations().values(), ids=lambda operation: operation.id)
def test_no_name_has_two_meanings(operation: Operation) -> None:
    own = [*inspect.signature(build_request).parameters]
    places = re.findall(r"\{(\w+)\}", operation.path)
    counted = Counter([*own, *places, *operation.query])
    assert [name for name, count in counted.items() if count > 1] == []


def test_what_is_said_of_operations_is_said_of_some_that_there_are() -> None:
    assert set(REPEATABLE) | SLOW <= set(operations())
    for name, fields in REPEATABLE.items():
        assert set(fields) <= (operations()[name].fields or set())


def test_options_fill_the_path_and_the_query() -> None:
    request = build_request(
        "projects_items_list", slug="moods", q="a b", queued=True, page_size=5, stage=None
    )
    assert (str(request), request.content) == ("GET projects/moods/items/", None)
    assert request.params == {"q": "a b", "queued": "true", "page_size": "5"}


@all_cases(
    ("ref", "path"),
    [("a b", "a%20b"), ("50%?#", "50%25%3F%23"), ("h\u00e4", "h%C3%A4"), (7, "7")],
)
def test_a_place_is_filled_with_any_text_and_not_left(ref: Any, path: str) -> None:
    client, script = scripted(httpx.Response(200, json={}))
    client.call("site_echo_item", public_key="k", ref=ref)
    assert script.seen[0].url.raw_path.decode() == f"{PREFIX}sites/k/echo/catalogue/{path}/"


@all_cases(
    ("name", "options", "words"),
    [
        ("project_delete", {}, "'project_delete' is not an operation"),
        ("projects_retrieve", {}, "projects_retrieve needs slug"),
        ("projects_retrieve", {"slug": ".."}, "slug: '..' cannot be part"),
        ("projects_retrieve", {"slug": "a/b"}, "slug: 'a/b' cannot be part"),
        ("projects_retrieve", {"slug": ""}, "slug: '' cannot be part"),
        ("projects_retrieve", {"slug": "a\n"}, "cannot be part"),
        ("projects_items_list", {"slug": "a", "colour": 1}, "'colour' is no option .* stage"),
        ("run_resume", {"run_id": 1, "json": {"money": 1}}, "'money' is no option .* budget"),
        ("run_resume", {"run_id": 1, "json": {"budget": float("inf")}}, "as JSON"),
        ("run_resume", {"run_id": 1, "json": {"budget": object()}}, "as JSON"),
        ("project_import", {"slug": "a", "content": "no.csv"}, "There is no file 'no.csv'"),
    ],
)
def test_what_cannot_be_meant_is_not_sent(name: str, options: dict[str, Any], words: str) -> None:
    client, script = scripted(httpx.Response(200, json={}))
    for method in (client.call, client.rows, client.download):
        with pytest.raises(WrongUse, match=words):
            method(name, **options)
    assert script.seen == []


def test_a_file_is_read_as_it_is() -> None:
    client, _ = scripted(httpx.Response(200, content=b"a,b\n1,2\n"))
    pieces = client.download("site_payout", public_key="k", payout_id=7, format="csv")
    assert b"".join(pieces) == b"a,b\n1,2\n"


@all_cases("kind", [str, Path, Path.read_bytes])
def test_a_file_is_sent_as_it_is(kind: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "catalogue.csv"
    path.write_bytes(b"ref\na\n")
    client, script = scripted(httpx.Response(200, json={"rows": 1}))
    made = client.call(
        "site_echo_catalogue_import", public_key="k", content=kind(path), content_type="text/csv"
    )
    assert made.rows == 1
    assert script.seen[0].headers["Content-Type"] == "text/csv"
    assert script.seen[0].content == b"ref\na\n"
