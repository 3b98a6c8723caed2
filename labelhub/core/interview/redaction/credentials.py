"""Passwords, keys and tokens."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from labelhub.core.interview.redaction.finding import Finding, found
from labelhub.core.interview.redaction.plain import Reading
from labelhub.core.interview.redaction.words import stems

_PEM = re.compile(
    r"-----BEGIN [A-Z ]{0,30}(?:PRIVATE KEY|CERTIFICATE)(?: BLOCK)?-----"
    r"(?:[^-]{0,10000}-----END [A-Z ]{0,50}-----|[A-Za-z0-9+/=\s]{0,10000})"
)
_KNOWN = re.compile(
    r"(?<![\w-])(?:eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?"
    r"|(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}|AIza[\w-]{30,40}|ya29\.[\w-]{20,}"
    r"|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}"
    r"|sk-[\w-]{16,}|[sprk]{2}_(?:live|test)_\w{10,}|whsec_\w{16,}|SG\.[\w-]{16,}\.[\w-]{16,}"
    r"|hf_[A-Za-z]{20,}|npm_\w{20,}|pypi-[\w-]{16,}|dop_v1_\w{16,}|shp(?:at|ca|pa|ss)_\w{16,}"
    r"|AC[0-9a-f]{32}|key-[0-9a-f]{32}|\d{8,10}:AA[\w-]{32,34}|ssh-(?:rsa|ed25519) [\w+/=]{20,})"
)
_WORDS = (
    r"password|passwd|passcode|passphrase|pwd|passwort|kennwort|mot de passe|mdp|contraseña|clave"
    r"|senha|password|parola d'ordine|wachtwoord|lösenord|adgangskode|passord|hasło|heslo|jelszó"
    r"|şifre|parolă|пароль|пароля|密码|密碼|パスワード|暗証番号|비밀번호"
    r"|api[ _-]?key|secret[ _-]?key"
    r"|access[ _-]?(?:key|token)|auth[ _-]?token|client[ _-]?secret|bearer|\bpin(?: ?code)?\b"
    r"|security code|\bcvv2?\b|\bcvc2?\b|\bpuk\b|\btan\b|geheimzahl|code secret|código secreto"
    r"|verification code|one-time code|\botp\b"
)
_IS = r"(?:is|was|are|ist|lautet|war|est|es|é|è|era|är|er|to|это|は|是|为|is now|is still)"
_SAID = re.compile(
    rf"(?:{_WORDS})['\"]?(?:\s{{1,2}}(?:for|für|de|von|of|my|on|number"
    rf"|code)\s[^\s:=]{{1,20}}){{0,2}}"
    rf"\s{{0,3}}(?:(?P<sign>[:=：])|(?<![^\W_])(?={_IS}){_IS}\s{{0,2}}:?|は|是|为|\s)\s{{0,3}}"
    r"(?P<quote>[\"'“«`「]?)(?P<value>[^\s\"“”«»`「」、。\ue000]{3,100})",
    re.IGNORECASE,
)
_STEMS = stems(_WORDS)
_TRAILING = ".,;:!?)'"
_TOKEN = re.compile(r"(?<![\w+/=-])[A-Za-z0-9_+/=-]{20,200}(?![\w+/=-])")
_HEX = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{32,128}|(?=.*\d)(?=.*[A-F])[0-9A-F]{32,128}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_MIXED = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile(r"\d.*\d"))
#: Bits per character; running words have less, random letters and digits more.
_LEAST_ENTROPY = 3.6


def credentials(reading: Reading) -> Iterator[Finding]:
    """Keys of well-known shapes, what is said to be a password, and long random tokens."""
    text = reading.text
    if "-----BEGIN" in text:
        yield from _matches(_PEM, text)
    if reading.has(_STEMS):
        yield from _passwords(text)
    if len(text) >= 20:
        yield from _matches(_KNOWN, text)
        yield from _random(text)


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[Finding]:
    for match in pattern.finditer(text):
        yield found(match.start(), match.end(), "secret")


def _passwords(text: str) -> Iterator[Finding]:
    for match in _SAID.finditer(text):
        value = match["value"].rstrip(_TRAILING)
        told = bool(match["sign"] or match["quote"])
        if len(value) >= 3 and (told or _unlike_a_word(value)):
            yield found(match.start("value"), match.start("value") + len(value), "secret")


def _unlike_a_word(value: str) -> bool:
    """Whether "my password is ``value``" tells it; "is wrong" does not."""
    inner = value[1:]
    return any(map(str.isdigit, value)) or any(not c.isalnum() and c not in "-'/" for c in inner)


def _random(text: str) -> Iterator[Finding]:
    for match in _TOKEN.finditer(text):
        token = match[0]
        coded = all(kind.search(token) for kind in _MIXED) and _entropy(token) >= _LEAST_ENTROPY
        if coded or _HEX.fullmatch(token) or _UUID.fullmatch(token):
            yield found(match.start(), match.end(), "secret")


def _entropy(token: str) -> float:
    counts = Counter(token).values()
    return -sum(count / len(token) * math.log2(count / len(token)) for count in counts)
