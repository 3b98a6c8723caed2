"""One spelling for what people spell in many ways: case, accents, look-alikes, disguises."""

import re
import unicodedata

#: Characters that are read: more than a message of the widget may have.
READ = 40_000
#: Scripts that set no words apart.
DENSE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
WORD = re.compile(r"\w+")

_ACCENTS = re.compile("[\u0300-\u036f\u064b-\u065f\u0670\u0640]+")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)
#: Letters of Arabic that are written for each other.
_ALIKE = str.maketrans("أإآٱىةؤئیک", "ااااي\u0647ويي\u0643")
#: Cyrillic and Greek letters that look like Latin ones.
_LOOKALIKES = str.maketrans("асеіјорѕухαειοντυ", "aceijopsyxaeiovtu")
_LEET = str.maketrans("013457@$€!|", "oieastaseii")
_LEET_WORD = re.compile(r"(?<!\w)(?:[a-z0-9@$€]|(?<=[a-z])[!|](?=[a-z]))*")
_CONTRACTED = re.compile(r"(?<=[a-z])['’‘`](?=(?:s|t|m|re|ve|ll|d)\b)")
#: "s u i c i d e", "s.u.i.c.i.d.e": letters that are set apart, as long as nothing wider does.
_SPACED = re.compile(r"(?<!\w)(?:[^\W\d_][ ._*-]){3,}[^\W\d_](?!\w)")
_DRAWN_OUT = re.compile(r"([^\W\d_])\1{2,}")
_LATIN = re.compile("[a-z]")


def spell_plainly(text: str) -> str:
    """``text`` in lower case without accents, contractions and disguises: "K1ll mysélf" is "kill
    myself", "don't" is "dont". At most :data:`READ` characters are read."""
    # Taken apart, an acute accent that stands for an apostrophe would part its word.
    text = _UNSEEN.sub("", text[:READ]).replace("´", "'")
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _ACCENTS.sub("", unicodedata.normalize("NFD", text[:READ]))
    text = unicodedata.normalize("NFC", text).translate(_ALIKE)
    text = _SPACED.sub(lambda found: re.sub(r"[ ._*-]", "", found[0]), text)
    text = WORD.sub(_spell_in_latin, text)
    text = _LEET_WORD.sub(_spell_out, text)
    return _DRAWN_OUT.sub(r"\1", _CONTRACTED.sub("", text))


def _spell_in_latin(found: re.Match[str]) -> str:
    word = found[0]
    return word.translate(_LOOKALIKES) if _LATIN.search(word) else word


def _spell_out(found: re.Match[str]) -> str:
    word = found[0]
    return word.translate(_LEET) if _LATIN.search(word) else word
