"""Rules that the OpenAPI document keeps, so that generated clients import and work.

What the server really answers is held against it by tests/services/test_openapi.py, and a client is
generated and used by tests/peers/test_generated_client.py.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from apps.common.api.docs import openapi_document
from tests.common.openapi import operations

JSON = "application/json"
#: Operations that really take a file in several forms.
FILES = {"archive_import_create", "project_import", "labels_import", "site_echo_catalogue_import"}


def named_operations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Method and path, and what the document says of the operation."""
    for method, path, operation in operations():
        yield f"{method} {path}", operation


def successes(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Status and answer."""
    for code, answer in operation["responses"].items():
        if code < "300":
            yield code, answer


def components() -> dict[str, dict[str, Any]]:
    """The document's schemas by name."""
    found: dict[str, dict[str, Any]] = openapi_document()["components"]["schemas"]
    return found


def test_every_operation_has_a_summary_of_one_short_line() -> None:
    summaries = {name: operation.get("summary", "") for name, operation in named_operations()}
    assert [name for name, words in summaries.items() if not 0 < len(words) <= 60] == []


def test_every_operation_documents_how_it_refuses() -> None:
    for name, operation in named_operations():
        assert "401" in operation["responses"], name
        assert "{slug}" not in name or "404" in operation["responses"], name


def test_operation_ids_are_unique() -> None:
    counted = Counter(operation["operationId"] for _, operation in named_operations())
    assert [name for name, count in counted.items() if count > 1] == []


def test_every_body_is_required_json_unless_it_is_a_file() -> None:
    bodies = {
        name: operation["requestBody"]
        for name, operation in named_operations()
        if "requestBody" in operation
    }
    named = {name: operation["operationId"] for name, operation in named_operations()}
    assert len(bodies) > 40
    assert [name for name, body in bodies.items() if not body.get("required")] == []
    other = {named[name] for name, body in bodies.items() if [*body["content"]] != [JSON]}
    assert other == FILES


def test_a_body_in_one_of_several_forms_is_a_form_or_a_file() -> None:
    """Generated clients tell the forms apart by the class of what they are given."""
    bodies = [
        operation["requestBody"]["content"]
        for _, operation in named_operations()
        if "requestBody" in operation
    ]
    others = [
        media["schema"]
        for content in bodies
        if len(content) > 1
        for kind, media in content.items()
        if kind != "multipart/form-data"
    ]
    assert others
    assert [field for field in others if field.get("format") != "binary"] == []


def test_every_success_says_what_it_answers() -> None:
    silent = [
        f"{name} {code}"
        for name, operation in named_operations()
        for code, answer in successes(operation)
        if code != "204"
        and not all("schema" in media for media in answer.get("content", {"": {}}).values())
    ]
    assert silent == []


def test_what_takes_a_page_answers_a_page() -> None:
    wrong = []
    for name, operation in named_operations():
        taken = {row["name"] for row in operation.get("parameters", []) if row["in"] == "query"}
        schema = operation["responses"].get("200", {}).get("content", {}).get(JSON, {})
        kind = schema.get("schema", {}).get("$ref", "").rpartition("/")[2]
        fields = set(components().get(kind, {}).get("properties", {}))
        is_page = {"count", "next", "previous", "results"} <= fields
        # Of ``learning`` a part of the answer is paged.
        if ("page" in taken) != is_page and operation["operationId"] != "learning":
            wrong.append(name)
        if schema.get("schema", {}).get("type") == "array":
            wrong.append(f"{name}: a bare list")
    assert wrong == []


def test_every_refusal_is_a_problem() -> None:
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    wrong = [
        f"{name} {code}"
        for name, operation in named_operations()
        for code, answer in operation["responses"].items()
        if code >= "400" and answer.get("content") != problem
    ]
    assert wrong == []


def test_names_say_request_once_and_values_may_be_null() -> None:
    assert [name for name in components() if "RequestRequest" in name] == []
    assert components()["Label"]["properties"]["value"].get("oneOf") is None
