"""The OpenAPI document and its page."""

import pytest
from django.test import Client

from apps.common.api.docs import groups, openapi_document

pytestmark = pytest.mark.django_db


def test_the_document_is_open_to_everybody(client: Client) -> None:
    response = client.get("/api/schema/", HTTP_ACCEPT="application/json")
    assert response.status_code == 200
    assert "/api/v1/projects/" in response.json()["paths"]


def test_the_page_shows_every_operation_to_everybody(client: Client) -> None:
    page = client.get("/api/docs/")
    assert page.status_code == 200
    shown = page.content.decode()
    for path in openapi_document()["paths"]:
        assert path in shown
    assert "Authorization: Token" in shown


def test_every_operation_says_in_a_line_what_it_does() -> None:
    silent = [
        f"{operation.method} {operation.path}"
        for group in groups()
        for operation in group.operations
        if not operation.summary and not operation.words
    ]
    assert silent == []


def test_every_operation_documents_how_it_refuses() -> None:
    for path, methods in openapi_document()["paths"].items():
        for method, operation in methods.items():
            refusals = operation["responses"]
            assert "401" in refusals, f"{method} {path}"
            if "{slug}" in path:
                assert "404" in refusals, f"{method} {path}"


def test_nested_fields_are_listed_with_their_path() -> None:
    projects = next(group for group in groups() if group.anchor == "projects")
    create = next(
        operation
        for operation in projects.operations
        if (operation.method, operation.path) == ("POST", "/api/v1/projects/")
    )
    names = [field.name for field in create.body]
    assert "schema.labels[].name" in names
    assert "-X POST" in create.curl
    assert next(field for field in create.body if field.name == "slug").required
