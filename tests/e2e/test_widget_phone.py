"""The card on a phone: at the bottom and small, with places to touch that are large enough, and off
the field in which the host's visitors write, wherever on the page it is.
"""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.widget_steps import Shop, agree, asked, card, options, tell

WIDTH, HEIGHT = 390, 844
PHONE: dict[str, Any] = {
    "viewport": {"width": WIDTH, "height": HEIGHT},
    "has_touch": True,
    "is_mobile": True,
}
#: Pixels that a finger needs, and the part of the screen that a card may take.
TOUCH, MOST = 44, 0.47
COMPOSER = (
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<style>body{{margin:0}}form{{position:absolute;left:0;right:0;{place};padding:8px}}"
    "textarea{{width:100%;height:60px}}</style>"
    '<form><textarea aria-label="Ask us"></textarea><button type="button">Send</button></form>'
)
PLACES = {"bottom": "bottom:0", "middle": "top:420px", "upper": "top:120px", "low": "bottom:200px"}


def box(page: Page, selector: str) -> dict[str, float]:
    """Where something is on the screen."""
    found = page.locator(selector).first.bounding_box()
    assert found is not None, selector
    top, height = found["y"], found["height"]
    return {"top": top, "bottom": top + height, "height": height}


@pytest.mark.parametrize("place", PLACES)
def test_the_card_stays_low_and_off_the_composer(place: str, open_as: OpenAs, shop: Shop) -> None:
    """Below the composer where there is room enough, else right above it."""
    page = open_as(None, **PHONE)
    composer = COMPOSER.format(place=PLACES[place])
    page.goto(shop.loose_page(composer + shop.site().snippet()))
    page.get_by_label("Ask us").tap()
    asked(page)
    own, form = box(page, "labelhub-widget .card"), box(page, "form")
    assert own["height"] <= MOST * HEIGHT
    assert own["top"] >= 0
    assert own["bottom"] <= HEIGHT
    below = own["top"] >= form["bottom"]
    assert below or own["bottom"] <= form["top"], (own, form)
    assert below == (place in {"middle", "upper"})
    first = box(page, "labelhub-widget .choice")
    assert own["top"] <= first["top"], "the first answer is seen"
    assert first["bottom"] <= own["bottom"]


def test_nothing_takes_the_focus_from_the_composer(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None, **PHONE)
    page.goto(shop.loose_page(COMPOSER.format(place="bottom:0") + shop.site().snippet()))
    page.get_by_label("Ask us").tap()
    tell(page)
    expect(card(page)).to_be_visible()
    assert page.evaluate("document.activeElement.localName") == "textarea"
    agree(page)
    page.get_by_label("Ask us").tap()
    expect(options(page).first).to_be_visible()
    assert page.evaluate("document.activeElement.localName") == "textarea"


def test_a_keyboard_does_not_cover_the_card(open_as: OpenAs, shop: Shop) -> None:
    """It leaves the layout as it is and covers its lower part; the browser moves the field up."""
    page = open_as(None, **PHONE)
    page.goto(shop.loose_page(COMPOSER.format(place="top:420px") + shop.site().snippet()))
    page.get_by_label("Ask us").tap()
    asked(page)
    assert box(page, "labelhub-widget .card")["bottom"] > HEIGHT - 30
    page.evaluate(
        """() => {
          Object.defineProperty(visualViewport, "height", { get: () => 540 });
          visualViewport.dispatchEvent(new Event("resize"));
        }"""
    )
    assert box(page, "labelhub-widget .card")["bottom"] <= box(page, "form")["top"]


def test_everything_can_be_touched(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None, **PHONE)
    page.goto(shop.loose_page(COMPOSER.format(place="top:120px") + shop.site().snippet()))
    tell(page)
    expect(card(page)).to_be_visible()
    small = too_small(page)
    agree(page)
    expect(options(page).first).to_be_visible()
    small += too_small(page)
    page.get_by_role("button", name="My data").tap()
    expect(page.get_by_role("button", name="Show my data")).to_be_visible()
    small += too_small(page)
    page.get_by_role("button", name="Show my data").tap()
    expect(page.get_by_role("button", name="Download")).to_be_visible()
    small += too_small(page)
    assert not small
    expect(page.get_by_role("button", name="Back")).to_be_in_viewport()


def too_small(page: Page) -> list[str]:
    """The buttons of the card that a finger could miss."""
    sizes = page.locator("labelhub-widget button").evaluate_all(
        "(all) => all.map((one) => [one.innerText, one.offsetWidth, one.offsetHeight])"
    )
    return [f"{words}: {wide} × {high}" for words, wide, high in sizes if min(wide, high) < TOUCH]


def apart(page: Page, field: str) -> bool:
    """Whether the card covers nothing of the field."""
    own = page.locator("labelhub-widget .card").bounding_box()
    other = page.locator(field).bounding_box()
    assert own is not None
    assert other is not None
    return (
        own["x"] + own["width"] <= other["x"]
        or own["x"] >= other["x"] + other["width"]
        or own["y"] + own["height"] <= other["y"]
        or own["y"] >= other["y"] + other["height"]
    )


def test_a_composer_inside_another_element_is_seen(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    composer = (
        "<x-chat></x-chat><script>customElements.define('x-chat', class extends HTMLElement {"
        "connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = `<textarea style="
        '"position:fixed;right:0;bottom:0;width:500px;height:80px"></textarea>`; } })</script>'
    )
    page.goto(shop.loose_page(composer + shop.site().snippet()))
    page.wait_for_selector("labelhub-widget", state="attached")
    page.locator("x-chat textarea").click()
    asked(page)
    assert apart(page, "x-chat textarea")


def test_a_region_as_large_as_the_page_does_not_hide_the_composer(
    open_as: OpenAs, shop: Shop
) -> None:
    page = open_as(None)
    page.goto(
        shop.loose_page(
            '<main tabindex="-1" style="position:fixed;inset:0"><textarea aria-label="Ask us" '
            'style="position:fixed;right:0;bottom:0;width:500px;height:80px"></textarea></main>'
            + shop.site().snippet()
        )
    )
    page.wait_for_selector("labelhub-widget", state="attached")
    page.get_by_label("Ask us").focus()
    asked(page)
    page.evaluate("document.querySelector('main').focus()")
    page.wait_for_timeout(200)
    assert apart(page, "textarea")
