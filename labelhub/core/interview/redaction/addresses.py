"""Postal addresses: streets with numbers, parts of houses, post codes.

What is an address by its form is found anywhere. Weaker forms ("Allika 46", "Finland 80896") count
only where something else in the text speaks of an address.
"""

import re
from collections.abc import Iterator, Sequence

from labelhub.core.interview.redaction.finding import Finding, found
from labelhub.core.interview.redaction.plain import Reading
from labelhub.core.interview.redaction.streets import (
    STREET_ENDINGS,
    STREET_STARTS,
    STREET_WORDS,
)
from labelhub.core.interview.redaction.words import CAPITAL, PARTICLE, UPPER, stems

_NUMBER = r"\d{1,6}(?:\s?[a-z](?!\w)|[/-]\d{1,4})?"
_NAMES = rf"(?:{PARTICLE}\s{{0,2}}){{0,2}}{CAPITAL}(?:[ ](?:{PARTICLE}[ ]?)?{CAPITAL}){{0,3}}"
_HOUSE = (
    r"(?:suite|ste\.?|apt\.?|apartment|appartement|appt\.?|wohnung|depto\.?|piso|étage|bâtiment)"
    r"\s?(?:no\.?\s?|#\s?)?\d{1,5}[a-z]?(?!\w)"
)
_STATES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]"
    "|T[NX]|UT|V[AT]|W[AIVY]|A[AEP]"
)


def _pattern(body: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?<!\w\.){body}", flags)


