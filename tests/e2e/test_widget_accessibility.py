"""Everybody can use the widget, and nobody is disturbed by it: axe-core in every state, typing that
goes on, keys that act only inside, what screen readers are told.

Not covered here, because no machine can: whether screen readers read it well.
"""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.widget_steps import (
    MESSAGE,
    SAVED,
    WORD,
    Shop,
    agree,
    answers,
    asked,
    asked_before,
    card,
    faults,
    options,
    readable_now,
    ready,
    rows,
    soon,
    tell,
    words_of,
)

ARABIC = "أحتاج إلى مصباح دافئ لرحلة التخييم الأسبوع المقبل، ولا أريده غاليًا."
FIELD = "() => [document.activeElement.localName, document.querySelector('textarea').value]"
INSIDE = "() => document.querySelector('labelhub-widget').shadowRoot.activeElement?.innerText ?? ''"
SCHEMES: list[Any] = ["light", "dark"]


def status(page: Page) -> str:
    """What screen readers are told."""
    return page.locator("labelhub-widget [role=status]").first.inner_text()


def focused(page: Page) -> str:
    """The words of what has the focus inside the widget."""
    return str(page.evaluate(INSIDE)).split("\n")[0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_in_the_companion(
    scheme: Any, open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site = shop.site()
    page = open_as(None, color_scheme=scheme, reduced_motion="reduce")
    page.goto(shop.page(site))
    expect(page.locator("labelhub-widget")).to_be_attached()
    found = faults(page, "closed")
    tell(page)
    expect(card(page)).to_be_visible()
    found += faults(page, "consent")
    agree(page)
    expect(options(page).first).to_have_attribute("aria-disabled", "true")
    found += faults(page, "gated")
    page.get_by_role("button", name="Why am I asked?").click()
    expect(page.get_by_role("button", name="Back")).to_be_visible()
    found += faults(page, "why")
    readable_now(page, server, site)
    found += faults(page, "enabled")
    page.get_by_role("button", name="None of these fit").click()
    expect(page.get_by_role("textbox", name="In one word")).to_be_visible()
    found += faults(page, "none of these fit")
    page.get_by_role("button", name="Back").click()
    options(page).first.click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    found += faults(page, "thanks and undo")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_where_one_sees_and_deletes_ones_data(
    scheme: Any, open_as: OpenAs, shop: Shop
) -> None:
    page = open_as(None, color_scheme=scheme, reduced_motion="reduce")
    page.goto(shop.page(shop.site()))
    asked(page)
    page.get_by_role("button", name="My data").click()
    expect(page.get_by_role("button", name="Show my data")).to_be_visible()
    found = faults(page, "my data")
    page.get_by_role("button", name="Show my data").click()
    expect(page.get_by_role("button", name="Download")).to_be_visible()
    found += faults(page, "my data, shown")
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="My data").click()
    page.get_by_role("button", name="Delete my data").click()
    expect(page.get_by_role("button", name="Keep")).to_be_visible()
    found += faults(page, "delete?")
    page.get_by_role("button", name="Keep").click()
    expect(options(page)).to_have_count(4)
    assert not found, "\n".join(found)


def test_axe_looks_into_the_widget(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    page.goto(shop.page(shop.site()))
    asked(page)
    page.get_by_role("button", name="Close").evaluate(
        "(node) => node.replaceWith(document.createElement('button'))"
    )
    assert "button-name" in "".join(faults(page, "damaged"))


def test_axe_finds_nothing_where_a_word_is_asked_for(
    open_as: OpenAs, shop: Shop, server: Server
) -> None:
    site = shop.site(WORD)
    page = open_as(None, reduced_motion="reduce")
    page.goto(shop.page(site))
    tell(page)
    agree(page)
    field = page.get_by_role("textbox", name="In one word, what mattered most")
    expect(field).to_be_visible()
    found = faults(page, "word, gated")
    field.fill("two words")
    page.keyboard.press("Enter")
    expect(page.get_by_text("One word, please.")).to_be_visible()
    found += faults(page, "word, refused")
    assert not found, "\n".join(found)
    assert answers(server, site) == []


def test_axe_finds_nothing_from_right_to_left(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None, reduced_motion="reduce", locale="ar")
    page.goto(shop.page(shop.site(languages=["ar"])))
    tell(page, ARABIC)
    expect(card(page)).to_be_visible()
    found = faults(page, "consent")
    page.get_by_role("button", name="موافق").click()
    expect(options(page).first).to_be_visible()
    found += faults(page, "question")
    assert not found, "\n".join(found)
    assert [card(page).get_attribute(name) for name in ("lang", "dir")] == ["ar", "rtl"]
    box = card(page).bounding_box()
    assert box is not None
    assert box["x"] < 100, "the card is not at the left"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_in_the_chat(scheme: Any, open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None, color_scheme=scheme, reduced_motion="reduce")
    page.goto(shop.page(shop.site(chat_title="Corner shop"), "chat"))
    opener = page.get_by_role("button", name="Corner shop")
    expect(opener).to_be_visible()
    found = faults(page, "chat, closed")
    opener.click()
    expect(page.get_by_role("button", name="Agree")).to_be_visible()
    found += faults(page, "chat, consent")
    agree(page)
    page.get_by_label("Write a message").fill(MESSAGE)
    page.keyboard.press("Enter")
    expect(options(page).first).to_be_visible()
    found += faults(page, "chat, open, with a question")
    page.get_by_role("button", name="Menu").click()
    found += faults(page, "chat, menu")
    page.get_by_role("button", name="Show my data").click()
    expect(page.get_by_role("button", name="Download")).to_be_visible()
    found += faults(page, "chat, my data")
    assert not found, "\n".join(found)


def test_what_is_typed_stays_in_the_field(open_as: OpenAs, shop: Shop, server: Server) -> None:
    """Caret, selection and digits of whoever writes are theirs, Esc is their page's."""
    site = shop.site()
    page = open_as(None)
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
    readable = options(page).nth(1)
    expect(readable).not_to_have_attribute("aria-disabled", "true", timeout=12_000)
    expect(card(page)).to_be_visible()
    readable.click()
    expect(page.get_by_text(SAVED).first).to_be_visible()
    page.keyboard.type("3")
    assert page.evaluate(FIELD) == ["textarea", "one 3 two 2 1234s0"]
    assert len(answers(server, site)) == 1


def test_by_keys_alone(open_as: OpenAs, shop: Shop, server: Server) -> None:
    """The shortcut leads in, a digit answers, and the focus goes back where it was."""
    site = shop.site()
    page = open_as(None)
    page.goto(shop.page(site))
    asked_before(page, server, site)
    assert status(page) == "A short optional question is available. Press Alt+Shift+Q."
    page.get_by_label("Ask us").focus()
    page.keyboard.press("Alt+Shift+Q")
    third = words_of(options(page).nth(2))
    assert focused(page) == words_of(options(page).first)
    page.keyboard.press("3")
    expect(page.get_by_text(SAVED).first).to_be_visible()
    (answer,) = soon(page, lambda: answers(server, site), "the answer")
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


def test_tab_goes_through_the_card_and_out_again(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    page.goto(shop.page(shop.site()))
    asked(page)
    page.get_by_label("Ask us").focus()
    page.keyboard.press("Alt+Shift+Q")
    passed = []
    for _ in range(20):
        passed.append(focused(page))
        page.keyboard.press("Tab")
        if not page.evaluate("() => document.activeElement?.matches('labelhub-widget')"):
            break
    else:
        pytest.fail(f"the focus does not leave the card: {passed}")
    assert {"None of these fit", "Skip", "Don’t ask again", "My data"} <= set(passed)
    assert card(page).get_attribute("aria-modal") == "false"
    expect(card(page)).to_be_visible()


def test_escape_sends_it_away_only_from_inside(open_as: OpenAs, shop: Shop, server: Server) -> None:
    page, site = open_as(None), shop.site()
    page.goto(shop.page(site))
    asked(page)
    page.get_by_label("Ask us").focus()
    page.keyboard.press("Escape")
    expect(card(page)).to_be_visible()
    page.keyboard.press("Alt+Shift+Q")
    page.keyboard.press("Escape")
    expect(card(page)).to_have_count(0)
    assert page.evaluate(FIELD)[0] == "textarea"
    sql = (
        "SELECT status FROM authors_question question JOIN authors_site site "
        "ON site.id = question.site_id WHERE public_key = ?"
    )
    soon(page, lambda: rows(server, sql, site.key) == [{"status": "closed"}], "the question closed")


def test_a_page_can_keep_its_keys(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    page.goto(shop.page(shop.site(), attributes='data-hotkey="off"'))
    asked(page)
    assert status(page) == "A short optional question is available."
    page.get_by_label("Ask us").focus()
    page.keyboard.press("Alt+Shift+Q")
    assert page.evaluate(FIELD)[0] == "textarea"


def test_gated_options_can_be_read_and_reached(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    page.goto(shop.page(shop.site()))
    asked(page)
    first = options(page).first
    assert first.get_attribute("aria-disabled") == "true"
    assert not first.evaluate("(node) => node.disabled")
    first.focus()
    assert focused(page) == words_of(first)
    described = first.get_attribute("aria-describedby")
    assert "Ready in" in page.locator(f"labelhub-widget #{described}").inner_text()
    sizes = options(page).evaluate_all("(all) => all.map((one) => one.offsetHeight)")
    assert min(sizes) >= 44
    small = page.locator("labelhub-widget button").evaluate_all(
        "(all) => all.map((one) => Math.min(one.offsetHeight, one.offsetWidth))"
    )
    assert min(small) >= 24


def test_the_card_keeps_off_the_field_that_has_the_focus(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    low = "<style>textarea{position:fixed;right:20px;bottom:20px}</style>"
    page.goto(shop.loose_page(low + '<textarea aria-label="Ask us"></textarea>'
                              + shop.site().snippet()))  # fmt: skip
    page.get_by_label("Ask us").focus()
    asked(page)
    field, box = page.get_by_label("Ask us").bounding_box(), card(page).bounding_box()
    assert field is not None
    assert box is not None
    apart = box["y"] + box["height"] <= field["y"] or box["x"] + box["width"] <= field["x"]
    assert apart


def test_undo_takes_an_answer_back(open_as: OpenAs, shop: Shop, server: Server) -> None:
    site = shop.site()
    page = open_as(None)
    page.goto(shop.page(site))
    asked_before(page, server, site)
    options(page).nth(0).click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone.").first).to_be_attached()
    assert answers(server, site) == []
    ready(page)
    other = words_of(options(page).nth(1))
    options(page).nth(1).click()
    expect(page.get_by_text(SAVED).first).to_be_visible()
    assert [answer["value"] for answer in answers(server, site)] == [other]
