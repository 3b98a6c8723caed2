"""What the widget costs the page it is a guest of, and what keeps it welcome there."""

import gzip
import re
from pathlib import Path

import pytest

WIDGET = Path(__file__).parents[2] / "static" / "widget"
MODULES = sorted(WIDGET.rglob("*.js"))
LOCALES = sorted(path.stem for path in (WIDGET / "locales").glob("*.js"))
KB = 1024
MOST_LINES = 300
STATIC_IMPORT = re.compile(r'^import [^;]*?from "(\.[^"]+)";', re.MULTILINE)
NAMED_FILE = re.compile(r'"(\.{1,2}/[\w/-]+\.js)"')
WORD = re.compile(r"^  (\w+): ", re.MULTILINE)
# Each of these would break under `require-trusted-types-for 'script'` or `style-src 'none'`.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|document\.cookie"
    r"|setAttribute\(\"style\"|cssText|\bstyle: "
)


def _closure(*starts: str, named: bool = False) -> set[Path]:
    """The files that ``starts`` load: by import statements, if ``named`` by ``import()`` too."""
    pattern = NAMED_FILE if named else STATIC_IMPORT
    found: set[Path] = set()
    open_ends = [WIDGET / start for start in starts]
    while open_ends:
        path = open_ends.pop().resolve()
        if path not in found:
            found.add(path)
            open_ends += [path.parent / each for each in pattern.findall(path.read_text())]
    return found


def _weight(paths: set[Path]) -> int:
    return sum(len(gzip.compress(path.read_bytes(), 9)) for path in paths)


@pytest.mark.parametrize("locale", LOCALES)
def test_companion_mode_loads_at_most_12_kb_until_there_is_something_to_show(locale: str) -> None:
    loaded = _closure("v1.js", "companion.js", f"locales/{locale}.js")

    assert _weight(loaded) <= 12 * KB


def test_the_first_question_loads_at_most_8_kb_more() -> None:
    before = _closure("v1.js", "companion.js")

    assert _weight(_closure("questions.js", "styles.js") - before) <= 8 * KB


@pytest.mark.parametrize("rarely", ["consent.js", "theme.js", "card-more.js"])
def test_what_few_people_need_is_loaded_apart_and_small(rarely: str) -> None:
    usual = _closure("companion.js", "questions.js")

    assert WIDGET / rarely not in usual
    assert _weight(_closure(rarely) - usual) <= KB


@pytest.mark.parametrize("locale", LOCALES)
def test_the_chat_loads_at_most_35_kb_with_all_it_can_need(locale: str) -> None:
    words = {WIDGET / "locales" / f"{locale}.js", WIDGET / "chat" / "locales" / f"{locale}.js"}

    assert _weight(_closure("v1.js", "chat.js", named=True) | words) <= 35 * KB


@pytest.mark.parametrize("folder", ["locales", "chat/locales"])
def test_every_language_has_the_same_words(folder: str) -> None:
    tables = {path.stem: WORD.findall(path.read_text()) for path in (WIDGET / folder).glob("*.js")}

    assert set(tables) == set(LOCALES)
    assert all(words == tables["en"] for words in tables.values())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(WIDGET).as_posix())
def test_a_module_is_short_and_passes_a_strict_policy(path: Path) -> None:
    text = path.read_text()

    assert len(text.splitlines()) < MOST_LINES
    assert not FORBIDDEN.findall(text)
    assert all((path.parent / each).is_file() for each in NAMED_FILE.findall(text))
