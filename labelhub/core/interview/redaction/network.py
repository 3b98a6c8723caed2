"""Links and addresses in networks."""

import ipaddress
import re
from collections.abc import Iterator

from labelhub.core.interview.redaction.domains import ENDINGS, WORD_ENDINGS
from labelhub.core.interview.redaction.finding import Finding, found
from labelhub.core.interview.redaction.plain import Reading

# Private characters stand for marks.
_REST = r"[^\s<>\"'`|\\^{}\ue000，。、；（）「」]"
_LINK = re.compile(
    rf"(?:(?<![a-z])(?:https?|hxxps?|ftps?|sftp|wss?|ssh|git|file)://"
    rf"|(?<![\w.@])www\d?\.){_REST}{{2,2000}}"
    rf"|(?<![\w])(?:mailto|tel|skype):(?!\s)[^\s<>\"'\ue000]{{3,200}}",
    re.IGNORECASE,
)
# A host name without anything before; "@" before it makes it part of an e-mail address.
_BARE = re.compile(
    rf"(?<![\w.@/-])(?:[a-z\d](?:[\w-]{{0,61}}\w)?\.){{1,6}}(?:(?:{ENDINGS})(?![\w@-])(?!\.\w)"
    rf"|(?:{WORD_ENDINGS})(?=/\w|[ ]?[,;!?)\]]|\.?\s{{0,3}}$))"
    rf"(?::\d{{2,5}})?(?:/{_REST}{{0,2000}})?",
    re.IGNORECASE,
)
_ENDING = re.compile(r"\.([a-z]{2,8})(?=[:/]|$)", re.IGNORECASE)
_PRODUCTS = frozenset(("asp.net", "vb.net", "ado.net", "ml.net", "paint.net"))
_TRAILING = ".,;:!?…*_)]}>\"'»”"
_QUAD = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)")
_VERSION = re.compile(
    r"(?:\bv|\bver|version|versión|versione|versão|release|build|firmware|driver|update|patch"
    r"|upgrade|section|chapter|§)\w{0,4}[ .:]{0,3}(?:to |auf |number |no\.? )?v?$",
    re.IGNORECASE,
)
_COLONS = re.compile(
    r"(?<![\w:.])[0-9a-f:]{2,39}(?:(?:\d{1,3}\.){3}\d{1,3})?(?![\w:])", re.IGNORECASE
)
_MAC = re.compile(
    r"(?<![\w:-])[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?![\w:-])"
    r"|(?<![\w.])(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}(?![\w.])",
    re.IGNORECASE,
)


def network(reading: Reading) -> Iterator[Finding]:
    """Links, IP addresses and MAC addresses.

    Four numbers with dots are an address unless a word such as "version" stands right before.
    """
    text = reading.text
    if "." in text or ":" in text:
        yield from _links(text)
    if reading.digits >= 4 and "." in text:
        yield from _quads(text)
    if ":" in text or "-" in text or reading.digits >= 4:
        for match in _MAC.finditer(text):
            yield found(match.start(), match.end(), "mac")
    if text.count(":") >= 2:
        yield from _sixes(text)


def _links(text: str) -> Iterator[Finding]:
    if "://" in text or ":" in text or "www" in text.lower():
        for match in _LINK.finditer(text):
            yield found(match.start(), match.start() + len(_trimmed(match[0])), "url")
    for match in _BARE.finditer(text):
        link = _trimmed(match[0])
        if _is_host(link):
            yield found(match.start(), match.start() + len(link), "url")


def _trimmed(link: str) -> str:
    """``link`` without the punctuation of the sentence around it."""
    bare = link.rstrip(_TRAILING)
    closing = link[len(bare) : len(bare) + 1]
    return bare + closing if closing == ")" and "(" in bare else bare


def _is_host(link: str) -> bool:
    ending = _ENDING.search(link)
    # "end.So" and "shop.De" are sentences without a blank.
    if ending is None or not (ending[1].islower() or link.isupper()):
        return False
    return link.casefold() not in _PRODUCTS


def _quads(text: str) -> Iterator[Finding]:
    for match in _QUAD.finditer(text):
        version = _VERSION.search(text[max(0, match.start() - 24) : match.start()])
        if not version and _is_address(match[0]):
            yield found(match.start(), match.end(), "ip")


def _sixes(text: str) -> Iterator[Finding]:
    for match in _COLONS.finditer(text):
        groups = [group for group in match[0].split(":") if group]
        # "a::b" is a name in some programming languages, "::1" every machine's own address.
        telling = len(groups) >= 3 or (len(groups) == 2 and any(map(str.isdigit, match[0])))
        if match[0].count(":") >= 2 and telling and _is_address(match[0]):
            yield found(match.start(), match.end(), "ip")


def _is_address(written: str) -> bool:
    try:
        ipaddress.ip_address(written)
    except ValueError:
        return False
    return True
