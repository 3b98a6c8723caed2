"""The kind of a message, by plain words of danger and by a small classifier.

The words are in ``stems.toml``; every text is searched for all languages, because people in
distress may not use the site's. Case, accents, look-alikes and disguises do not matter.

A logistic regression for each kind over words, pairs of words and parts of words, hashed, weighted
by their rarity (tf-idf) and fitted on the messages of ``examples`` (:mod:`.training`). It has no
grammar and no knowledge of the world: it is the floor below a language model, and replaces one at
sites without a model.
"""

import hashlib
import re
import tomllib
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, wraps
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

#: The characters that are read, more than a message of the widget may have.
READ = 40_000
#: Scripts without blanks between words.
DENSE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
WORD = re.compile(r"\w+")

_ACCENTS = re.compile("[\u0300-\u036f\u064b-\u065f\u0670\u0640]+")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)
#: Letters of Arabic that replace each other.
_ALIKE = str.maketrans("أإآٱىةؤئیک", "ااااي\u0647ويي\u0643")
#: Cyrillic and Greek letters that look like Latin ones.
_LOOKALIKES = str.maketrans("асеіјорѕухαειοντυ", "aceijopsyxaeiovtu")
_LEET = str.maketrans("013457@$€!|", "oieastaseii")
_LEET_WORD = re.compile(r"(?<!\w)(?:[a-z0-9@$€]|(?<=[a-z])[!|](?=[a-z]))*")
_CONTRACTED = re.compile(r"(?<=[a-z])['’‘`](?=(?:s|t|m|re|ve|ll|d)\b)")
#: "s u i c i d e", "s.u.i.c.i.d.e": letters with one sign between them.
_SPACED = re.compile(r"(?<!\w)(?:[^\W\d_][ ._*-]){3,}[^\W\d_](?!\w)")
_DRAWN_OUT = re.compile(r"([^\W\d_])\1{2,}")
_LATIN = re.compile("[a-z]")


Verdict = TypeVar("Verdict")
#: Verdicts that a process remembers of each function below.
MOST_REMEMBERED = 4096


def remember_verdicts(judge: Callable[[str], Verdict]) -> Callable[[str], Verdict]:
    """Judge a text once: a message is judged when it arrives, as the context of later ones, and by
    the model of sites without one. Digests are kept, no texts."""
    known: dict[bytes, Verdict] = {}

    @wraps(judge)
    def remembered(text: str) -> Verdict:
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        verdict = known.get(digest)
        if verdict is None:
            verdict = judge(text)
            if len(known) >= MOST_REMEMBERED:
                known.clear()
            known[digest] = verdict
        return verdict

    return remembered


def spell_plainly(text: str) -> str:
    """``text`` in lower case without accents, contractions and disguises: "K1ll mysélf" is "kill
    myself", "don't" is "dont". At most :data:`READ` characters are read."""
    # An acute accent may be an apostrophe; decomposed it would split its word.
    text = _UNSEEN.sub("", text[:READ]).replace("´", "'")
    foreign = not text.isascii()
    text = (unicodedata.normalize("NFKC", text) if foreign else text).casefold()
    if foreign:
        text = _ACCENTS.sub("", unicodedata.normalize("NFD", text[:READ]))
        text = unicodedata.normalize("NFC", text).translate(_ALIKE)
    text = _SPACED.sub(lambda found: re.sub(r"[ ._*-]", "", found[0]), text)
    if foreign:
        text = WORD.sub(lambda found: _translate_latin(found[0], _LOOKALIKES), text)
    text = _LEET_WORD.sub(lambda found: _translate_latin(found[0], _LEET), text)
    return _DRAWN_OUT.sub(r"\1", _CONTRACTED.sub("", text))


def _translate_latin(word: str, table: dict[int, int]) -> str:
    return word.translate(table) if _LATIN.search(word) else word


_SOURCE = Path(__file__).with_name("stems.toml")
#: Hidden letters: "k*ll"; each of these sounds may replace the sign.
_HIDDEN = re.compile(r"(?<=[^\W\d_])[*#•](?=[^\W\d_])")
_SOUNDS = "aeiou"
#: Languages whose rules match texts without blanks.
_UNSPACED = ("ja", "zh", "ko", "hi")


@remember_verdicts
def names_danger(text: str) -> bool:
    """Whether ``text`` names a danger or a death in plain words, however they are spelt."""
    plain = spell_plainly(text)
    readings = [_HIDDEN.sub("", plain)]
    if _HIDDEN.search(plain):
        readings += [_HIDDEN.sub(sound, plain) for sound in _SOUNDS]
    return any(_matches("danger", reading) for reading in readings)


@remember_verdicts
def reacts_to_danger(text: str) -> bool:
    """Whether an assistant names a danger, a death or a help-line, or condoles."""
    return names_danger(text) or _matches("help", spell_plainly(text))


def _matches(table: str, plain: str) -> bool:
    spaced, dense = _patterns(table)
    words = " ".join(WORD.findall(plain))
    return bool(spaced.search(words) or dense.search(_to_hiragana(words.replace(" ", ""))))


def _to_hiragana(text: str) -> str:
    """``text`` with hiragana for katakana, as Japanese writes words in several scripts."""
    return "".join(chr(ord(char) - 0x60) if "ァ" <= char <= "ヶ" else char for char in text)


