"""What somebody sees who has no business there; every address is walked in tests/architecture."""

from playwright.sync_api import expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import DEMO


def test_strangers_find_nothing_and_viewers_only_read(open_as: OpenAs) -> None:
    page = open_as("stranger")
    answer = page.goto(f"/p/{DEMO}/items/")
    assert answer is not None
    assert answer.status == 404
    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing here")
    expect(page.get_by_role("link", name="To the projects")).to_be_visible()
    assert "Hotel reviews" not in page.content()

    page = open_as("viewer")
    page.goto(f"/p/{DEMO}/")
    navigation = page.get_by_role("navigation", name="Project")
    expect(navigation.get_by_role("link", name="Data")).to_be_visible()
    expect(navigation.get_by_role("link", name="Review")).to_have_count(0)
    answer = page.goto(f"/p/{DEMO}/review/")
    assert answer is not None
    assert answer.status == 403
    expect(page.get_by_role("heading", level=1)).to_have_text("You may not do this")


def test_nobody_is_asked_to_sign_in_and_then_gets_there(open_as: OpenAs) -> None:
    page = open_as(None)
    page.goto(f"/p/{DEMO}/items/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    for password in ("not the password", "labelhub-demo"):
        page.get_by_label("User name or email").fill("manager")
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in", exact=True).click()
        if password != "labelhub-demo":
            expect(page.get_by_role("alert")).to_contain_text("not correct")
            expect(page.get_by_label("User name or email")).to_have_value("manager")
    expect(page.get_by_role("heading", level=1)).to_have_text("Items")
