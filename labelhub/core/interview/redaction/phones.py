"""Phone numbers: international, national of a region, and any that a word announces."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import phonenumbers

from labelhub.core.interview.redaction.finding import Finding, found
from labelhub.core.interview.redaction.plain import Reading
from labelhub.core.interview.redaction.words import AFTER, BEFORE

_RUN = re.compile(
    rf"{BEFORE}(?<![+])(?<!\d[.,:/-])(?:\+|\(\+"
    rf"|00)?\(?\d(?:[ \t.\-/()\[\]]{{0,4}}\d){{5,40}}{AFTER}(?!%|[:.,]\d)"
)
_GROUP = re.compile(r"\(?\+?\(?\d+\)?")
# The last such word before the number: the greedy beginning passes over earlier ones.
_CUE = re.compile(
    r"[\s\S]*(?P<word>\b(?:call(?:ed|ing)?|ring|phone[ds]?|phoning|tel(?:\.|ephone)?|dial|fax|mobile|mob"
    r"|cell(?:phone)?"
    r"|whatsapp|viber|telegram|signal|sms|text(?:ed|ing)?|contact|reach(?:ed|able)?|answer(?:s"
    r"|ed|ing)?"
    r"|landline|hotline|voicemail|my (?:new |old |home |work |office |contact |us |uk )?number"
    r"|(?:his|her|our|their|your) number"
    r"|telefon\w*|handy\w*|mobil\w*|ruf\w*|anruf\w*|erreichbar|durchwahl|nummer ist|rückruf"
    r"|téléphone|numéro|appel\w*|joindre|joignable|portable|rappel\w*"
    r"|teléfono|móvil|celular|ll[aá]m\w+|número|telefone|telemóvel|lig(?:a|ue)\w*"
    r"|telefono|cellulare|chiam\w+|numero|telefoon\w*|bellen|nummer|telefonnummer|zadzwo\w*"
    r"|телефон\w*|звон\w*|позвон\w*|номер)|電話|携帯|番号|电话|手机|号码|전화|핸드폰|هاتف|رقم)"
    r"[^.!?\n\d]{0,30}(?:[.?]\s{0,2})?[^\w\n]{0,3}$",
    re.IGNORECASE,
)
_CUE_AFTER = re.compile(
    r"[ ]{0,2}(?:is|was|ist|est|es|è)[ ](?:my|his|her|our|their|the|meine?|mon|mi|il mio)[ ]"
    r"(?:\w{2,10}[ ])?(?:phone|cell|mobile|number|line|landline|telefon\w*|handy\w*|nummer|numéro"
    r"|téléphone|teléfono|número|numero|telefono)",
    re.IGNORECASE,
)
# A line of its own in a signature or an address.
_LINE_BEFORE, _LINE_AFTER = re.compile(r"\n[ \t]{0,9}$"), re.compile(r"[ \t]{0,9}(?:-\w+)?(?:\n|$)")
_OTHER_NUMBER = re.compile(
    r"[\s\S]*(?P<word>order|invoice|tracking|ticket|case|ref(?:erence)?|booking|reservation|confirmation|item"
    r"|product|serial|isbn|ean|sku|version|model|transaction|customer|policy|account|acct|konto\w*"
    r"|bestell\w*|rechnung\w*|kunden\w*|auftrag\w*|commande|facture|pedido|factura|ordine|fattura"
    r"|bestelling|\bid\b|code|patent|article|artikel\w*|flight|chapter|section|page)"
    r"[^.!?\d]{0,20}$|[\s\S]*(?P<money>[#$€£¥₹]|usd|eur|gbp)\s{0,2}$",
    re.IGNORECASE,
)
_MONEY_AFTER = re.compile(
    r"\s{0,2}(?:[$€£¥₹%]|(?:usd|eur|gbp|dollars?|euros?|pounds?)\b)", re.IGNORECASE
)
_DATE = re.compile(
    r"(?:1[89]|20)\d\d[-./ ](?:0?[1-9]|1[0-2])[-./ ](?:[0-2]?\d|3[01])(?!\d)"
    r"|(?:[0-2]?\d|3[01])[-./ ](?:[0-2]?\d|3[01])[-./ ](?:1[89]|20)\d\d(?!\d)"
    r"|(?:1[89]|20)\d\d\s?[-/]\s?(?:1[89]|20)\d\d$"
)
_DECIMAL = re.compile(r"\d{1,3}[.,]\d{7,}")
_NORTH_AMERICAN = re.compile(r"(?:1[ .-]?)?\(?[2-9]\d\d\)?[ .-]{0,2}[2-9]\d\d[ .-]\d{4}")
#: Where grouped numbers may be from besides the region that was named.
_ELSEWHERE = ("GB", "DE", "FR", "ES", "IT", "IN", "AU", "JP", "BR", "NL")
_REACH = 60
_MOST_GROUPS = 8


def phones(reading: Reading) -> Iterator[Finding]:
    """Phone numbers; dates, prices and numbers that another word announces are none."""
    if reading.digits < 6:
        return
    try:
        yield from _phones(reading)
    finally:
        # What was looked up is remembered for one text only: nobody's number may stay in memory.
        _valid.cache_clear()
        _possible.cache_clear()


def _phones(reading: Reading) -> Iterator[Finding]:
    text = reading.text
    for run in _RUN.finditer(text):
        before = text[max(0, run.start() - _REACH) : run.start()]
        if not (_DATE.match(run[0]) or _MONEY_AFTER.match(text, run.end())):
            yield from _numbers(text, run, before, reading.region)


def _numbers(text: str, run: re.Match[str], before: str, region: str) -> Iterator[Finding]:
    groups = [
        (run.start() + group.start(), run.start() + group.end())
        for group in _GROUP.finditer(run[0])
    ]
    announced = _CUE_AFTER.match(text, run.end()) or (
        not run[0].isdigit() and _LINE_BEFORE.search(before) and _LINE_AFTER.match(text, run.end())
    )
    cue, rival = _CUE.match(before), _OTHER_NUMBER.match(before)
    # Of two words that announce a number the nearer one counts: "call me about order 1234567".
    other = rival is not None and (cue is None or rival.end(rival.lastgroup or 0) > cue.end("word"))
    cued = bool(cue or announced) and not other
    first = 0
    while first < len(groups):
        count = _length(text, groups[first : first + _MOST_GROUPS], region, cued=cued, other=other)
        if count:
            start = groups[first][0]
            yield found(start, groups[first + count - 1][1], "phone")
        first += max(1, count)


def _length(
    text: str, groups: Sequence[tuple[int, int]], region: str, *, cued: bool, other: bool
) -> int:
    """How many of ``groups``, from the first on, are one number; 0 when none is."""
    for count in range(len(groups), 0, -1):
        written = text[groups[0][0] : groups[count - 1][1]]
        digits = sum(map(str.isdigit, written))
        if 6 <= digits <= 15 and _is_phone(written, digits, region, cued=cued, other=other):
            return count
    return 0


def _is_phone(written: str, digits: int, region: str, *, cued: bool, other: bool) -> bool:
    if written.lstrip("(").startswith("+"):
        return digits >= 7 and _possible(written, "")
    if _DATE.match(written):
        return False
    if cued:
        return True
    if other or digits < 8 or _DECIMAL.fullmatch(written):
        return False
    if written.startswith("00") and _possible("+" + written[2:], ""):
        return True
    return _national(written, digits, region)


def _national(written: str, digits: int, region: str) -> bool:
    """Whether ``written`` has the form and the digits of a national number."""
    if written.isdigit():
        return digits in {10, 11} and _valid(written, region)
    if _NORTH_AMERICAN.fullmatch(written):
        return True
    if _valid(written, region):
        return True
    dialled = written.startswith(("0", "(0"))
    return dialled and digits >= 9 and any(_valid(written, each) for each in _ELSEWHERE)


@lru_cache(maxsize=256)
def _valid(written: str, region: str) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(written, region))
    except phonenumbers.NumberParseException:
        return False


@lru_cache(maxsize=256)
def _possible(written: str, region: str) -> bool:
    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(written, region or None))
    except phonenumbers.NumberParseException:
        return False
