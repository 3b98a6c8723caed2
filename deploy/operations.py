"""Renew the Python client's table of operations from the server's OpenAPI document, on stdin.

One line per operation: its id, then its method, its path below ``/api/v1/``, the names in its
query, and the names in its JSON body, or null where that is no object of known fields.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "clients" / "python" / "src" / "labelhub_client" / "operations.json"
PREFIX = "/api/v1/"


def write_table(document: Mapping[str, Any]) -> str:
    """The file's text."""
    rows = {
        operation["operationId"]: [
            method.upper(),
            path.removeprefix(PREFIX),
            sorted(
                given["name"] for given in operation.get("parameters", []) if given["in"] == "query"
            ),
            body_fields(document, operation),
        ]
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(rows.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def body_fields(document: Mapping[str, Any], operation: Mapping[str, Any]) -> list[str] | None:
    """All fields of all alternatives of a JSON body; none where there is no body."""
    if "requestBody" not in operation:
        return []
    content = operation["requestBody"]["content"].get("application/json", {})
    found = list(alternatives(document, content.get("schema", {})))
    if any("properties" not in schema for schema in found):
        return None
    return sorted({name for schema in found for name in schema["properties"]})


def alternatives(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas that a value may have, with references followed."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield from alternatives(document, document["components"]["schemas"][name])
        return
    parts = [part for key in ("allOf", "oneOf", "anyOf") for part in schema.get(key, [])]
    if not parts:
        yield schema
    for part in parts:
        yield from alternatives(document, part)


if __name__ == "__main__":
    TABLE.write_text(write_table(json.load(sys.stdin)))
