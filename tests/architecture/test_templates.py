"""A strict Content-Security-Policy holds on every page: templates carry no style and no script."""

import re
from pathlib import Path

from django.contrib.staticfiles.finders import find

from tests.cases import all_cases

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
STYLES = sorted((ROOT / "static" / "css").rglob("*.css"))
SCRIPTS = sorted((ROOT / "static" / "js").rglob("*.js"))

FORBIDDEN = {
    "a style attribute": re.compile(r"<[^>]*\sstyle\s*=", re.IGNORECASE),
    "an event attribute": re.compile(
        r"<[^>]*\s(?:hx-)?on\w*(?::[\w-]+)*\s*=\s*[\"']", re.IGNORECASE
    ),
    "a script without src": re.compile(r"<script(?![^>]*\ssrc=)[^>]*>", re.IGNORECASE),
    "a style element": re.compile(r"<style[\s>]", re.IGNORECASE),
    "a javascript address": re.compile(r"javascript:", re.IGNORECASE),
    "a foreign address": re.compile(r"(?:src|href)=[\"'](?:https?:)?//", re.IGNORECASE),
}
#: Data for scripts is no script: the browser never runs it.
DATA = re.compile(r"<script[^>]*type=\"application/json\"[^>]*>")
FIRST_VIEW = 100_000
#: These put HTML into the page that our own templates made, and nothing else.
REVIEWED = {"review.js", "task.js", "schema_editor.js"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@all_cases("path", TEMPLATES, ids=name)
def test_a_template_carries_no_style_and_no_script(path: Path) -> None:
    source = DATA.sub("", path.read_text())
    found = [what for what, pattern in FORBIDDEN.items() if pattern.search(source)]
    assert found == []


def test_templates_name_static_files_that_exist() -> None:
    for path in TEMPLATES:
        named = re.findall(r"""\{% static ["']([^"']+)["'] %\}""", path.read_text())
        missing = [file for file in named if find(file) is None]
        assert missing == [], name(path)


@all_cases("path", [*STYLES, *SCRIPTS], ids=name)
def test_style_sheets_and_scripts_bring_nothing_from_elsewhere(path: Path) -> None:
    source = path.read_text()
    assert "@import" not in source
    assert not re.search(r"url\(|https?://", source)


@all_cases("path", SCRIPTS, ids=name)
def test_scripts_never_make_html_of_text(path: Path) -> None:
    source = path.read_text()
    unsafe = re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", source)
    allowed = {"innerHTML"} if path.name in REVIEWED else set()
    assert set(unsafe) <= allowed


@all_cases("path", STYLES, ids=name)
def test_colours_are_named_in_the_tokens_only(path: Path) -> None:
    if path.name == "tokens.css":
        return
    known = set(re.findall(r"(--[\w-]+):", (ROOT / "static/css/tokens.css").read_text()))
    own = set(re.findall(r"(--[\w-]+):", path.read_text()))
    used = set(re.findall(r"var\((--[\w-]+)", path.read_text()))
    assert used - known - own == set()


PHYSICAL = re.compile(
    r"(?:margin|padding|border|inset)-(?:left|right)"
    r"|[\s{;](?:left|right|float|text-align): *(?:left|right|\d)"
    r"|(?:margin|padding|inset): *(?!(\S+) (\S+) \S+ \2;)[^ ;]+ [^ ;]+ [^ ;]+ [^ ;]+;"
)
#: Being rebuilt.
PHYSICAL_YET = {"layout.css"}


@all_cases("path", STYLES, ids=name)
def test_style_sheets_work_from_right_to_left(path: Path) -> None:
    lines = path.read_text().replace(", ", ",").splitlines()
    found = [line for line in lines if PHYSICAL.search(line)]
    assert not found or path.name in PHYSICAL_YET


def test_the_first_view_is_light() -> None:
    sheet = (ROOT / "templates/components/stylesheets.html").read_text()
    linked = [ROOT / "static" / path for path in re.findall(r"static '([^']+)'", sheet)]
    modules = re.findall(r'from "\./([\w-]+\.js)"', (ROOT / "static/js/app.js").read_text())
    scripts = [ROOT / "static/js" / module for module in ("app.js", *modules)]
    shared = [*linked, *scripts, ROOT / "static/icons.svg", ROOT / "static/favicon.svg"]
    assert sum(path.stat().st_size for path in shared) < FIRST_VIEW
    assert set((ROOT / "static/css/components").glob("*.css")) <= set(linked)
