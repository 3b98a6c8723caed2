"""How the widget looks: pictures of it at the usual widths, in light, dark and forced colours, at a
quarter of a screen and with letters twice as large. Nothing is cut off or sticks out.

The pictures are in the test's own folder (``pytest --basetemp``) for whoever wants to look.
Only Chromium is run, here and in all tests of the widget: Firefox and WebKit are not there where
these tests run. Of what the widget needs, Safari's storage kept apart and storage that is not there
are played (``test_widget_policy.py``); how other engines draw it, and their screen readers, has to
be looked at by a person.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import ARGUMENTS, SETTLED
from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.widget_steps import (
    HOST,
    MESSAGE,
    SAVED,
    Shop,
    agree,
    asked,
    card,
    evaluated,
    options,
    readable_now,
    tell,
)

SIZES = {320: 568, 768: 1024, 1280: 800}
#: What is on the screen, and what of it is not as it should be.
MISFITS = """() => {
  const root = document.querySelector("labelhub-widget").shadowRoot;
  const faults = [];
  const inside = (box, around, what) => {
    const out = box.left < around.left - 1 || box.right > around.right + 1;
    if (out) faults.push(`${what} sticks out`);
  };
  const screen = { left: 0, right: innerWidth };
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page scrolls sideways");
  for (const frame of root.querySelectorAll(".card, .panel")) {
    const box = frame.getBoundingClientRect();
    if (!box.width) continue;
    inside(box, screen, frame.className);
    // In the chat, the list of messages and the card share the height and scroll.
    const { top, bottom } = (frame.closest(".slot") ?? frame).getBoundingClientRect();
    if (top < -1 || bottom > innerHeight + 1) faults.push(`${frame.className} is too high`);
    if (frame.scrollWidth > frame.clientWidth) faults.push(`${frame.className} scrolls sideways`);
    for (const part of frame.querySelectorAll("button, p, input, textarea, blockquote")) {
      const own = part.getBoundingClientRect();
      if (own.width > 1) inside(own, box, part.className || part.localName);
    }
  }
  return faults;
}"""
MEDIA: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "forced_colors": "none"},
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "forced": {"color_scheme": "light", "forced_colors": "active"},
}


def looked_at(page: Page, folder: Path, state: str, *media: str) -> list[str]:
    """Pictures at all widths and in these colours; what does not fit."""
    found = []
    for name in media or tuple(MEDIA):
        page.emulate_media(reduced_motion="reduce", **MEDIA[name])
        for width, height in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            found += looked_once(page, folder, f"{state}-{width}-{name}")
    return found


def looked_once(page: Page, folder: Path, name: str) -> list[str]:
    """One picture, and what does not fit on it."""
    evaluated(page, f"{SETTLED}.then(() => 0)")
    page.screenshot(path=folder / f"{name}.png")
    return [f"{name}: {fault}" for fault in page.evaluate(MISFITS)]


def test_the_card_fits_everywhere(
    open_as: OpenAs, shop: Shop, server: Server, tmp_path: Path
) -> None:
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    tell(page)
    expect(card(page)).to_be_visible()
    found = looked_at(page, tmp_path, "consent")
    agree(page)
    expect(options(page).first).to_be_visible()
    found += looked_at(page, tmp_path, "gated")
    page.get_by_role("button", name="Why am I asked?").click()
    expect(page.get_by_role("button", name="Back")).to_be_visible()
    found += looked_at(page, tmp_path, "why", "light")
    readable_now(page, server, site)
    found += looked_at(page, tmp_path, "enabled")
    options(page).first.click()
    expect(page.get_by_text(SAVED).first).to_be_visible()
    page.get_by_role("button", name="Undo").focus()  # it stays while it has the focus
    found += looked_at(page, tmp_path, "thanks", "light", "forced")
    assert not found, "\n".join(found)
    assert len(list(tmp_path.glob("*.png"))) == 3 * (3 + 3 + 1 + 3 + 2)


def test_the_chat_fits_everywhere(open_as: OpenAs, shop: Shop, tmp_path: Path) -> None:
    page = open_as(None)
    page.goto(shop.page(shop.site(), "chat"))
    page.locator("labelhub-widget .launcher").click()
    found = looked_at(page, tmp_path, "consent")
    agree(page)
    page.get_by_label("Write a message").fill(MESSAGE)
    page.keyboard.press("Enter")
    expect(options(page).first).to_be_visible()
    found += looked_at(page, tmp_path, "question")
    assert not found, "\n".join(found)


def test_a_page_magnified_four_times(open_as: OpenAs, shop: Shop, tmp_path: Path) -> None:
    """A screen of 1280 by 1024 pixels then has 320 by 256: the card scrolls in itself."""
    page = open_as(None, viewport={"width": 320, "height": 256})
    page.goto(shop.page(shop.site()))
    asked(page)
    found = looked_once(page, tmp_path, "magnified")
    assert not found, "\n".join(found)
    last = page.get_by_role("button", name="My data")
    last.scroll_into_view_if_needed()
    expect(last).to_be_in_viewport()


def test_forced_colours_keep_every_border(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None, forced_colors="active")
    page.goto(shop.page(shop.site()))
    asked(page)
    borders = page.locator("labelhub-widget .card, labelhub-widget .choice").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one).borderTopStyle)"
    )
    assert set(borders) <= {"solid", "dashed"}
    first = options(page).first
    assert first.evaluate("(node) => getComputedStyle(node).borderTopStyle") == "dashed"


@pytest.mark.parametrize("width", [320, 1280])
def test_letters_twice_as_large(
    width: int, browser: Browser, chromium: str, shop: Shop, tmp_path: Path
) -> None:
    """As people set them in their browser; the page's own sizes are in pixels."""
    profile = tmp_path / "profile"
    (profile / "Default").mkdir(parents=True)
    settings = {"webkit": {"webprefs": {"default_font_size": 32}}}
    (profile / "Default" / "Preferences").write_text(json.dumps(settings))
    sizes = "html{font-size:16px} textarea{font:13px monospace}"
    body = f"<style>{sizes}</style>{HOST}{shop.site().snippet()}"
    context = browser.browser_type.launch_persistent_context(
        profile,
        executable_path=chromium,
        headless=True,
        args=ARGUMENTS,
        viewport={"width": width, "height": SIZES[width]},
    )
    try:
        page = context.pages[0]
        page.goto(shop.loose_page(body))
        asked(page)
        size = card(page).evaluate("(node) => getComputedStyle(node).fontSize")
        found = looked_once(page, tmp_path, f"large-{width}")
    finally:
        context.close()
    assert size == "32px"
    assert not found, "\n".join(found)


def test_a_theme_of_the_host_is_taken_if_it_can_be_read(open_as: OpenAs, shop: Shop) -> None:
    themes = {
        "readable": "--lh-bg:#fdfaf3;--lh-fg:#2a2118;--lh-accent:#0a7d4f",
        "unreadable": "--lh-bg:#ffffff;--lh-fg:#cccccc;--lh-muted:#dddddd",
    }
    seen = {}
    for name, theme in themes.items():
        page = open_as(None)
        style = f"<style>labelhub-widget{{{theme}}}</style>"
        page.goto(shop.loose_page(style + HOST + shop.site().snippet()))
        asked(page)
        expect(card(page)).to_be_visible()
        seen[name] = card(page).evaluate(
            "(node) => [getComputedStyle(node).backgroundColor, getComputedStyle(node).color]"
        )
    assert seen["readable"] == ["rgb(253, 250, 243)", "rgb(42, 33, 24)"]
    assert seen["unreadable"] == ["rgb(255, 255, 255)", "rgb(26, 32, 41)"]