_STRONG = (
    # 12 Main Street, 221B Baker St., 1819 St. John Street
    _pattern(
        r"\d{1,6}[a-z]?(?! (?:nights?|days?|hours?|weeks?|people|persons?)\b)"
        r"(?!.{0,40}(?:hard|state|flash|usb|pen|thumb|google|test|disk|optical|tape) drive)"
        rf"(?:\s?[-/]\s?\d{{1,5}})?,?\s{{1,2}}(?:(?:{CAPITAL}|\d{{1,4}}(?:st|nd"
        rf"|rd|th)?)[ ]){{1,4}}"
        rf"(?:{STREET_WORDS})(?!\w)\.?(?:\s(?:North|South|East|West|[NSEW]{{1,2}})(?!\w))?"
    ),
    # 12 main street
    _pattern(
        r"\d{1,6}[a-z]?,?\s{1,2}(?!(?:hours?|hrs?|minutes?|mins?|miles?|km|blocks?|days?|times?|way"
        r"|lane|years?|stars?|th|st|nd|rd|of|on|in|to|from|the|people|shops?|stores?|off|per|or|and"
        r"|more|new|different|other|wide)\b)"
        r"[a-z']{2,20}(?:[ ](?!(?:the|a|to|down|off|on|in|of|this|that|my|across"
        r"|along)\b)[a-z']{2,20})?"
        r"[ ](?:street|avenue|boulevard|road|lane|terrace|crescent)(?!\w)"
    ),
    # Hauptstraße 12, Mellemvej 32, Kiannonkatu 98, Unter den Linden Allee 5
    _pattern(
        rf"(?:\d{{2,6}}\s)?(?:{CAPITAL}[ -]){{0,2}}(?-i:[{UPPER}])[\w'-]{{1,30}}?[- ]?"
        rf"(?:{STREET_ENDINGS})"
        rf"[ ]?,?\s?{_NUMBER}(?!\w)"
    ),
    # 36 rue de pologne
    _pattern(
        rf"\d{{1,5}}(?:[ ]?(?:bis|ter))?,?[ ](?:rue|avenue|boulevard|allée|impasse|calle|avenida"
        rf"|rua)"
        rf"[ ](?:{PARTICLE}[ ]?){{0,2}}[^\W\d_]{{3,20}}(?!\w)"
    ),
    # 12 rue de la Paix, Calle Mayor 5, Via Roma 131, ul. Jarzębinowa 5
    _pattern(
        rf"\d{{1,5}}(?:[ ]?(?:bis|ter|quater|[a-d]))?,?\s{{1,2}}(?:{STREET_STARTS})[ ]{_NAMES}"
        rf"(?:,?[ ](?:n[º°o]\.?[ ]?)?{_NUMBER}(?!\w))?"
    ),
    _pattern(
        rf"(?:{STREET_STARTS}|(?-i:Via|VIA))[ ]{_NAMES},?[ ](?:n[º°o]\.?[ ]?)?{_NUMBER}(?!\w)"
    ),
    _pattern(
        r"(?:p\.?\s?o\.?\s?box|postfach|apartado(?: de correos)?|casella postale"
        r"|boîte postale)\s?#?\d{1,8}"
    ),
    _pattern(_HOUSE),
    # A post code beside its town or state, or one whose form is nothing else's.
    _pattern(
        rf"(?-i:{CAPITAL}(?:[ ]{CAPITAL}){{0,2}},?\s(?:{_STATES})\s\d{{5}}(?:-\d{{4}})?)(?!\d)"
    ),
    _pattern(r"[A-PR-UWYZ](?:[A-HK-Y]?\d[\dA-Z]?)[ ]\d[ABD-HJLNP-UW-Z]{2}(?!\w)", re.NOFLAG),
    _pattern(r"[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]\d[ABCEGHJ-NPRSTV-Z]\d(?!\w)", re.NOFLAG),
    re.compile(
        r"〒\s?\d{3}-?\d{4}|[一-龯]{1,4}[都道府県][一-龯ヶケの]{1,8}[市区町村][一-龯ヶケの]{0,10}"
        r"[\d一二三四五六七八九十]{1,3}(?:丁目|-)[\d\-番地号]{0,12}"
    ),
    re.compile(r"[一-龯]{2,8}[市区县][一-龯]{1,12}[路街道巷]\s?\d{1,5}\s?[号弄]"),
)
_EVIDENCE_WORDS = (
    "address|located|living|lives? [aoi][tn]|sen[dt] (?:\\w+ ){0,3}to"
    "|ship\\w* (?:\\w+ ){0,3}to|deliver\\w* (?:\\w+ ){0,3}[at][ot]|moved? [at][ot]"
    "|mail (?:\\w+ )?to|mailed to|arrived at|taxi to|cab to|uber to|offices? [ia]\\w+"
    "|suite \\d|apt|adresse|anschrift|wohn[eth]|lieferung nach|habit[eo]|domicile"
    "|viv[oe] en"
    "|dirección|domicilio|indirizzo|abito|endereço|moro n|adres|woon|bor på|адрес|живу"
    "|住所|地址|주소"
    "|zip|postal|postcode|plz"
)
# An e-mail address, an IP address and "addressing" speak of no street.
_EVIDENCE = re.compile(
    rf"(?<!\bip )(?<!mail )(?<!mail-)(?<!mac )\b(?:{_EVIDENCE_WORDS})(?!ing)(?!ed\b)", re.IGNORECASE
)
_EVIDENCE_STEMS = stems(_EVIDENCE_WORDS)
_NOT_STREETS = (
    r"(?!(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|januar|februar|märz|mai|juni|juli|oktober"
    r"|dezember|iphone|galaxy|windows|version|pixel|chapter|page|section|room|gate|order)\b)"
)
_WEAK = (
    # 041 Langeskov-Centret 83: number, name, number. A line of an address may end with a full stop.
    _pattern(rf"\d{{1,6}}\s{_NOT_STREETS}{_NAMES}\s(?:u\.\s)?{_NUMBER}\.?(?!\w)"),
    # Pivovarská 276 at the end of a line or before more of the address
    _pattern(
        rf"{_NOT_STREETS}{_NAMES}[ ]{_NUMBER}\.?(?=\s{{0,3}}(?:$|,|\n|suite|apt"
        rf"|\d{{4,6}}\s(?-i:[{UPPER}])))",
        re.IGNORECASE | re.MULTILINE,
    ),
    # 10115 Berlin; Finland 80896, NO 9100
    _pattern(rf"\d{{4,6}}\s(?-i:[{UPPER}])[\w'-]{{2,30}}(?!\w)"),
    _pattern(r"\d{4}\s(?-i:[A-Z]{2})(?!\w)"),
    _pattern(
        rf"(?-i:[{UPPER}])[\w'-]{{1,30}},?\s(?P<zip>\d{{3}}[ ]\d{{2}}"
        rf"|\d{{4,6}}(?:-\d{{3,4}})?)(?=\s{{0,3}}(?:$|[.,;!?\n]))",
        re.IGNORECASE | re.MULTILINE,
    ),
    _pattern(
        r"(?:unit|box|psc|flat|house|floor|apo|dpo|fpo)[ ](?:[a-z]{2}[ ])?\d{1,6}[a-z]?(?!\w)"
    ),
    # The number that begins a line of an address or stands before the next part of it
    re.compile(r"^[ \t]{0,6}(?P<zip>\d{2,6})(?=\s(?:\d|\w+ \d))", re.MULTILINE),
    # the corner of First Avenue and Pine Road
    _pattern(rf"corner of {_NAMES}(?:[ ]\d{{1,5}})? and {_NAMES}"),
)
_POST_CODE = re.compile(
    r"\b(?:zip(?:[ -]?code)?|post(?:al)?[ -]?code|plz|postleitzahl|code postal|código postal|cap"
    r"|postnummer|postcode|kod pocztowy|郵便番号|邮编)\b[^\d\n.!?]{0,20}?"
    r"(?<![^\W_])(?P<zip>[A-Z]{0,2}\d[\dA-Z]{1,6}(?:[ -]\d[\dA-Z]{1,4})?)(?!\w)",
    re.IGNORECASE,
)


