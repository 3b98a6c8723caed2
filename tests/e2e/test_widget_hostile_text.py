"""What a model writes is a stranger's word: refused where it is odd, and otherwise shown as the
plain text it is. Even what the rules should ever let through does no harm on the page."""

import json

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.widget_steps import (
    MOODS,
    Shop,
    asked,
    card,
    change,
    enter,
    evaluated,
    options,
    said,
    write,
)
from tests.fakes.openai_server import FakeServer

#: What the model says of a message, and what it expects, before it words a question.
JUDGED = ("Final Decision: ordinary message", "Final Decision: Calm")
FINE = ("Angry", "Torn", "Calm", "Glad")
TEMPLATE = "How did you feel when you wrote this message?"
#: A feature without fixed values: the model makes up question and options, the template is what
#: is asked where they are refused.
OPEN_MOOD = {
    "key": "mood",
    "name": "Mood",
    "definition": "How the author felt.",
    "always": True,
    "templates": {
        "en": {"question": TEMPLATE, "options": {mood.lower(): mood for mood in MOODS}},
    },
}
IMAGE = "<img src=x onerror='window.harmed=1'>"
TURNED = "\u202eturned\u202c"
UNBROKEN = "W" * 500
HARM = f"{IMAGE}<script>window.harmed=1</script>[click](javascript:window.harmed=1)"


def worded(question: str, labels: tuple[str, ...] = FINE) -> str:
    """A question in the form that is asked for."""
    return "\n".join([f"Question: {question}", "Options:", *(f"- {label}" for label in labels)])


def harmless(page: Page) -> None:
    """Nothing ran, nothing was built but what the widget builds, nothing is pushed out."""
    assert evaluated(page, "window.harmed ?? 0") == 0
    inside = "document.querySelector('labelhub-widget').shadowRoot"
    assert evaluated(page, f"{inside}.querySelectorAll('img,script,iframe,b').length") == 0
    hrefs = f"[...{inside}.querySelectorAll('a')].map((link) => link.protocol)"
    assert set(evaluated(page, hrefs)) <= {"http:", "https:"}
    widths = page.locator("labelhub-widget .card").evaluate_all(
        "(all) => all.map((one) => one.scrollWidth - one.clientWidth)"
    )
    assert all(width <= 0 for width in widths)
    assert evaluated(page, "document.documentElement.scrollWidth <= innerWidth")


def test_odd_questions_are_refused_and_decent_ones_shown(
    open_as: OpenAs, shop: Shop, endpoint: FakeServer, model: str
) -> None:
    odd_options = worded(TEMPLATE, (IMAGE, TURNED, UNBROKEN, "Call 555-0100-4711"))
    fine = "How did you feel 🙂 while you wrote this?"
    for first, second in (
        (worded(f"How did you {IMAGE} feel when you wrote this?"),
         worded(f"How did {TURNED} you feel at https://evil.example today?")),
        (odd_options, odd_options),
        (worded(fine), ""),
    ):  # fmt: skip
        site, page = shop.site(OPEN_MOOD, model=model), open_as(None)
        endpoint.reset()
        endpoint.script(*JUDGED, first, *([second] if second else []))
        page.goto(shop.page(site))
        asked(page, f"{IMAGE} I want a lamp that is warm and cheap, it is for our old tent.")
        (row,) = site.open_questions()
        labels = sorted(options(page).locator("span").all_inner_texts())
        if second:
            assert endpoint.outcomes["scripted"] == 4, "worded, and worded again"
            expect(card(page).get_by_text(TEMPLATE)).to_be_visible()
            assert labels == sorted(MOODS)
        else:
            assert row["source"] == "model"
            expect(card(page).get_by_text(fine)).to_be_visible()
            assert labels == sorted(FINE)
        assert card(page).locator("blockquote").inner_text().startswith("<img")
        harmless(page)


def test_what_no_rule_would_let_through_does_no_harm(open_as: OpenAs, shop: Shop) -> None:
    """Written into the database past every rule."""
    site, page = shop.site(), open_as(None, viewport={"width": 320, "height": 700})
    page.goto(shop.page(site))
    asked(page)
    (row,) = site.open_questions()
    labels = [HARM, TURNED, UNBROKEN, "🙂" * 40 + "\u0301" * 60]
    texts = json.dumps(
        [{"id": f"o{index}", "label": it, "value": ""} for index, it in enumerate(labels)]
    )
    text = f"{IMAGE} {TURNED} really?"
    sql = "UPDATE authors_question SET text = ?, options = ? WHERE id = ?"
    change(shop.server, sql, text, texts, row["id"])
    page.reload()
    expect(options(page).first).to_be_visible()
    assert card(page).locator(".asked").evaluate("(node) => node.textContent") == text
    shown = options(page).locator("span").evaluate_all("(all) => all.map((one) => one.textContent)")
    assert shown == labels
    harmless(page)
    isolated = (
        card(page)
        .locator(".asked, .choice span")
        .evaluate_all(
            "(all) => all.every((one) => getComputedStyle(one).unicodeBidi.startsWith('isolate'))"
        )
    )
    assert isolated, "a turned option turns nothing but itself"


def test_a_reply_in_the_chat_is_text_too(
    open_as: OpenAs, shop: Shop, endpoint: FakeServer, model: str
) -> None:
    site, page = shop.site(chat_model=model), open_as(None, viewport={"width": 400, "height": 700})
    endpoint.reset()
    endpoint.script(f"{HARM}\n\n**bold** {TURNED} {UNBROKEN}\n\n- <b>one</b>\n- two")
    enter(page, shop.page(site, "chat"), "Chat without questions")
    write(page)
    reply = said(page, "assistant").last
    expect(reply).to_contain_text("two")
    expect(page.locator("labelhub-widget [data-streaming]")).to_have_count(0)
    assert IMAGE in reply.inner_text()
    assert reply.locator("a").count() == 0
    assert reply.locator("li").all_inner_texts() == ["<b>one</b>", "two"]
    harmless(page)
    log = page.locator("labelhub-widget .log")
    assert log.evaluate("(node) => node.scrollWidth <= node.clientWidth")
