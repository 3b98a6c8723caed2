"""Does what the server answers match what its OpenAPI document promises?"""

import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from apps.common.api.docs import openapi_document


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path and what the document says of each operation."""
    for path, methods in openapi_document()["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def for_operators(path: str) -> bool:
    """Whether only operators of the server reach all of it."""
    return path.startswith(
        (
            "/api/v1/users/",
            "/api/v1/providers/",
            "/api/v1/keys/",
            "/api/v1/audit/",
            "/api/v1/archive-imports/",
        )
    )


def assert_matches_schema(response: Any, method: str, path: str) -> None:
    """Validate ``response`` against the document's operation.

    Args:
        response: what the test client returned.
        method: ``"GET"`` and so on; case does not matter.
        path: of the document (``/api/v1/projects/{slug}/``) or as requested; no query string.

    Raises:
        AssertionError: the operation, status, media type or a field is not as documented.
    """
    paths = openapi_document()["paths"]
    template = path if path in paths else _matching(path, paths)
    assert method.lower() in paths[template], f"{method} of {template} is not documented"
    documented = paths[template][method.lower()]["responses"]
    status = str(response.status_code)
    assert status in documented, f"{method} {path} answered {status}; documented: {[*documented]}"
    content = documented[status].get("content")
    if not content:
        assert not getattr(response, "content", b""), f"{status} is documented to have no body"
        return
    media = response.headers["Content-Type"].partition(";")[0]
    assert media in content, f"answered {media}; documented: {[*content]}"
    if media.endswith("json"):
        schema = content[media].get("schema", {})
        root = {**_plain(schema), "components": _plain(openapi_document()["components"])}
        faults = list(Draft202012Validator(root).iter_errors(response.json()))
        assert not faults, "\n".join(f"{fault.json_path}: {fault.message}" for fault in faults[:5])


def _matching(path: str, paths: dict[str, Any]) -> str:
    fitting = [
        template
        for template in paths
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path)
    ]
    assert fitting, f"{path} is not documented"
    return min(fitting, key=lambda template: template.count("{"))


def _plain(node: Any) -> Any:
    """OpenAPI 3.0's ``nullable`` as JSON Schema says it."""
    if isinstance(node, list):
        return [_plain(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _plain(inner) for key, inner in node.items() if key != "nullable"}
    return {"anyOf": [kept, {"type": "null"}]} if node.get("nullable") is True else kept
