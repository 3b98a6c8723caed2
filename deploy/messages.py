"""Bring ``locale/*/LC_MESSAGES/django.po`` up to date with the texts in code and templates.

Texts that nobody uses any more leave; new ones come without a translation, which a test reports.
Entries are sorted and name files without lines, so that branches merge; git keeps the lines of both
sides (see .gitattributes), and this script makes one file of them. Needs no gettext.
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from apps.common.catalogues import Entry, read_entries  # noqa: E402 - the path is set first

CALLS = {
    "_": ("id",), "gettext": ("id",), "gettext_lazy": ("id",), "gettext_noop": ("id",),
    "ngettext": ("id", "plural"), "ngettext_lazy": ("id", "plural"),
    "pgettext": ("context", "id"), "pgettext_lazy": ("context", "id"),
    "npgettext": ("context", "id", "plural"), "npgettext_lazy": ("context", "id", "plural"),
}  # fmt: skip
# Strings in what ``templatize`` makes of a template, which is not quite Python.
_STRING = r"""u?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
_CALL = re.compile(rf"\b({'|'.join(CALLS)})\(\s*({_STRING}(?:,\s*{_STRING})*)")


#: Errors that programs, operators and logs read are English.
ENGLISH_ERRORS = re.compile(
    r"apps/accounts/(oidc|scim/)|apps/authors/(consumers|views)/|apps/authors/selectors/(authors|sites)"
    r"|apps/authors/services/(answers|authors|chat|limits|messages|privacy|trust)"
    r"|apps/common/(charts/)?(files|sealing)|apps/exchange/webhooks/transport|apps/labels/querysets"
    r"|apps/echo/(states|services/(events|offer_delivery))"
    r"|labelhub/web/|labelhub/core/(agreement|debate|echo|interview|learning|similarity)"
    r"|/(admin|api|apps|consumers|jobs|management|migrations|serializers|tasks)[./]"
)


@cache
def phrase_names() -> frozenset[str]:
    """``Phrase``, and the errors that make a phrase of their text."""
    found = {"Phrase", "LabelhubError", "RowFault"}
    paths = [path for folder in ("apps", "labelhub") for path in (ROOT / folder).rglob("*.py")]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_bytes()))]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    size = 0
    while size < len(found):
        size = len(found)
        found |= {cls.name for cls in classes if found & {*map(_name_of, cls.bases)}}
    return frozenset(found)


def _name_of(node: ast.expr) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))


def phrases_of_python(source: str, names: frozenset[str]) -> Iterator[tuple[ast.Call, list[str]]]:
    """Calls of ``names``, or of their ``at``, with the text and its plural."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            func, arguments = node.func, node.args
            if isinstance(func, ast.Attribute) and func.attr == "at":
                func, arguments = func.value, arguments[1:]
            if _name_of(func) in names and (texts := _strings(arguments)):
                yield node, texts


def _strings(nodes: Sequence[ast.expr]) -> list[str]:
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [value for value in values if isinstance(value, str)]


def texts_of_python(source: str, names: frozenset[str]) -> Iterator[Entry]:
    """The texts in calls of gettext and in phrases, which are calls of ``names``."""
    for _, texts in phrases_of_python(source, names):
        yield entry_of("ngettext" if texts[1:] else "gettext", texts)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name, texts = _name_of(node.func), _strings(node.args)
            if name in CALLS and len(texts) >= len(CALLS[name]):
                yield entry_of(name, texts)


def texts_of_template(source: str) -> Iterator[Entry]:
    """The texts in translation tags, and in ``_("…")`` of other tags."""
    for name, strings in _CALL.findall(templatize(source)):
        yield entry_of(name, ast.literal_eval(f"[{strings}]"))


def entry_of(call: str, texts: Sequence[str]) -> Entry:
    """The entry of a call of gettext with these texts."""
    named = dict(zip(CALLS[call], texts, strict=False))
    return Entry(named["id"], named.get("plural", ""), named.get("context"))


@cache
def texts_in_use() -> dict[tuple[str, str], tuple[Entry, set[str]]]:
    """Each text with the files that use it."""
    found: dict[tuple[str, str], tuple[Entry, set[str]]] = {}
    patterns = ("templates/**/*.html", "templates/**/*.txt", "apps/**/*.py", "labelhub/**/*.py")
    for path in (path for pattern in patterns for path in ROOT.glob(pattern)):
        name = str(path.relative_to(ROOT))
        for entry in _texts_of(name, path.read_text(encoding="utf-8")):
            kept, files = found.setdefault(entry.key, (entry, set()))
            kept.plural = kept.plural or entry.plural
            files.add(name)
    return found


def _texts_of(name: str, source: str) -> Iterator[Entry]:
    if not name.endswith(".py"):
        return texts_of_template(source)
    english = ENGLISH_ERRORS.search(name)
    return texts_of_python(source, frozenset({"Phrase"}) if english else phrase_names())


def renewed(source: str) -> str:
    """A ``.po`` file with the texts in use, keeping the translations of ``source``."""
    known: dict[tuple[str, str], Entry] = {}
    for entry in read_entries(source):
        if entry.key not in known or entry.is_complete:
            known[entry.key] = entry
    comment = "".join(line + "\n" for line in source.splitlines() if line.startswith("# "))
    lines = [comment + _written("msgid", "") + _written("msgstr", known["", ""].translations[0])]
    for key, (entry, files) in sorted(texts_in_use().items()):
        old = known.get(key, entry).translations
        forms = 2 if entry.plural else 1
        texts = old if len(old) == forms else ("",) * forms
        lines.append(
            f"#: {' '.join(sorted(files))}\n"
            + ("#, python-format\n" if "%(" in entry.id + entry.plural else "")
            + ("" if entry.context is None else _written("msgctxt", entry.context))
            + _written("msgid", entry.id)
            + (_written("msgid_plural", entry.plural) if entry.plural else "")
            + "".join(
                _written(f"msgstr[{number}]" if entry.plural else "msgstr", text)
                for number, text in enumerate(texts)
            )
        )
    return "\n".join(lines)


def _written(keyword: str, text: str) -> str:
    for char, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(char, escaped)
    return f'{keyword} "{text}"\n'


def main() -> int:
    """Write the files that change; with ``--check`` only name them, and fail."""
    stale = []
    for path in sorted(ROOT.glob("locale/*/LC_MESSAGES/django.po")):
        source = path.read_text(encoding="utf-8")
        if (text := renewed(source)) != source:
            stale.append(str(path.relative_to(ROOT)))
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
        missing = sum(not entry.is_complete for entry in read_entries(text))
        print(f"{path.parent.parent.name}: {missing} texts without a translation")  # noqa: T201
    if "--check" in sys.argv and stale:
        print(f"Run `make messages`: {', '.join(stale)}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