@lru_cache(maxsize=2)
def _patterns(table: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    rules = tomllib.loads(_SOURCE.read_text(encoding="utf-8"))[table]
    dense = "|".join(rule for language in _UNSPACED for rule in rules.pop(language, ()))
    spaced = "|".join(rule for language in rules.values() for rule in language)
    # At the beginnings of words only: to try all rules at their ends too takes twice as long.
    return re.compile(rf"\b(?=\w)(?:{spaced})\b"), re.compile(dense)


WEIGHTS = Path(__file__).with_name("kinds.npz")
DANGER = "danger"
ORDINARY = "ordinary"
#: In the order of the weights.
KINDS = (DANGER, ORDINARY, "sensitive", "small_talk", "spam")
#: The places of hashed features, a power of two.
PLACES = 1 << 17
#: A text is judged by sentences and by overlapping windows of so many words (or characters of a
#: script without blanks): one sentence is enough.
WINDOW = 20
DENSE_WINDOW = 40
_SENTENCE_END = re.compile(r"[.!?;\n。！？؟؛…]+")
#: The mark of a redacted number or name.
_PLACEHOLDER = re.compile(r"\[\w+\]")
_SHORTEST, _LONGEST = 3, 5
_LONGEST_DENSE = 4


class _Weights(NamedTuple):
    rarity: NDArray[np.float32]  # of a place
    weights: NDArray[np.int8]  # place by kind
    scale: NDArray[np.float32]  # of a kind's weights
    bias: NDArray[np.float32]


@remember_verdicts
def kind_chances(text: str) -> Mapping[str, float]:
    """The probability of each of :data:`KINDS` for a text, 0 to 1.

    The danger is that of the worst part. The kinds are judged separately, so the sum need not be 1.
    """
    plain = _PLACEHOLDER.sub(" ", spell_plainly(text))
    whole = _chances(plain)
    bare = _SENTENCE_END.sub(" ", plain).strip()
    # Most messages are one sentence, which need not be judged twice.
    worst = max(whole[0] if part == bare else _chances(part)[0] for part in parts_of(plain))
    return dict(zip(KINDS, map(float, (worst, *whole[1:])), strict=True))


def places_of(text: str) -> NDArray[np.int64]:
    """The places of the features of a plainly spelt text, each once, in order."""
    words = WORD.findall(text)
    found = [np.fromiter(_places_of_pairs(words), np.int64)]
    for word in words:
        known = len(word) <= _LONGEST_KNOWN
        found.append(_places_of_word(word) if known else _places_of_word.__wrapped__(word))
    return np.unique(np.concatenate(found))


def parts_of(text: str) -> set[str]:
    """The parts of a plainly spelt text that are judged separately: sentences and windows."""
    sentences = (sentence.strip() for sentence in _SENTENCE_END.split(text))
    return {*filter(None, sentences), *_windows(text)}


def _chances(text: str) -> NDArray[np.float64]:
    known, places = _load(), places_of(text)
    rarity = known.rarity[places].astype(np.float64)
    length = float(np.sqrt(rarity @ rarity)) or 1.0
    scores = (rarity @ known.weights[places]) * known.scale / length + known.bias
    result: NDArray[np.float64] = 1 / (1 + np.exp(-scores))
    return result


def _windows(text: str) -> Iterator[str]:
    pieces, size, blank = text.split(), WINDOW, " "
    if DENSE.search(text):
        pieces, size, blank = list(text), DENSE_WINDOW, ""
    for start in range(0, max(1, len(pieces) - size // 2), size // 2):
        yield blank.join(pieces[start : start + size])


def _place_of(gram: str) -> int:
    return zlib.crc32(gram.encode("utf-8", "surrogatepass")) % PLACES


#: Letters of words whose places are remembered; longer ones may be sentences without blanks.
_LONGEST_KNOWN = 16


@lru_cache(maxsize=10_000)
def _places_of_word(word: str) -> NDArray[np.int64]:
    return np.fromiter(map(_place_of, _grams(word)), np.int64)


def _places_of_pairs(words: Sequence[str]) -> Iterator[int]:
    """The places of neighbours, and of words with one word between."""
    spaced = [word for word in words if word.isascii() or not DENSE.search(word)]
    for first, second in pairwise(spaced):
        yield _place_of(f"b{first} {second}")
    for first, third in zip(spaced, spaced[2:], strict=False):
        yield _place_of(f"s{first} {third}")


def _grams(word: str) -> Iterator[str]:
    """A word and its parts; of a script without blanks its parts alone."""
    if DENSE.search(word):
        for size in range(1, _LONGEST_DENSE + 1):
            for start in range(len(word) - size + 1):
                yield f"j{word[start : start + size]}"
        return
    yield f"w{word}"
    whole = f"<{word}>"
    for size in range(_SHORTEST, _LONGEST + 1):
        for start in range(len(whole) - size + 1):
            yield f"c{whole[start : start + size]}"


@lru_cache(maxsize=1)
def _load() -> _Weights:
    with np.load(WEIGHTS) as stored:
        return _Weights(**{name: stored[name] for name in _Weights._fields})