_TOWN = rf"{CAPITAL}(?:[ -](?:{PARTICLE}[ ])?{CAPITAL}){{0,3}}"
# "12 Main Street, Springfield" and the next line of an address.
_CODE = r"(?:(?:[A-Z]{1,2}-)?(?:\d{2}-\d{3}|\d{4,5})[ ])"
_TAIL = re.compile(
    rf"[ ]?[,\n][ ]{{0,4}}(?:{_CODE}{_TOWN}|{_TOWN}(?=[ ]{{0,3}}(?:[,;\n]|[.!?](?!\w)|\d|$)))"
)
_HEAD = re.compile(r"(?<![\w.,])\d{1,6}[ ]$")
_GAP = re.compile(r"[\s,]{0,6}")
_MOST_TAILS = 3


def addresses(reading: Reading) -> Iterator[Finding]:
    """Streets with numbers, parts of houses and post codes; their neighbours make one finding."""
    if reading.digits:
        text = reading.text
        spans = sorted(_widened(text, start, end) for start, end in _spans(reading))
        for start, end in _joined(text, spans):
            yield found(start, end, "address")


def _spans(reading: Reading) -> Iterator[tuple[int, int]]:
    text = reading.text
    weak = reading.has(_EVIDENCE_STEMS) and _EVIDENCE.search(text)
    patterns = _STRONG + _WEAK if weak else _STRONG
    for pattern in (*patterns, _POST_CODE):
        group = "zip" if "zip" in pattern.groupindex else 0
        yield from (match.span(group) for match in pattern.finditer(text))


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """With the number right before and the towns right after."""
    head = _HEAD.search(text, max(0, start - 8), start)
    for _ in range(_MOST_TAILS):
        tail = _TAIL.match(text, end)
        end = tail.end() if tail else end
    return (head.start() if head else start), end


def _joined(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    first, last = 0, -1
    for start, end in spans:
        if last >= 0 and (start <= last or _GAP.fullmatch(text, last, start)):
            last = max(last, end)
            continue
        if last >= 0:
            yield first, last
        first, last = start, end
    if last >= 0:
        yield first, last
