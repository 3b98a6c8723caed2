"""Names and error responses of all operations of the OpenAPI document."""

from collections.abc import Iterator
from threading import Lock
from typing import Any

from drf_spectacular.openapi import AutoSchema

METHODS = ("get", "post", "put", "patch", "delete")

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "What went wrong, for people and programs (RFC 9457).",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "Stable; for programs."},
        "detail": {"type": "string", "description": "For people."},
        "request_id": {
            "type": "string",
            "description": "Of this request, as in X-Request-ID and in the server's log.",
        },
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {
                    "field": {"type": "string"},
                    "message": {"type": "string"},
                    "row": {"type": "integer", "description": "Row of a file or list, from 1."},
                },
            },
        },
        "data": {"type": "object", "additionalProperties": True},
        "retryable": {
            "type": "boolean",
            "description": "True: nothing was done; the same request may succeed in a moment.",
        },
    },
}
REFUSALS = {
    "400": "The request is malformed.",
    "401": "No valid key or session.",
    "403": "You may not do this, or the key may only read.",
    "404": "It does not exist, or you may not see it.",
    "409": "It changed meanwhile.",
    "411": "The body comes without its Content-Length.",
    "413": "The body is too large.",
    "412": "It is no longer what `If-Match` names.",
    "415": "The content type of the body is not one of those listed here.",
    "422": "A value cannot be used; `errors` names the fields.",
    "429": "Too many requests; `Retry-After` says in how many seconds to go on.",
    "503": "Nothing was done; the same request may succeed in a moment.",
}
EVERYWHERE = ("400", "401", "403", "422", "429", "503")
WITH_PLACE = ("404", "409")
WITH_PAGES = ("404",)
WRITING = ("409", "411")
WITH_BODY = ("413", "415")
CHANGING = ("patch", "put", "delete")
#: Headers of requests: what each is for, and its schema.
HEADERS: dict[str, tuple[str, dict[str, Any]]] = {
    "Idempotency-Key": (
        (
            "Of your choice, such as a UUID: the request is done once, and who sends it again "
            "within a day gets the same answer; of an import the present state."
        ),
        {"type": "string", "pattern": "^[!-~]{1,255}$"},
    ),
    "If-Match": ("The `ETag` of what you read: 412 if it was changed since.", {"type": "string"}),
    "If-None-Match": ("The `ETag` that you have: 304 if nothing changed.", {"type": "string"}),
}
ANYTHING_OR_NULL = [{}, {"type": "null"}]
#: Held while a generator runs, as generators keep state in shared objects.
generating = Lock()


#: Suffixes of the operation ids of standard actions; other actions use their name.
STANDARD_ACTIONS = {
    "list": "_list",
    "create": "_create",
    "retrieve": "",
    "update": "_set",
    "partial_update": "_change",
    "destroy": "_delete",
}


class OperationSchema(AutoSchema):
    """drf-spectacular's, with operation ids from the basename of a viewset (``api_run`` gives
    ``run``, ``run_list``, ``run_pause``), summaries from docstrings, and names of request bodies
    that contain "Request" once."""

    def get_operation_id(self) -> str:
        """The noun and the action."""
        view: Any = self.view
        noun = str(view.basename).removeprefix("api_")
        return noun + STANDARD_ACTIONS.get(view.action, f"_{view.action}")

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """With the headers that the operation heeds."""
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is not None:
            operation.setdefault("parameters", []).extend(self._headers(operation))
        return operation

    def _headers(self, operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Sites' servers repeat requests in their own way."""
        view: Any = self.view
        by_site = any("siteKey" in scheme for scheme in operation.get("security", []))
        method = self.method.lower()
        known = {
            "If-None-Match": method == "get",
            "If-Match": method in CHANGING and hasattr(view, "retrieve"),
            "Idempotency-Key": method != "get"
            and not by_site
            and view.action not in getattr(view, "repeatable_actions", ()),
        }
        for name, heeded in known.items():
            if heeded:
                words, schema = HEADERS[name]
                yield {"name": name, "in": "header", "description": words, "schema": schema}

    def get_summary(self) -> str:
        """The first line of the docstring."""
        return str(super().get_description()).partition("\n")[0].removesuffix(".")

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular's has it
        """The rest of the docstring."""
        return str(super().get_description()).partition("\n")[2].strip()

    def _get_serializer_name(
        self,
        serializer: Any,
        direction: str,
        bypass_extensions: bool = False,  # noqa: FBT001, FBT002 - as the method we override
    ) -> str:
        name: str = super()._get_serializer_name(serializer, direction, bypass_extensions)
        return name.replace("RequestRequest", "Request")


def add_problems(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """drf-spectacular post-processing hook: add problem responses, mark bodies as required, and
    simplify schemas of any value, which includes null."""
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas["Problem"] = PROBLEM
    for path, operations in result["paths"].items():
        for method in METHODS:
            if method in operations:
                _add_responses(operations[method], method, path)
    for schema in _objects(result):
        if schema.get("oneOf") == ANYTHING_OR_NULL:
            del schema["oneOf"]
    return result


def _objects(node: Any) -> Iterator[dict[str, Any]]:
    """Every object of the document."""
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    if isinstance(node, dict):
        yield node
    for part in list(inner):
        yield from _objects(part)


def _add_responses(operation: dict[str, Any], method: str, path: str) -> None:
    paged = any(parameter["name"] == "page" for parameter in operation.get("parameters", []))
    codes = {
        *EVERYWHERE,
        *(WITH_PLACE if "{" in path else ()),
        *(WITH_PAGES if paged else ()),
        *(WRITING if method != "get" else ()),
        *(("412",) if method in CHANGING else ()),
    }
    if method == "get":
        unchanged = {"description": "Nothing changed since the `ETag` in `If-None-Match`."}
        operation["responses"].setdefault("304", unchanged)
    if "requestBody" in operation:
        codes.update(WITH_BODY)
        operation["requestBody"]["required"] = True
    for code in sorted(codes):
        operation["responses"].setdefault(code, _response(REFUSALS[code]))
    for code, answer in operation["responses"].items():
        if code >= "400" and "content" not in answer:
            answer.update(_response(answer["description"]))


def _response(words: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": words, "content": {"application/problem+json": {"schema": schema}}}
