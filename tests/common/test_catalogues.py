"""Translations are read and compiled without gettext's programs."""

import gettext
from pathlib import Path

from apps.common.catalogues import compile_catalogues, read_entries

SOURCE = """# German
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=2; plural=(n != 1);\\n"

#: a.html
#, python-format
msgid "%(n)s item"
msgid_plural "%(n)s items"
msgstr[0] "%(n)s Element"
msgstr[1] "%(n)s Elemente"

msgctxt "verb"
msgid "Label"
msgstr "Labeln"
msgid "Two \\"lines\\"\\n"
"of text"
msgstr "Zwei „Zeilen“\\n"
"Text"

#, fuzzy
msgid "Guess"
msgstr "Rat"

msgid "New"
msgstr ""
"""


def folder(root: Path, source: str) -> Path:
    path = root / "de" / "LC_MESSAGES" / "django.po"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return root


def test_gettext_reads_what_is_compiled(tmp_path: Path) -> None:
    compile_catalogues(folder(tmp_path / "locale", SOURCE), tmp_path / "compiled")
    german = gettext.translation("django", tmp_path / "compiled", ["de"])
    assert german.ngettext("%(n)s item", "%(n)s items", 1) == "%(n)s Element"
    assert german.ngettext("%(n)s item", "%(n)s items", 2) == "%(n)s Elemente"
    assert german.pgettext("verb", "Label") == "Labeln"
    assert german.gettext('Two "lines"\nof text') == "Zwei „Zeilen“\nText"


def test_fuzzy_and_missing_translations_stay_english(tmp_path: Path) -> None:
    compile_catalogues(folder(tmp_path / "locale", SOURCE), tmp_path / "compiled")
    german = gettext.translation("django", tmp_path / "compiled", ["de"])
    assert [german.gettext(text) for text in ("Guess", "New")] == ["Guess", "New"]


def test_another_text_is_compiled_whatever_its_time(tmp_path: Path) -> None:
    for word in ("Etikett", "Label", "Etikett"):
        source = folder(tmp_path / "locale", f'msgid "Tag"\nmsgstr "{word}"\n')
        compile_catalogues(source, tmp_path / "compiled")
        german = (tmp_path / "compiled/de/LC_MESSAGES/django.mo").read_bytes()
        assert word.encode() in german


def test_entries_that_a_merge_has_put_together_are_all_read() -> None:
    merged = 'msgid "A"\nmsgstr "a"\nmsgid "B"\nmsgstr "b"\n\n\nmsgid "A"\nmsgstr "a2"\n'
    assert [(entry.id, entry.translations) for entry in read_entries(merged)] == [
        ("A", ("a",)), ("B", ("b",)), ("A", ("a2",)),
    ]  # fmt: skip
