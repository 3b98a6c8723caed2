"""Catalogues of translated texts: read ``.po`` files, and compile them to ``.mo`` without gettext.

``.po`` files are the source, in ``locale/<language>/LC_MESSAGES/django.po``. A server compiles them
when it starts from a checkout, into its data folder; so no compiled file can be out of date, and
none is committed. A wheel has them compiled (deploy/build_hook.py).
"""

import ast
import os
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_LINE = re.compile(r'(?:(msgctxt|msgid_plural|msgid|msgstr)(?:\[\d\])? +)?(".*")')


@dataclass(slots=True)
class Entry:
    """A text and its translations: one, or one for each plural form; empty ones are missing."""

    id: str
    plural: str = ""
    context: str | None = None
    translations: tuple[str, ...] = ()
    flags: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What gettext looks up: id and context."""
        return (self.id, self.context or "")

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing or in doubt."""
        return all(self.translations) and bool(self.translations) and "fuzzy" not in self.flags


def read_entries(source: str) -> Iterator[Entry]:
    """The entries of a ``.po`` file, its header first (with the id ``""``).

    A new ``msgid`` ends an entry even without a blank line, as a merge of two files leaves it.
    """
    texts: dict[str, list[str]] = {}
    flags, keyword = "", ""
    for line in [*source.splitlines(), 'msgid ""']:
        if "msgstr" in texts and line.startswith(("#", "msgctxt ", "msgid ")):
            yield _entry(texts, flags)
            texts, flags = {}, ""
        if line.startswith("#,"):
            flags += line[2:]
        if (found := _LINE.fullmatch(line.strip())) is None:
            continue
        started, text = found[1], ast.literal_eval(found[2])
        if started:
            keyword = started
            texts.setdefault(keyword, []).append(text)
        else:
            texts[keyword][-1] += text


def _entry(texts: Mapping[str, list[str]], flags: str) -> Entry:
    return Entry(
        id=texts["msgid"][0],
        plural=texts.get("msgid_plural", [""])[0],
        context=texts["msgctxt"][0] if "msgctxt" in texts else None,
        translations=tuple(texts["msgstr"]),
        flags=flags,
    )


def compile_entries(entries: Iterator[Entry]) -> bytes:
    """A ``.mo`` file of the complete entries, as gettext reads it."""
    texts = {}
    for entry in entries:
        if entry.is_complete:
            context = "" if entry.context is None else f"{entry.context}\x04"
            plural = f"\0{entry.plural}" if entry.plural else ""
            texts[f"{context}{entry.id}{plural}".encode()] = "\0".join(entry.translations).encode()
    keys = sorted(texts)
    sides = (keys, [texts[key] for key in keys])
    # Magic number, version, count, offsets of both tables, an empty hash table.
    tables = 28, 28 + 8 * len(keys)
    offset = 28 + 16 * len(keys)
    head = struct.pack("<7I", 0x950412DE, 0, len(keys), *tables, 0, offset)
    body = b""
    for side in sides:
        for text in side:
            head += struct.pack("<2I", len(text), offset + len(body))
            body += text + b"\0"
    return head + body


def compile_catalogues(source: Path, target: Path) -> None:
    """Compile each ``.po`` file under ``source`` that ``target`` has not compiled yet.

    The text that was compiled is kept beside the result and compared: times of files mean nothing
    after an update that goes back to an older version.
    """
    for path in source.glob("*/LC_MESSAGES/*.po"):
        text = path.read_bytes()
        kept = target / path.relative_to(source)
        compiled = kept.with_suffix(".mo")
        if compiled.exists() and kept.exists() and kept.read_bytes() == text:
            continue
        compiled.parent.mkdir(parents=True, exist_ok=True)
        # Processes that start together may all compile: each replaces whole files.
        for file, content in (
            (compiled, compile_entries(read_entries(text.decode()))),
            (kept, text),
        ):
            written = file.with_suffix(f".{os.getpid()}")
            written.write_bytes(content)
            written.replace(file)
