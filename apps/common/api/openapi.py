"""What every operation of the OpenAPI document has in common: how it refuses."""

from typing import Any

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
        "detail": {"type": "string", "description": "In words; for people."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {
                    "field": {"type": "string"},
                    "message": {"type": "string"},
                    "row": {"type": "integer", "description": "Of a file or list, from 1."},
                },
            },
        },
        "data": {"type": "object", "additionalProperties": True},
        "retryable": {
            "type": "boolean",
            "description": "True: nothing was done, and the same may succeed in a moment.",
        },
    },
}
REFUSALS = {
    "400": "The request is malformed.",
    "401": "No key or session, or one that does not work.",
    "403": "You may not do this, or the key may only read.",
    "404": "It does not exist, or you may not know that it does.",
    "409": "It changed meanwhile.",
    "422": "A value cannot be used; `errors` names the fields.",
}


def add_problems(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """drf-spectacular post-processing hook: the problem responses that views do not list."""
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas["Problem"] = PROBLEM
    for path, operations in result["paths"].items():
        for method in METHODS:
            if method in operations:
                _complete(operations[method], path)
    return result


def _complete(operation: dict[str, Any], path: str) -> None:
    codes = ["401", "403"]
    codes += ["404"] if "{" in path else []
    codes += ["400", "409", "422"] if "requestBody" in operation else []
    for code in sorted(codes):
        operation["responses"].setdefault(code, _response(REFUSALS[code]))
    for code, answer in operation["responses"].items():
        if code >= "400" and "content" not in answer:
            answer.update(_response(answer["description"]))


def _response(words: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": words, "content": {"application/problem+json": {"schema": schema}}}
