"""What a model writes is a stranger's word: refused where it is odd, and otherwise shown as the
plain text it is. Even what the rules should ever let through does no harm on the page."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.widget_steps import (
    MESSAGE,
    MOODS,
    Shop,
    add_model,
    agree,
    asked,
    card,
    change,
    evaluated,
    open_questions,
    options,
    tell,
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
LONG = "endless " * 62
UNBROKEN = "W" * 500
HARM = f"{IMAGE}<script>window.harmed=1</script>[click](javascript:window.harmed=1)"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


@pytest.fixture(scope="module")
def model(server: Server, endpoint: FakeServer) -> str:
    return add_model(server, endpoint.base_url)


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


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"How did you {IMAGE} feel when you wrote this?", f"How did {TURNED} you feel here?"),
        ("How did you feel at https://evil.example today?", "How did you feel, mail a@b.example?"),
        (f"How did you feel about {LONG}?", "Your password, please?"),
    ],
    ids=["markup-then-turned", "link-then-mail", "long-then-private"],
)
def test_odd_questions_are_refused_for_the_sites_own(
    first: str, second: str, open_as: OpenAs, shop: Shop, endpoint: FakeServer, model: str
) -> None:
    site, page = shop.site(OPEN_MOOD, model=model), open_as(None)
    endpoint.reset()
    endpoint.script(*JUDGED, worded(first), worded(second))
    page.goto(shop.page(site))
    asked(page)
    assert endpoint.outcomes["scripted"] == 4, "worded, and worded again"
    expect(card(page).get_by_text(TEMPLATE)).to_be_visible()
    assert sorted(options(page).locator("span").all_inner_texts()) == sorted(MOODS)
    harmless(page)


def test_options_that_a_model_makes_up_are_not_shown(
    open_as: OpenAs, shop: Shop, endpoint: FakeServer, model: str
) -> None:
    site, page = shop.site(OPEN_MOOD, model=model), open_as(None)
    odd = (IMAGE, TURNED, UNBROKEN, "Call 555-0100-4711")
    reply = worded("How did you feel when you wrote this message?", odd)
    endpoint.reset()
    endpoint.script(*JUDGED, reply, reply)
    page.goto(shop.page(site))
    asked(page)
    assert endpoint.outcomes["scripted"] == 4, "worded, and worded again"
    assert sorted(options(page).locator("span").all_inner_texts()) == sorted(MOODS)
    harmless(page)


def test_a_decent_question_of_a_model_is_shown_as_it_is(
    open_as: OpenAs, shop: Shop, server: Server, endpoint: FakeServer, model: str
) -> None:
    site, page = shop.site(OPEN_MOOD, model=model), open_as(None)
    text = "How did you feel 🙂 while you wrote this?"
    endpoint.reset()
    endpoint.script(*JUDGED, worded(text))
    page.goto(shop.page(site))
    asked(page)
    (row,) = open_questions(server, site)
    assert row["source"] == "model"
    expect(card(page).get_by_text(text)).to_be_visible()
    assert sorted(options(page).locator("span").all_inner_texts()) == sorted(FINE)


@pytest.mark.parametrize("width", [320, 1280])
def test_what_no_rule_would_let_through_does_no_harm(
    width: int, open_as: OpenAs, shop: Shop, server: Server
) -> None:
    """Written into the database past every rule."""
    site, page = shop.site(), open_as(None, viewport={"width": width, "height": 700})
    page.goto(shop.page(site))
    asked(page)
    (row,) = open_questions(server, site)
    labels = [HARM, TURNED, UNBROKEN, "🙂" * 40 + "\u0301" * 60]
    texts = [{"id": f"o{at}", "label": label, "value": ""} for at, label in enumerate(labels)]
    text = f"{IMAGE} {TURNED} really?"
    change(
        server,
        "UPDATE authors_question SET text = ?, options = ? WHERE id = ?",
        text,
        json.dumps(texts),
        row["id"],
    )
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
    said = f"{HARM}\n\n**bold** {TURNED} {UNBROKEN}\n\n- <b>one</b>\n- two"
    endpoint.reset()
    endpoint.script(said)
    page.goto(shop.page(site, "chat"))
    page.locator("labelhub-widget .launcher").click()
    page.get_by_role("button", name="Chat without questions").click()
    page.get_by_label("Write a message").fill(MESSAGE)
    page.keyboard.press("Enter")
    reply = page.locator("labelhub-widget .message.assistant .body").last
    expect(reply).to_contain_text("two")
    expect(page.locator("labelhub-widget [data-streaming]")).to_have_count(0)
    assert IMAGE in reply.inner_text()
    assert reply.locator("a").count() == 0
    assert reply.locator("li").all_inner_texts() == ["<b>one</b>", "two"]
    harmless(page)
    log = page.locator("labelhub-widget .log")
    assert log.evaluate("(node) => node.scrollWidth <= node.clientWidth")


def test_a_message_full_of_markup_is_quoted_as_text(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    page.goto(shop.page(shop.site()))
    tell(page, f"{IMAGE} I want a lamp that is warm and cheap, it is for our old tent.")
    agree(page)
    expect(options(page).first).to_be_visible()
    assert card(page).locator("blockquote").inner_text().startswith("<img")
    harmless(page)
