"""A question in the corner of a page: everybody can use it, it disturbs nobody who writes, and what
is clicked before it can have been read is no answer.

Not covered here, because no machine can: whether screen readers read it well.
"""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.widget_steps import (
    AT_ONCE,
    MESSAGE,
    SAVED,
    WORD,
    Shop,
    agree,
    asked,
    asked_before,
    card,
    evaluated,
    faults,
    inspector,
    kept,
    options,
    readable_now,
    ready,
    sockets_of,
    soon,
    status,
    tell,
    words_of,
)

ACTIVE = "document.querySelector('labelhub-widget').shadowRoot.activeElement"
FIELD = "() => [document.activeElement.localName, document.querySelector('textarea').value]"
ARABIC = "أحتاج إلى مصباح دافئ لرحلة التخييم الأسبوع المقبل، ولا أريده غاليًا."
HIDE = """(state) => {
  Object.defineProperty(document, "visibilityState", { get: () => state, configurable: true });
  Object.defineProperty(document, "hidden", { get: () => state === "hidden", configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def focused(page: Page) -> str:
    """The words of what has the focus inside the widget."""
    return str(evaluated(page, f"{ACTIVE}?.innerText ?? ''")).split("\n")[0]


def tab_to(page: Page, words: str) -> None:
    """By the tabulator, and within the card."""
    expect(page.get_by_role("button", name=words, exact=True)).to_be_visible()
    for _ in range(15):
        if focused(page) == words:
            return
        page.keyboard.press("Tab")
    pytest.fail(f"'{words}' is not reached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_state(scheme: Any, open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None, color_scheme=scheme, reduced_motion="reduce")
    page.goto(shop.page(site))
    tell(page)
    expect(card(page)).to_be_visible()
    found = faults(page, "consent")
    agree(page)
    first = options(page).first
    expect(first).to_have_attribute("aria-disabled", "true")
    found += faults(page, "gated")
    page.get_by_role("button", name="Why am I asked?").click()
    expect(page.get_by_role("button", name="Back")).to_be_visible()
    found += faults(page, "why")
    readable_now(page, site)
    found += faults(page, "enabled")
    page.get_by_role("button", name="None of these fit").click()
    expect(page.get_by_role("textbox", name="In one word")).to_be_visible()
    found += faults(page, "none of these fit")
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="My data").click()
    page.get_by_role("button", name="Show my data").click()
    expect(page.get_by_role("button", name="Download")).to_be_visible()
    found += faults(page, "my data, shown")
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="My data").click()
    page.get_by_role("button", name="Delete my data").click()
    found += faults(page, "delete?")
    page.get_by_role("button", name="Keep").click()
    options(page).first.click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    found += faults(page, "thanks and undo")
    assert not found, "\n".join(found)
    page.get_by_role("button", name="Close").evaluate(
        "(node) => node.replaceWith(document.createElement('button'))"
    )
    assert "button-name" in "".join(faults(page, "damaged")), "axe looks into the widget"


def test_from_right_to_left_and_for_a_word(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None, reduced_motion="reduce", locale="ar")
    page.goto(shop.page(shop.site(languages=["ar"])))
    tell(page, ARABIC)
    page.get_by_role("button", name="موافق").click()
    expect(options(page).first).to_be_visible()
    found = faults(page, "from right to left")
    assert [card(page).get_attribute(name) for name in ("lang", "dir")] == ["ar", "rtl"]
    box = card(page).bounding_box()
    assert box is not None
    assert box["x"] < 100, "the card is not at the left"

    site, page = shop.site(WORD), open_as(None, reduced_motion="reduce")
    address = shop.page(site, attributes=AT_ONCE)
    page.goto(address)
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    with inspector(page) as session:
        session.send("Network.enable")
        session.send("Network.setBlockedURLs", {"urls": ["*card-more*"]})
        tell(page)
        agree(page)
        soon(page, lambda: any("card-more" in url for url in failed), "the part to be missed")
        page.wait_for_timeout(300)
        expect(card(page)).to_have_count(0)
    page.goto(address)
    field = page.get_by_role("textbox", name="In one word, what mattered most")
    field.fill("two words")
    page.keyboard.press("Enter")
    expect(page.get_by_text("One word, please.")).to_be_visible()
    found += faults(page, "word, refused")
    assert not found, "\n".join(found)
    assert site.answers() == []


def test_who_writes_is_not_disturbed(open_as: OpenAs, shop: Shop) -> None:
    """Caret, selection and digits are theirs, Esc is their page's; a click leaves the caret."""
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    field = page.get_by_label("Ask us")
    tell(page)
    agree(page)
    field.click()
    page.keyboard.type("one 1 two 2", delay=30)
    expect(options(page).first).to_be_visible()
    page.keyboard.type(" 1234s0", delay=30)
    page.keyboard.press("Escape")
    assert page.evaluate(FIELD) == ["textarea", "one 1 two 2 1234s0"]
    page.evaluate("() => document.activeElement.setSelectionRange(4, 5)")
    ready(page)
    expect(card(page)).to_be_visible()
    options(page).nth(1).click()
    expect(page.get_by_text(SAVED).first).to_be_visible()
    page.keyboard.type("3")
    assert page.evaluate(FIELD) == ["textarea", "one 3 two 2 1234s0"]
    assert len(site.answers()) == 1


