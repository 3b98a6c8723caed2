"""The REST documentation in a browser: requests can be tried, and the policy is kept."""

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs

#: Milliseconds in which ReDoc has drawn all of the document, and made an index of it.
DRAWN = 60_000


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


def test_requests_are_tried_and_operations_found(open_as: OpenAs) -> None:
    page = open_as("manager")
    page.goto("/api/docs/")
    page.locator("#operations-tag-projects").click()
    assert try_out(page, "projects_list") == 200
    body = '{"slug": "tried-out", "schema": {"task": "single", "labels": ["a", "b"]}}'
    assert try_out(page, "projects_create", body) == 201
    page.goto("/api/docs/redoc/")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("LabelHub", timeout=DRAWN)
    page.get_by_placeholder("Search").fill("webhook")
    found = page.get_by_role("search").get_by_text("List webhooks")
    expect(found).to_be_visible(timeout=DRAWN)
