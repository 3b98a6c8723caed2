"""E-mail addresses, also those written so that machines shall not read them."""

import re
from collections.abc import Iterator

from labelhub.core.interview.redaction.domains import ENDINGS
from labelhub.core.interview.redaction.finding import Finding, found
from labelhub.core.interview.redaction.plain import Reading
from labelhub.core.interview.redaction.words import NO_EASTERN

_DOTS = "dot|punkt|point|punto|ponto"
_DOT = rf"(?:\s{{0,2}}[(\[{{<]\s?(?:{_DOTS}|\.)\s?[)\]}}>]\s{{0,2}}|\s{{1,2}}(?:{_DOTS})\s{{1,2}})"
_ANY_DOT = rf"(?:{_DOT}|\s?\.)"
_AT = r"(?:at|ät|arobase|arroba|chiocciola|@)"
_BRACKETED_AT = rf"\s{{0,2}}[(\[{{<]\s?{_AT}\s?[)\]}}>]\s{{0,2}}"
_NAME = rf"(?<![\w.+-])[\w+-]{{1,64}}(?:(?:{_DOT}|\.)[\w+-]{{1,64}}){{0,4}}"
_HOST = r"[\w-]{1,63}"
_MAIL_HOSTS = (
    r"(?:gmail|googlemail|yahoo|hotmail|outlook|icloud|gmx|web|proton(?:mail)?|aol|live|msn|mail"
    r"|yandex|qq|163|libero|orange|free|laposte|t-online|zoho)"
)
_EMAIL = re.compile(
    rf"(?<![{NO_EASTERN}])(?<![.%+-])(?:[{NO_EASTERN}]|[.%+'!#$&*/=?^`{{|}}~-]){{1,64}}"
    rf"@(?:(?:[{NO_EASTERN}]|-){{1,63}}\.){{1,6}}[{NO_EASTERN}\d_]{{2,24}}(?![{NO_EASTERN}])"
)
_BARE_HOST = re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@\[?\d{1,3}(?:\.\d{1,3}){3}\]?")
_APART = re.compile(
    rf"(?<![\w.%+-])[\w.%+-]{{1,64}}[ ]{{0,2}}@[ ]{{0,2}}(?:{_HOST}[ ]?\.[ ]?){{1,4}}"
    rf"(?:{ENDINGS})(?!\w)",
    re.IGNORECASE,
)
_BRACKETED = re.compile(
    rf"{_NAME}{_BRACKETED_AT}{_HOST}(?:{_ANY_DOT}{_HOST}){{1,4}}", re.IGNORECASE
)
_IN_WORDS = re.compile(
    rf"{_NAME}\s{{1,2}}{_AT}\s{{1,2}}(?:{_HOST}(?:{_ANY_DOT}{_HOST}){{0,3}}{_DOT}(?:{ENDINGS})"
    rf"|{_MAIL_HOSTS}(?:\s?\.\s?(?:{ENDINGS}))+)(?!\w)",
    re.IGNORECASE,
)
_SPELLED = re.compile(
    r"(?<!\S)(?:[\w.+-] ){2,40}@(?: [\w.-]){3,60}(?!\S)|"
    r"(?<!\S)(?:[\w.+-] ){2,40}@ ?[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"
)
_AT_WORDS = ("at", "ät", "arobase", "arroba", "chiocciola", "@")
#: What must be there for a costly pattern to match, and that pattern.
_HINTED = (
    (re.compile(rf"[(\[{{<]\s?{_AT}\s?[)\]}}>]", re.IGNORECASE), _BRACKETED),
    (re.compile(rf"\s{_AT}\s{{1,2}}{_HOST}{_ANY_DOT}\s{{0,2}}\w", re.IGNORECASE), _IN_WORDS),
)


def emails(reading: Reading) -> Iterator[Finding]:
    """E-mail addresses: plain ones, "name (at) host dot com", "n a m e @ h o s t . c o m"."""
    text = reading.text
    patterns = [_EMAIL, _BARE_HOST, _APART, _SPELLED] if "@" in text else []
    if reading.has(_AT_WORDS):
        patterns += [pattern for hint, pattern in _HINTED if hint.search(text)]
    for pattern in patterns:
        for match in pattern.finditer(text):
            yield found(match.start(), match.end(), "email")
