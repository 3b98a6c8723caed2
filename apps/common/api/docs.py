"""The page that documents the REST interface, made from the OpenAPI document itself."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.settings import spectacular_settings
from drf_spectacular.views import SpectacularAPIView

from apps.common.api.openapi import METHODS

PREFIX = "/api/v1/"
DEEPEST = 3
TONES = {"get": "info", "post": "ok", "delete": "bad"}


@dataclass(frozen=True, slots=True)
class Field:
    """One parameter or field; ``labels[].name`` is the field ``name`` of each of ``labels``."""

    name: str
    type: str
    required: bool
    words: str
    place: str = "body"


@dataclass(frozen=True, slots=True)
class Answer:
    """One status an operation may answer with."""

    status: str
    words: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    method: str
    path: str
    anchor: str
    tone: str
    summary: str
    words: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    answers: tuple[Answer, ...]
    curl: str


@dataclass(frozen=True, slots=True)
class Group:
    """The operations below one noun."""

    title: str
    anchor: str
    operations: tuple[Operation, ...]


@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """Every path, method, parameter and field; open to everybody, as it holds no data."""
    origin = f"{request.scheme}://{request.get_host()}"
    context = {"groups": groups(), "origin": origin, "title": spectacular_settings.TITLE}
    return render(request, "common/api_docs.html", context)


@cache
def openapi_document() -> dict[str, Any]:
    """The OpenAPI document; it depends on the code alone, so it is made once."""
    generator = spectacular_settings.DEFAULT_GENERATOR_CLASS(
        urlconf=settings.ROOT_URLCONF, api_version=SpectacularAPIView.api_version
    )
    document: dict[str, Any] = generator.get_schema(request=None, public=True)
    return document


@cache
def groups() -> tuple[Group, ...]:
    """The operations by noun: projects, then the others in the order of their paths."""
    document = openapi_document()
    found: dict[str, list[Operation]] = {"projects": []}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                described = _operation(document, path, method, methods[method])
                found.setdefault(_noun(path), []).append(described)
    return tuple(
        Group(noun.replace("_", " ").capitalize(), noun, tuple(operations))
        for noun, operations in found.items()
    )


def _noun(path: str) -> str:
    """``/projects/{slug}/runs/{id}/`` belongs to runs, ``/projects/{slug}/`` to projects."""
    parts = [part for part in path.removeprefix(PREFIX).split("/") if part]
    fixed = [part for part in parts if not part.startswith("{")]
    return fixed[1] if fixed[0] == "projects" and len(fixed) > 1 else fixed[0]


def _operation(
    document: Mapping[str, Any], path: str, method: str, raw: Mapping[str, Any]
) -> Operation:
    content = raw.get("requestBody", {}).get("content", {})
    body = tuple(_body_fields(document, content))
    return Operation(
        method=method.upper(),
        path=path,
        anchor=f"{method}-{path.strip('/').translate(str.maketrans('/', '-', '{}'))}",
        tone=TONES.get(method, "warn"),
        summary=raw.get("summary", ""),
        words=raw.get("description", ""),
        parameters=tuple(_parameter(document, given) for given in raw.get("parameters", [])),
        body=body,
        answers=tuple(_answers(document, raw["responses"])),
        curl=_curl(method, path, body, content),
    )


def _parameter(document: Mapping[str, Any], raw: Mapping[str, Any]) -> Field:
    return Field(
        raw["name"],
        _type(document, raw.get("schema", {})),
        raw.get("required", False),
        raw.get("description", ""),
        raw["in"],
    )


def _body_fields(document: Mapping[str, Any], content: Mapping[str, Any]) -> Iterator[Field]:
    """Of the first media type: the others carry the same fields."""
    for media in list(content.values())[:1]:
        yield from _fields(document, media.get("schema", {}))


def _answers(document: Mapping[str, Any], responses: Mapping[str, Any]) -> Iterator[Answer]:
    for status, raw in sorted(responses.items()):
        content = {} if status >= "400" else raw.get("content", {})
        yield Answer(status, raw.get("description", ""), tuple(_body_fields(document, content)))


def _fields(
    document: Mapping[str, Any], raw: Mapping[str, Any], prefix: str = "", depth: int = 0
) -> Iterator[Field]:
    """An object's fields and those of the objects in it, as dotted names."""
    schema = _resolved(document, raw)
    if schema.get("type") == "array":
        yield from _fields(document, schema.get("items", {}), f"{prefix}[]", depth)
        return
    required: Sequence[str] = schema.get("required", [])
    for name, inner in schema.get("properties", {}).items():
        full = f"{prefix}.{name}" if prefix else name
        words = inner.get("description", "")
        yield Field(full, _type(document, inner), name in required, words)
        if depth < DEEPEST:
            yield from _fields(document, inner, full, depth + 1)


def _resolved(document: Mapping[str, Any], raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow ``$ref``, also where it stands alone in ``allOf`` or beside null in ``oneOf``."""
    for key in ("allOf", "oneOf", "anyOf"):
        kept = [part for part in raw.get(key, []) if part.get("type") != "null"]
        if len(kept) == 1:
            return _resolved(document, kept[0])
    if "$ref" not in raw:
        return raw
    name = raw["$ref"].rpartition("/")[2]
    return _resolved(document, document["components"]["schemas"][name])


def _type(document: Mapping[str, Any], raw: Mapping[str, Any]) -> str:
    schema = _resolved(document, raw)
    if choices := [str(choice) for choice in schema.get("enum", []) if choice not in ("", None)]:
        return " | ".join(choices)
    if schema.get("type") == "array":
        return f"list of {_type(document, schema.get('items', {}))}"
    kinds = schema.get("type", "any")
    words = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    return f"{words} ({schema['format']})" if "format" in schema else words


def _curl(method: str, path: str, body: tuple[Field, ...], content: Mapping[str, Any]) -> str:
    lines = ['curl -H "Authorization: Token $KEY"']
    if method != "get":
        lines.append(f"-X {method.upper()}")
    if "multipart/form-data" in content:
        lines.append("-F file=@FILE")
    elif examples := content.get("application/json", {}).get("examples"):
        sample = json.dumps(next(iter(examples.values()))["value"])
        lines += ['-H "Content-Type: application/json"', f"-d '{sample}'"]
    elif content:
        needed = [field.name for field in body if field.required and "." not in field.name]
        sample = ", ".join(f'"{name}": …' for name in needed)
        lines += ['-H "Content-Type: application/json"', f"-d '{{{sample}}}'"]
    return " \\\n  ".join([*lines, f"$LABELHUB{path}"])
