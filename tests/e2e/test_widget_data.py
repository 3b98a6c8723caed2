"""Whoever is asked can see what is kept of them, from the card itself: in every language, by keys
alone, on a page with a strict policy, and also while nothing reaches the server.
"""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.server import Server
from tests.e2e.widget_steps import (
    MESSAGE,
    MOOD,
    SAVED,
    WORD,
    Shop,
    agree,
    asked,
    card,
    evaluated,
    inspector,
    options,
    readable_now,
    soon,
    tell,
)

#: What the buttons say: my data, show my data, download, back.
WORDS = {
    "en": ("My data", "Show my data", "Download", "Back"),
    "de": ("Meine Daten", "Meine Daten zeigen", "Herunterladen", "Zurück"),
    "es": ("Mis datos", "Ver mis datos", "Descargar", "Volver"),
    "fr": ("Mes données", "Voir mes données", "Télécharger", "Retour"),
    "ja": ("自分のデータ", "自分のデータを見る", "ダウンロード", "戻る"),
    "ar": ("بياناتي", "اعرض بياناتي", "تنزيل", "رجوع"),
}
#: What is written in the language, and how one agrees to be asked.
WRITTEN = {
    "en": (MESSAGE, "Agree"),
    "de": ("Ich brauche nächste Woche eine warme Lampe für das Zelt.", "Einverstanden"),
    "es": ("Necesito una lámpara cálida para acampar la semana que viene.", "De acuerdo"),
    "fr": ("Il me faut une lampe chaude pour camper la semaine prochaine.", "D’accord"),
    "ja": ("来週のキャンプのために、あまり高くない暖かいランプが必要です。", "同意する"),
    "ar": ("أحتاج إلى مصباح دافئ لرحلة التخييم الأسبوع المقبل، ولا أريده غاليًا.", "موافق"),
}
#: The question and its answers, where they are not :data:`MOOD`'s own.
ASKED = {
    "de": ("Wie haben Sie sich gefühlt, als Sie das schrieben?",
           "Verärgert", "Hin und her", "Ruhig", "Fröhlich"),
    "es": ("¿Cómo se sentía al escribir este mensaje?",
           "Con enfado", "Con dudas", "Con calma", "Con alegría"),
    "fr": ("Comment vous sentiez-vous en écrivant ce message ?",
           "En colère", "En doute", "Au calme", "En joie"),
    "ja": ("これを書いたとき、どのような気持ちでしたか?",
           "不満", "迷い", "穏やか", "うれしい"),
}  # fmt: skip
ACTIVE = "document.querySelector('labelhub-widget').shadowRoot.activeElement"


def shown(page: Page) -> str:
    """The data, once they have come."""
    text = page.locator("labelhub-widget pre")
    expect(text).to_contain_text("{")
    return text.inner_text()


@pytest.mark.parametrize("language", WORDS)
def test_my_data_in_every_language(language: str, open_as: OpenAs, shop: Shop) -> None:
    """The host's page has the strictest policy that the widget allows for."""
    text, yes = WRITTEN[language]
    mine, show, download, back = WORDS[language]
    site = shop.site(in_any_language(), languages=[language])
    page = open_as(None, locale=language)
    page.goto(shop.page(site, attributes=f'data-lang="{language}"'))
    page.evaluate("(text) => LabelHub.message(text, { conversation: 'c-1' })", text)
    page.get_by_role("button", name=yes, exact=True).click()
    expect(options(page).first).to_be_visible()
    page.get_by_role("button", name=mine, exact=True).click()
    page.get_by_role("button", name=show, exact=True).click()
    assert text in json.dumps(json.loads(shown(page)), ensure_ascii=False)
    with page.expect_download() as found:
        page.get_by_role("button", name=download, exact=True).click()
    assert found.value.suggested_filename == "my-data.json"
    assert json.loads(found.value.path().read_text()) == json.loads(shown(page))
    page.get_by_role("button", name=back, exact=True).click()
    expect(options(page)).to_have_count(4)


def in_any_language() -> dict[str, Any]:
    """A feature that is asked about in each of the languages."""
    values = MOOD["values"]
    templates = {
        language: {"question": question, "options": dict(zip(values, options, strict=True))}
        for language, (question, *options) in ASKED.items()
    }
    return MOOD | {"templates": templates | MOOD["templates"]}


def test_my_data_by_keys_alone(open_as: OpenAs, shop: Shop, server: Server) -> None:
    """The focus goes into each view and comes back to the question, which can still be answered."""
    site, page = shop.site(), open_as(None)
    page.goto(shop.page(site))
    asked(page)
    readable_now(page, server, site)
    page.get_by_label("Ask us").focus()
    page.keyboard.press("Alt+Shift+Q")
    for wanted in ("My data", "Show my data"):
        tab_to(page, wanted)
        page.keyboard.press("Enter")
    assert MESSAGE in shown(page)
    assert evaluated(page, f"{ACTIVE}.localName") == "pre"
    tab_to(page, "Back")
    page.keyboard.press("Enter")
    expect(options(page)).to_have_count(4)
    page.keyboard.press("1")
    expect(page.get_by_text(SAVED).first).to_be_visible()


def tab_to(page: Page, words: str) -> None:
    """By the tabulator, and within the card."""
    expect(page.get_by_role("button", name=words, exact=True)).to_be_visible()
    for _ in range(15):
        if evaluated(page, f"{ACTIVE}?.innerText ?? ''") == words:
            return
        page.keyboard.press("Tab")
    pytest.fail(f"'{words}' is not reached")


def test_what_cannot_be_loaded_is_said_and_leaves_the_question(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    page.goto(shop.page(shop.site()))
    asked(page)
    with inspector(page) as session:
        session.send("Network.enable")
        session.send("Network.setBlockedURLs", {"urls": ["*card-more*"]})
        page.get_by_role("button", name="My data").click()
        told = page.locator("labelhub-widget [role=status]").first
        soon(page, lambda: told.inner_text().startswith("That did not work"), "to be told")
        expect(card(page)).to_contain_text("That did not work")
    expect(card(page)).to_be_visible()
    expect(options(page)).to_have_count(4)


def test_a_question_for_a_word_is_not_shown_without_its_input(open_as: OpenAs, shop: Shop) -> None:
    page = open_as(None)
    address = shop.page(shop.site(WORD), attributes='data-boundary="none"')
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
    expect(page.locator("labelhub-widget input")).to_be_visible()
