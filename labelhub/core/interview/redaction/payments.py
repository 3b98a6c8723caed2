"""Payment cards, bank accounts and wallets."""

import re
from collections.abc import Iterator, Sequence

from stdnum import bitcoin, iban, luhn

from labelhub.core.interview.redaction.finding import Finding, found
from labelhub.core.interview.redaction.plain import Reading
from labelhub.core.interview.redaction.words import AFTER, BEFORE

#: First digits of a card number -> how many digits it may have (ISO/IEC 7812 ranges in use).
_CARDS: tuple[tuple[re.Pattern[str], frozenset[int]], ...] = (
    (re.compile("4"), frozenset((13, 16, 19))),
    (re.compile("5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), frozenset((16,))),
    (re.compile("3[47]"), frozenset((15,))),
    (re.compile("3(?:0[0-5]|[689])"), frozenset((14, 16, 19))),
    (re.compile("2131|1800"), frozenset((15,))),
    (re.compile("35"), frozenset((16, 17, 18, 19))),
    (re.compile("50|5[6-8]|6"), frozenset(range(12, 20))),
    (re.compile("220[0-4]|9792|8[16]"), frozenset((16, 17, 18, 19))),
)
_RUN = re.compile(rf"{BEFORE}(?<![.,])\d(?:[ \t.\-_/]{{0,2}}\d){{11,}}{AFTER}")
_GROUP = re.compile(r"\d+")
_CARD_WORD = re.compile(
    r"card|credit|debit|visa|master|amex|karte|carte|cb\b|tarjeta|carta|cartão|kaart|kort|карт|カード"
    r"|卡",
    re.IGNORECASE,
)
_REACH = 60
_IBAN = re.compile(
    rf"{BEFORE}[a-z]{{2}}[ ]?\d{{2}}(?:[ \-.]{{0,2}}[a-z0-9]{{1,30}}){{2,12}}{AFTER}", re.IGNORECASE
)
_IBAN_END = re.compile(r"[a-z0-9](?![a-z0-9])", re.IGNORECASE)
_IBAN_WORD = re.compile(
    r"\biban\b\W{0,3}(?:(?:is|ist|est|es|number|nummer|no|è)\W{0,3}){0,2}"
    r"([a-z]{2}\d{2}(?:[ -]?[a-z0-9]*\d[a-z0-9]*){2,10})",
    re.IGNORECASE,
)
_WALLET = re.compile(
    r"(?<!\w)(?:0x[0-9a-fA-F]{40}|(?:bc1|tb1|ltc1|addr1|cosmos1)[a-z0-9]{25,100}"
    r"|[13][1-9A-HJ-NP-Za-km-z]{25,34}|[LM][1-9A-HJ-NP-Za-km-z]{26,33}|D[1-9A-HJ-NP-Za-km-z]{33}"
    r"|T[1-9A-HJ-NP-Za-km-z]{33}|r[1-9A-HJ-NP-Za-km-z]{24,34}|[48][1-9A-HJ-NP-Za-km-z]{94})(?!\w)",
)
_UNLIKE_A_WORD = re.compile(r"\d.*\d")


def payments(reading: Reading) -> Iterator[Finding]:
    """Payment cards (length, first digits and checksum), IBANs (checksum) and wallets."""
    text = reading.text
    if reading.digits >= 12:
        yield from _cards(text)
    if reading.digits >= 6:
        yield from _accounts(text)
    if reading.digits >= 2 and len(text) >= 25:
        yield from _wallets(text)


def _cards(text: str) -> Iterator[Finding]:
    for run in _RUN.finditer(text):
        groups = [(run.start() + group.start(), group[0]) for group in _GROUP.finditer(run[0])]
        # A number mistyped after "card" is one all the same.
        cued = bool(_CARD_WORD.search(text, max(0, run.start() - _REACH), run.end() + _REACH))
        yield from _cards_among(groups, cued=cued)


def _cards_among(groups: Sequence[tuple[int, str]], *, cued: bool) -> Iterator[Finding]:
    first = 0
    while first < len(groups):
        count = _card_length(groups, first, cued=cued)
        if count:
            last_start, last = groups[first + count - 1]
            yield found(groups[first][0], last_start + len(last), "card")
        first += max(1, count)


def _card_length(groups: Sequence[tuple[int, str]], first: int, *, cued: bool) -> int:
    """How many groups from ``first`` on are a card's; 0 when it is none."""
    for count in range(min(19, len(groups) - first), 0, -1):
        parts = [digits for _, digits in groups[first : first + count]]
        number = "".join(parts)
        if 12 <= len(number) <= 19 and _card_like(parts) and _is_card(number, cued=cued):
            return count
    return 0


def _card_like(parts: Sequence[str]) -> bool:
    """Cards are written in groups of three and more, or digit by digit."""
    return all(len(part) >= 3 for part in parts[:-1]) or all(len(part) == 1 for part in parts)


def _is_card(number: str, *, cued: bool) -> bool:
    known = any(start.match(number) and len(number) in lengths for start, lengths in _CARDS)
    return known and (cued or luhn.is_valid(number))


def _accounts(text: str) -> Iterator[Finding]:
    for match in _IBAN.finditer(text):
        # Words after the number look like more of it: the longest part that checks is meant.
        ends = [end.end() for end in _IBAN_END.finditer(match[0]) if end.end() >= 15]
        for end in sorted((end for end in ends if end <= 50), reverse=True):
            if iban.is_valid(match[0][:end].replace(".", ""), check_country=False):
                yield found(match.start(), match.start() + end, "iban")
                break
    if "iban" in text.lower():
        for match in _IBAN_WORD.finditer(text):
            yield found(match.start(1), match.end(1), "iban")


def _wallets(text: str) -> Iterator[Finding]:
    for match in _WALLET.finditer(text):
        bitcoins = match[0].startswith(("1", "3", "bc1"))
        checked = bitcoin.is_valid(match[0]) if bitcoins else _UNLIKE_A_WORD.search(match[0])
        if checked:
            yield found(match.start(), match.end(), "wallet")
