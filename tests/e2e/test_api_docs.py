"""The REST documentation in a browser: requests can be tried, and the policy is kept."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs

pytestmark = pytest.mark.thorough


def try_out(page: Page, operation: str, body: str = "") -> int:
    """Send a request from Swagger UI; the status of its response."""
    block = page.locator(f"#operations-projects-{operation}")
    block.locator(".opblock-summary-control").click()
    block.get_by_role("button", name="Try it out").click()
    if body:
        block.locator("textarea").fill(body)
    with page.expect_response("**/api/v1/projects/**") as response:
        block.get_by_role("button", name="Execute").click()
    return response.value.status


def test_a_session_reads_and_changes_in_swagger_ui(open_as: OpenAs) -> None:
    page = open_as("manager")
    page.goto("/api/docs/")
    page.locator("#operations-tag-projects").click()
    assert try_out(page, "projects_list") == 200
    body = '{"slug": "tried-out", "schema": {"task": "single", "labels": ["a", "b"]}}'
    assert try_out(page, "projects_create", body) == 201


def test_redoc_shows_and_searches_the_document(open_as: OpenAs) -> None:
    page = open_as(None)
    page.goto("/api/docs/redoc/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("LabelHub")
    page.get_by_placeholder("Search").fill("webhook")
    expect(page.get_by_role("search").get_by_text("List webhooks")).to_be_visible()