def test_by_keys_alone(open_as: OpenAs, shop: Shop) -> None:
    """The shortcut leads in, Tab through it and out, a digit answers, and the focus goes back."""
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    asked_before(page, site)
    assert status(page) == "A short optional question is available. Press Alt+Shift+Q."
    page.get_by_label("Ask us").focus()
    page.keyboard.press("Escape")  # it is sent away only from inside
    page.keyboard.press("Alt+Shift+Q")
    third = words_of(options(page).nth(2))
    passed = []
    for _ in range(20):
        passed.append(focused(page))
        page.keyboard.press("Tab")
        if not page.evaluate("() => document.activeElement?.matches('labelhub-widget')"):
            break
    else:
        pytest.fail(f"the focus does not leave the card: {passed}")
    assert passed[0] == words_of(options(page).first)
    assert {"None of these fit", "Skip", "Don’t ask again", "My data"} <= set(passed)
    assert card(page).get_attribute("aria-modal") == "false"
    page.get_by_label("Ask us").focus()
    page.keyboard.press("Alt+Shift+Q")
    for wanted in ("My data", "Show my data"):
        tab_to(page, wanted)
        page.keyboard.press("Enter")
    data = page.locator("labelhub-widget pre")
    expect(data).to_contain_text(MESSAGE)
    assert evaluated(page, f"{ACTIVE}.localName") == "pre"
    with page.expect_download() as found:
        page.get_by_role("button", name="Download").press("Enter")
    assert json.loads(found.value.path().read_text()) == json.loads(data.inner_text())
    tab_to(page, "Back")
    page.keyboard.press("Enter")
    page.keyboard.press("3")
    expect(page.get_by_text(SAVED).first).to_be_visible()
    (answer,) = soon(page, site.answers, "the answer")
    assert (answer["value"], answer["position"], answer["keyboard"]) == (third, 2, 1)
    assert status(page) == SAVED
    # Not "Undo", one Tab away: a key that is held a moment too long takes nothing back.
    assert focused(page) == SAVED
    page.keyboard.press("Tab")
    assert focused(page) == "Undo"
    page.keyboard.press("Escape")
    expect(card(page)).to_have_count(0)
    assert page.evaluate(FIELD)[0] == "textarea"
    assert status(page) == ""


def test_a_click_before_it_can_be_read_is_no_answer(open_as: OpenAs, shop: Shop) -> None:
    """On the widget's clock and on the server's; a hidden tab reads nothing. Undo takes it back."""
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    asked(page)
    soon(page, lambda: site.rows("question")[0]["shown_at"], "the question to be shown")
    first, words = options(page).first, options(page).all_inner_texts()
    assert not first.evaluate("(node) => node.disabled"), "it can be reached"
    described = first.get_attribute("aria-describedby")
    assert "Ready in" in page.locator(f"labelhub-widget #{described}").inner_text()
    sizes = options(page).evaluate_all("(all) => all.map((one) => one.offsetHeight)")
    assert min(sizes) >= 44
    first.click(force=True)
    soon(page, lambda: "early" in site.happened(), "the early click to be noted")
    # Headless, no tab is ever hidden: the page is told that it is.
    page.evaluate(HIDE, "hidden")
    left = page.get_by_text("Ready in").inner_text()
    page.wait_for_timeout(2500)
    assert abs(int(left.split()[2]) - int(page.get_by_text("Ready in").inner_text().split()[2])) < 2
    page.evaluate(HIDE, "visible")
    assert site.answers() == []
    ready(page)
    assert options(page).all_inner_texts() == words
    first.click()
    expect(page.get_by_text(SAVED).first).to_be_visible()
    assert "refused_early" not in site.happened(), "the two clocks agree"
    (question,), (answer,) = site.rows("question"), site.answers()
    assert (question["early"], answer["timing"]) == (1, "ok")
    assert answer["visible_ms"] >= question["min_ms"]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.").first).to_be_attached()
    assert site.answers() == []
    ready(page)
    other = words_of(options(page).nth(1))
    options(page).nth(1).click()
    expect(page.get_by_text(SAVED).first).to_be_visible()
    assert [given["value"] for given in site.answers()] == [other]


def test_dont_ask_again_lasts(open_as: OpenAs, shop: Shop) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    asked(page)
    page.get_by_role("button", name="Don’t ask again").click()
    expect(page.get_by_text("You will not be asked again.").first).to_be_visible()
    soon(page, lambda: "opted_out" in site.happened(), "the opt-out")
    page.reload()
    expect(page.locator("labelhub-widget")).to_be_attached()
    tell(page, "Another lamp, please, a warm one.")
    page.wait_for_timeout(500)
    expect(card(page)).to_have_count(0)
    assert len(site.messages()) == 1


def test_of_two_tabs_one_asks_and_one_answer_counts(open_as: OpenAs, shop: Shop) -> None:
    site, first = shop.site(), open_as(None)
    address = shop.page(site)
    first.goto(address)
    asked_before(first, site)
    second = first.context.new_page()
    opened = sockets_of(second)
    second.goto(address)
    soon(second, lambda: opened, "the second tab's socket")
    second.wait_for_timeout(700)
    assert [card(first).count(), card(second).count()] == [1, 0]
    # No lock and no channel joins two browsers: the server takes the question off the other.
    # What it has is as an earlier version stored it: all in one.
    other, name = open_as(None), f"labelhub.{site.key}"
    known = json.dumps(kept(first, site))
    other.add_init_script(f"localStorage.setItem({name!r}, {known!r})")
    other.goto(address)
    ready(other)
    first.close()  # what it was asked moves on
    ready(second)
    options(second).first.click()
    expect(second.get_by_text(SAVED).first).to_be_visible()
    expect(card(other)).to_have_count(0)
    status = other.locator("labelhub-widget [role=status]").first
    expect(status).to_have_text("This question is no longer open.")
    assert len(site.answers()) == 1
