"""Finds texts for people that do not go through gettext, in templates and in Python."""

import ast
import re
from collections.abc import Iterator

from deploy.messages import phrase_names, phrases_of_python

#: Names that are the same in every language.
NAMES = {
    "API", "CSV", "Echo", "Enter", "Esc", "GET", "HTTPS", "ID", "IPS", "JSON", "JSONL", "LLM",
    "LaTeX", "LabelHub", "OpenAPI", "PNG", "POST", "REST", "ReDoc", "SNIPS", "SVG", "Swagger", "UI",
    "URL", "USD", "UTC", "ms",
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
    text = re.sub(r"&\w+;", " ", text)  # characters
    return any(word not in NAMES for word in _WORD.findall(text))


def _line_breaks(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _line(source: str, found: re.Match[str]) -> int:
    return source.count("\n", 0, found.start()) + 1


#: Errors of programs, and those that only logs and REST show.
_UNSEEN = re.compile(
    r"[A-Z]\w*(Error|Exception)|BadRequest|Http404|ImproperlyConfigured|Interrupted|LeaseLost"
    r"|LearnerDied|LedgerIsAppendOnly|Malformed|ErrorAnswer|AnswerTooLong|NoAnswer|Postponed"
    r"|RunGone|SystemExit|AuthenticationFailed|PermissionDenied"
)


def plain_errors_of_python(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of errors that pages show and that nobody can translate: raised ones, and those
    of forms."""
    nodes = list(ast.walk(ast.parse(source)))
    raised = {node.exc for node in nodes if isinstance(node, ast.Raise)}
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        of_form = name in ("ValidationError", "add_error", "at")
        if not of_form and (call not in raised or _UNSEEN.fullmatch(name)):
            continue
        arguments = [*call.args, *(part.value for part in call.keywords)]
        if name == "at" or name in phrase_names():
            arguments = [part for part in arguments if not isinstance(part, ast.Constant)]
        for text in map(_text_of, arguments):
            if _SENTENCE.search(text) and " " in text:
                yield call.lineno, text


def odd_phrases_of_python(source: str) -> Iterator[tuple[int, str]]:
    """Phrases whose values are not those of their pattern."""
    for call, patterns in phrases_of_python(source, phrase_names()):
        values = {part.arg for part in call.keywords}
        for pattern in patterns:
            if not set(re.findall(r"%\((\w+)\)s", pattern)) <= values:
                yield call.lineno, pattern


_TEXT_ARGUMENTS = {
    "label", "help_text", "title", "caption", "heading", "empty_label", "placeholder", "note",
    "text",
}  # fmt: skip
_GETTEXT = re.compile(r"_|n?p?gettext(_lazy|_noop)?|Phrase")


def plain_texts_of_python(source: str, only: str = "") -> Iterator[tuple[int, str]]:
    """Line and text: sentences, words that are named as labels, titles and the like, and labels of
    choices. ``only``: no sentences ("labels"), or nothing but choices ("choices"); "pieces": also
    phrases in small letters, as sentences are built of them.

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
        wanted = {"": sentence, "pieces": sentence or re.fullmatch(r"[a-z]+( [a-z…]+)+\W?", text)}
        if _is_text(text) and (node in named or wanted.get(only)):
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
