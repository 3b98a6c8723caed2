"""What the client sends and reads is what the server's OpenAPI document says."""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from apps.common.api.docs import openapi_document
from labelhub.client import endpoints
from labelhub.client.endpoints import ENDPOINTS, PREFIX, Endpoint, Repeat
from labelhub.client.records import ImportOutcome

EACH = pytest.mark.parametrize("name", ENDPOINTS)
JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", datetime: "string"}


def operation(endpoint: Endpoint[Any]) -> Mapping[str, Any]:
    """The document's words on the endpoint."""
    found: Mapping[str, Any] = _paths()[_anonymous(PREFIX + endpoint.path)]
    assert endpoint.method.lower() in found, f"{endpoint.method} of {endpoint.path}"
    return dict(found[endpoint.method.lower()])


def _paths() -> dict[str, Any]:
    return {_anonymous(path): methods for path, methods in openapi_document()["paths"].items()}


def _anonymous(path: str) -> str:
    """Places go by any name: only where they are counts."""
    return "/".join("{}" if part.startswith("{") else part for part in path.split("/"))


def alternatives(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The schemas it may be, references followed."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return alternatives(openapi_document()["components"]["schemas"][name])
    for key in ("allOf", "oneOf", "anyOf"):
        if key in schema:
            return [option for part in schema[key] for option in alternatives(part)]
    return [schema]


def object_of(schema: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """Properties of the alternative that has all of ``names``."""
    found = [option["properties"] for option in alternatives(schema) if "properties" in option]
    fitting = [option for option in found if set(names) <= set(option)]
    assert fitting, f"none of {[sorted(option) for option in found]} has {sorted(names)}"
    return dict(fitting[0])


def mismatches(hint: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    """What a type hint reads that the schema does not promise."""
    if hint is Any:
        return
    if get_origin(hint) is UnionType:
        (hint,) = (option for option in get_args(hint) if option is not NoneType)
    elif any("null" in _types(option) for option in alternatives(schema)):
        yield f"{where} may be null"
    if isinstance(hint, type) and is_dataclass(hint):
        yield from _of_record(hint, schema, where)
    elif get_origin(hint) is tuple:
        yield from _of_container(get_args(hint)[0], schema, where, "items")
    elif get_origin(hint) is Mapping:
        yield from _of_container(get_args(hint)[1], schema, where, "additionalProperties")
    else:
        yield from _of_plain(hint, schema, where)


def _of_container(inner: Any, schema: Mapping[str, Any], where: str, key: str) -> Iterator[str]:
    containers = [option[key] for option in alternatives(schema) if option.get(key)]
    if not containers and inner is not Any:
        yield f"{where} has no {key}"
    for option in containers:
        yield from mismatches(inner, option, f"{where}[]")


def _of_plain(hint: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    wanted = {JSON_TYPES[hint], "null"} | ({"integer"} if hint is float else set())
    kinds = {kind for option in alternatives(schema) for kind in _types(option)}
    if not kinds or not kinds <= wanted:
        yield f"{where} is {kinds}, not {JSON_TYPES[hint]}"


def _types(schema: Mapping[str, Any]) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _of_record(kind: type[Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    hints = get_type_hints(kind)
    properties = object_of(schema, *(item.name for item in fields(kind)))
    for item in fields(kind):
        inner = properties[item.name]
        # Null is read as the default.
        hint = hints[item.name]
        hint = hint | None if _has_default(item) and hint is not Any else hint
        yield from mismatches(hint, inner, f"{where}.{item.name}")


def _has_default(item: Field[Any]) -> bool:
    return item.default is not MISSING or item.default_factory is not MISSING


@EACH
def test_its_query_is_documented(name: str) -> None:
    endpoint = ENDPOINTS[name]
    known = {
        parameter["name"]
        for parameter in operation(endpoint).get("parameters", [])
        if parameter["in"] == "query"
    }
    assert endpoint.query <= known


@EACH
def test_its_body_is_documented(name: str) -> None:
    endpoint = ENDPOINTS[name]
    if endpoint.body:
        content = operation(endpoint)["requestBody"]["content"]["application/json"]
        assert set(object_of(content["schema"], *endpoint.body)) >= endpoint.body


@EACH
def test_what_it_must_send_is_sent(name: str) -> None:
    endpoint = ENDPOINTS[name]
    content = operation(endpoint).get("requestBody", {}).get("content", {})
    for schema in alternatives(content.get("application/json", {}).get("schema", {})):
        assert set(schema.get("required", [])) <= endpoint.body


@EACH
def test_what_is_read_of_its_answer_is_promised(name: str) -> None:
    endpoint = ENDPOINTS[name]
    answers = operation(endpoint)["responses"]
    if endpoint.answer is None:
        assert set(answers) & {"200", "204"}
        return
    content = next(answers[code]["content"] for code in ("200", "201") if code in answers)
    schema = content["application/json"]["schema"]
    if endpoint.paged:
        schema = object_of(schema, "results", "next")["results"]["items"]
    assert list(mismatches(endpoint.answer, schema, endpoint.answer.__name__)) == []


@EACH
def test_it_says_why_it_may_be_repeated_or_not(name: str) -> None:
    endpoint = ENDPOINTS[name]
    assert endpoint.why.endswith(".")
    assert (endpoint.repeat is Repeat.READS) == (endpoint.method == "GET")


@pytest.mark.parametrize(
    ("hint", "endpoint", "field"),
    [
        (endpoints.Protocol, endpoints.START_RUN, "protocol"),
        (endpoints.TaskKind, endpoints.CREATE_PROJECT, "task"),
        (endpoints.Kind, endpoints.LABELS, "kind"),
    ],
)
def test_words_to_choose_from_are_the_servers(
    hint: Any, endpoint: Endpoint[Any], field: str
) -> None:
    assert get_origin(hint) is Literal
    asked = operation(endpoint)
    if field in endpoint.query:
        schema = next(
            parameter["schema"] for parameter in asked["parameters"] if parameter["name"] == field
        )
    else:
        content = asked["requestBody"]["content"]["application/json"]
        schema = object_of(content["schema"], field)[field]
    offered = {word for option in alternatives(schema) for word in option.get("enum", [])}
    assert set(get_args(hint)) == offered


def test_a_word_that_is_not_documented_would_be_found() -> None:
    asked = operation(endpoints.ITEMS)
    assert "colour" not in {parameter["name"] for parameter in asked["parameters"]}
    with pytest.raises(AssertionError, match="colour"):
        object_of(asked["responses"]["200"]["content"]["application/json"]["schema"], "colour")


def test_a_type_that_is_not_promised_would_be_found() -> None:
    schema = {
        "type": "object",
        "properties": {item.name: {"type": "string"} for item in fields(ImportOutcome)},
    }
    found = list(mismatches(ImportOutcome, schema, "it"))
    assert "it.rows is {'string'}, not integer" in found
    assert "it.errors has no items" in found
