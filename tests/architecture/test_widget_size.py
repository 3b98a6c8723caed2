"""What the widget costs the page it is a guest of, and what keeps it welcome there."""

import re
from pathlib import Path

import pytest
from django.test import Client

from apps.authors.views.widget import build_of_files
from tests.cases import all_cases

WIDGET = Path(__file__).parents[2] / "apps" / "authors" / "widget"
MODULES = sorted(WIDGET.rglob("*.js"))
LOCALES = sorted(path.stem for path in (WIDGET / "locales").glob("*.js"))
FOLDERS = ("locales", "locales/more", "locales/offer", "chat/locales")
MOST_LINES = 300
#: Bytes of all that companion mode loads until the first question is answered, words included; and
#: with the parts that few people need, and what the first recommendation loads.
COMPANION, COMPANION_WITH_PARTS = 12_500, 18_000
CHAT_WITH_PARTS = 35_000
PART = re.compile(r'import\("\./([\w.-]+)"\)')
NAMED_FILE = re.compile(r'"(\.{1,2}/[\w/-]+\.js)"')
WORD = re.compile(r"^  (\w+): ", re.MULTILINE)
# Each of these would break under `require-trusted-types-for 'script'` or `style-src 'none'`.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|document\.cookie"
    r"|setAttribute\(\"style\"|cssText|\bstyle: "
)


def _weight(client: Client, *names: str) -> int:
    """Bytes of these files as the server sends them to a browser, which takes gzip."""
    sent = [
        client.get(f"/widget/{name}", headers={"accept-encoding": "gzip, br"})
        for name in ("v1.js", *(f"{build_of_files()}/{name}" for name in names))
    ]
    assert {response["Content-Encoding"] for response in sent} == {"gzip"}
    return sum(len(response.content) for response in sent)


def _parts(client: Client, name: str) -> list[str]:
    """What the file loads later, and what that loads."""
    text = client.get(f"/widget/{build_of_files()}/{name}").content.decode()
    return [name for part in PART.findall(text) for name in (part, *_parts(client, part))]


@pytest.mark.parametrize("locale", LOCALES)
def test_companion_mode_loads_at_most_12_500_bytes_until_the_first_answer(
    client: Client, locale: str
) -> None:
    usual = ("companion.js", f"locales/{locale}.js")
    assert _weight(client, *usual) <= COMPANION
    parts = (
        f"locales/more/{locale}.js",
        f"locales/offer/{locale}.js",
        *_parts(client, "companion.js"),
    )
    assert _weight(client, *usual, *parts) <= COMPANION_WITH_PARTS


def test_what_few_people_need_is_loaded_apart(client: Client) -> None:
    assert set(_parts(client, "companion.js")) == {
        "theme.js",
        "card-more.js",
        "offer-card.js",
    }


@pytest.mark.parametrize("locale", LOCALES)
def test_the_chat_loads_at_most_35_000_bytes_with_all_it_can_need(
    client: Client, locale: str
) -> None:
    words = [f"{folder}/{locale}.js" for folder in FOLDERS]
    assert _weight(client, "chat.js", *words, *_parts(client, "chat.js")) <= CHAT_WITH_PARTS


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_language_has_the_same_words(folder: str) -> None:
    tables = {path.stem: WORD.findall(path.read_text()) for path in (WIDGET / folder).glob("*.js")}

    assert set(tables) == set(LOCALES)
    assert all(words == tables["en"] for words in tables.values())


@all_cases("path", MODULES, ids=lambda path: path.relative_to(WIDGET).as_posix())
def test_a_module_is_short_and_passes_a_strict_policy(path: Path) -> None:
    text = path.read_text()

    assert len(text.splitlines()) < MOST_LINES
    assert not FORBIDDEN.findall(text)
    assert all((path.parent / name).is_file() for name in NAMED_FILE.findall(text))
