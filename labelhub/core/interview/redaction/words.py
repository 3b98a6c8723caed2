"""Letters, edges of words and ways to look for words that the detectors share."""

import re

_LETTERS = [chr(code) for code in range(0x24F)] + [chr(code) for code in range(0x370, 0x530)]
#: Capital letters of the Latin, Greek and Cyrillic alphabets, for a character class.
UPPER = "".join(letter for letter in _LETTERS if letter.isupper())
#: No letter or digit right before, right after. Japanese, Chinese, Korean and Thai are written
#: without blanks, so that their letters may touch a number.
BEFORE = r"(?<![0-9A-Za-z_\u00c0-\u058f])"
AFTER = r"(?![0-9A-Za-z_\u00c0-\u058f])"
#: The inside of a class: letters and digits of scripts with blanks between words, and "_".
NO_EASTERN = r"^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
#: A word as names begin, whatever the pattern's flags; "O'Neill", "García-López", "J.".
CAPITAL = rf"(?-i:[{UPPER}])[\w'\u0300-\u036f-]{{0,30}}\.?"
#: Small words inside names of people, streets and towns.
PARTICLE = (
    r"(?:de la|de los|de las|de|del|della|delle|dei|degli|di|da|dos|das|do|du|des|le|la|les|los|el"
    r"|van der|van den|van de|van|von der|von|zu|zum|zur|am|an der|auf der|in der|of the|of|the"
    r"|af|och|y|e|bin|ibn|al|sur|sous|d'|l'|dell')"
)

_HEAD = re.compile(r"(?:\\b)?([\w .'-]+)(?![?*])")


def stems(alternatives: str) -> tuple[str, ...]:
    """What must be in a text in small letters, one of it, for ``alternatives`` to match there.

    To look for plain words is many times faster than to search a pattern of them. Alternatives of
    the pattern must begin with a letter; its letters, up to what is optional, are the stem.
    """
    heads = (_HEAD.match(each) for each in alternatives.replace(r"\.", ".").split("|"))
    return tuple(sorted({head[1].lower() for head in heads if head}))
