"""Finds texts for people that do not go through gettext, in templates and in Python."""

import ast
import re
from collections.abc import Iterator

#: Names that are the same in every language.
NAMES = {
    "API", "CSV", "Echo", "Enter", "Esc", "GET", "HTTPS", "ID", "IPS", "JSON", "JSONL", "LLM",
    "LabelHub", "OpenAPI", "PNG", "POST", "REST", "ReDoc", "SNIPS", "SVG", "Swagger", "UI", "URL",
    "USD", "UTC", "ms",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]{2,}")
#: Not for people, or translated already; only line breaks stay.
_SKIPPED = re.compile(
    r"\{% comment.*?endcomment %\}|\{#.*?#\}|<!--.*?-->|<!doctype[^>]*>"
    r"|\{% blocktranslate.*?endblocktranslate %\}"
    r"|<(script|style|code|kbd|pre)\b(?:[^>{]|\{[%{].*?[%}]\})*>.*?</\1>",
    re.DOTALL,
)
_TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_LITERAL = re.compile(r"""(_\()?("[^"]*"|'[^']*')""")
_SENTENCE = re.compile(r"[^\W\d_a-z][^\W\d_A-Z]|[^\W\d_]{2,} [^\W\d_]")
_TEXT_ARGUMENT = re.compile(r"""\b(?:text|title|label|note|caption|\w+_text)=("[^"]*"|'[^']*')""")
_ENGLISH_FILTER = re.compile(r"\|\s*(pluralize|yesno:\"[a-z ]*\w{3})")
_ELEMENT = re.compile(r"<[^<>]*>", re.DOTALL)
_ATTRIBUTE = re.compile(
    r"""\b(title|aria-label|placeholder|alt|data-key-label|data-name)\s*=\s*("[^"]*"|'[^']*')"""
)


def plain_texts_of_template(source: str) -> Iterator[tuple[int, str]]:
    """Line and text: of elements, of attributes that people read, and in tags and filters."""
    source = _SKIPPED.sub(_line_breaks, source)
    for tag in _TAG.finditer(source):
        yield from ((_line(source, tag), text) for text in _texts_of_tag(tag[0]))
    markup = _TAG.sub(lambda tag: "\0" + _line_breaks(tag), source)
    for element in _ELEMENT.finditer(markup):
        for attribute in _ATTRIBUTE.finditer(element[0]):
            if _is_text(attribute[2]):
                yield _line(markup, element), f"{attribute[1]}={attribute[2]}"
    text = _ELEMENT.sub(lambda element: "\1" + _line_breaks(element), markup)
    for piece in re.finditer(r"[^\1]+", text):
        if _is_text(piece[0]):
            yield _line(text, piece) + len(piece[0]) - len(piece[0].lstrip("\n")), piece[0].strip()


def _texts_of_tag(tag: str) -> Iterator[str]:
    if re.match(r"\{% (translate|url|static|load|extends|get_|blocktranslate)", tag):
        return
    if found := _ENGLISH_FILTER.search(tag):
        yield found[0]
    for argument in _TEXT_ARGUMENT.finditer(tag):
        if not _SENTENCE.search(argument[1]) and _is_text(argument[1]):
            yield argument[1]
    for literal in _LITERAL.finditer(re.sub(r"""\|(date|time):("[^"]*"|'[^']*')""", "", tag)):
        if not literal[1] and _SENTENCE.search(literal[2]) and _is_text(literal[2]):
            yield literal[2]


def _is_text(text: str) -> bool:
    # Not characters, nor the codes of errors.
    text = re.sub(r"&\w+;|\b\d{3} · \w+", " ", text)
    return any(word not in NAMES for word in _WORD.findall(text))


def _line_breaks(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _line(source: str, found: re.Match[str]) -> int:
    return source.count("\n", 0, found.start()) + 1


_TEXT_ARGUMENTS = {
    "label", "help_text", "title", "caption", "heading", "empty_label", "placeholder", "note",
    "text",
}  # fmt: skip
_GETTEXT = re.compile(r"_|n?p?gettext(_lazy|_noop)?")


def plain_texts_of_python(source: str, only: str = "") -> Iterator[tuple[int, str]]:
    """Line and text: sentences, words that are named as labels, titles and the like, and labels of
    choices. ``only``: no sentences ("labels"), or nothing but choices ("choices").

    Errors stay English, as REST shows them too; so do docstrings and what is logged.
    """
    yield from ((node.lineno, text) for node, text in plain_nodes(source, only))


def plain_nodes(source: str, only: str = "") -> Iterator[tuple[ast.expr, str]]:
    """The nodes of these texts."""
    tree = ast.parse(source)
    skipped: set[ast.AST] = set()
    named: set[ast.AST] = set()
    for node in ast.walk(tree):
        skipped.update(_skipped_by(node))
        named.update(_named_by(node, choices=only == "choices"))
    for node in ast.walk(tree):
        if node in skipped or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        if isinstance(node, ast.JoinedStr):
            # Its parts count as one text.
            skipped.update(node.values)
        text = _text_of(node)
        sentence = re.match(r"[A-Z…][^_\n]* [^_\n]*$", text) and not re.match(r"[A-Z]{2,}", text)
        if _is_text(text) and (node in named or (sentence and not only)):
            yield node, text


def _text_of(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part) or "…" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _skipped_by(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _is_translated(node)):
        yield from ast.walk(node)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value
    elif isinstance(node, ast.Dict):
        # Texts of the widget, by language.
        keys = {getattr(key, "value", None) for key in node.keys}
        yield from ast.walk(node) if {"en", "de"} <= keys else ()


def _named_by(node: ast.AST, *, choices: bool) -> Iterator[ast.AST]:
    if isinstance(node, ast.keyword) and node.arg in _TEXT_ARGUMENTS and not choices:
        yield node.value
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Column" and not choices:
        yield from node.args[:1]
    elif isinstance(node, ast.ClassDef) and any("Choices" in ast.unparse(b) for b in node.bases):
        for part in node.body:
            if isinstance(part, ast.Assign) and isinstance(part.value, ast.Tuple):
                yield part.value.elts[-1]


def _is_translated(call: ast.Call) -> bool:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    owner = getattr(getattr(call.func, "value", None), "id", "")
    return bool(_GETTEXT.fullmatch(name)) or owner in {"logger", "log"}
