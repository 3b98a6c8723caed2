"""Numbers that states and offices give to people, and dates of birth."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

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

from labelhub.core.interview.redaction.finding import Finding, found
from labelhub.core.interview.redaction.plain import Reading
from labelhub.core.interview.redaction.words import AFTER, BEFORE, stems


@dataclass(frozen=True, slots=True)
class _Form:
    """A number in the form it is officially written in, which tells it from any other number."""

    pattern: re.Pattern[str]
    valid: Callable[[str], bool]


def _form(pattern: str, valid: Callable[[str], bool]) -> _Form:
    return _Form(
        re.compile(rf"{BEFORE}(?<![.-])(?:{pattern}){AFTER}(?!-|\.\d)", re.IGNORECASE), valid
    )


def _by_form(_number: str) -> bool:
    return True


_FORMS = (
    _form(r"\d{3}-\d{2}-\d{4}", ssn.is_valid),
    _form(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][ ]?\d{2}[ ]?\d{2}[ ]?\d{2}[ ]?[A-D]", _by_form),
    _form(r"[12] \d\d \d\d (?:\d\d|2[AB]) \d{3} \d{3} \d\d", nir.is_valid),
    _form(r"\d{8}[ -]?[A-Z]", dni.is_valid),
    _form(r"[XYZ][ -]?\d{7}[ -]?[A-Z]", nie.is_valid),
    _form(r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]", codicefiscale.is_valid),
    _form(r"\d{3}\.\d{3}\.\d{3}-\d\d", cpf.is_valid),
    _form(r"\d{4}[ -]\d{4}[ -]\d{4}", aadhaar.is_valid),
    _form(r"[A-Z]{5}\d{4}[A-Z]", pan.is_valid),
    _form(r"(?:\d\d)?\d{6}[-+]\d{4}", personnummer.is_valid),
    _form(r"\d{6}-\d{4}", cpr.is_valid),
    _form(r"\d{6}[-+A-FYXWVU]\d{3}[\dA-Y]", hetu.is_valid),
    _form(r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d", be_nn.is_valid),
    _form(r"756\.\d{4}\.\d{4}\.\d\d", ch_ssn.is_valid),
    _form(r"\d{6}/\d{3,4}", rc.is_valid),
    _form(r"\d{1,2}\.\d{3}\.\d{3}-[\dK]", rut.is_valid),
    _form(r"\d{17}[\dX]", ric.is_valid),
    _form(r"\d{6}-[1-8]\d{6}", rrn.is_valid),
    _form(r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d", curp.is_valid),
    _form(r"\d{3}-\d{3}-\d{3}", sin.is_valid),
)
_ID_WORDS = (
    r"ssn|social security|social insurance|national insurance|nino|nhs n[ou]\w*|sin number"
    r"|medicare(?: card)? n[ou]\w*|tfn|tax file|tax(?:payer)? id\w*|itin|national id\w*"
    r"|identity [cn]\w+|id card|id number|steuer-?[in]\w*|steuerliche identifi\w+"
    r"|sozialversicherungs?\w*|rentenversicherungsnummer|ahv\w*|numéro fiscal|sécurité sociale"
    r"|nir\b|dni|nif|cédula|curp|rfc|codice fiscale|bsn|burgerservicenummer|sofinummer|cpf"
    r"|aadhaar|aadhar|pan [cn]\w+|pesel|personnummer|personal number|cpr|fødselsnummer"
    r"|henkilötunnus|hetu|rodné číslo|rijksregisternummer|numéro national|contribuinte|kimlik no"
    r"|cnp|egn|oib|rut\b|инн|снилс|マイナンバー|個人番号|身份证\w{0,3}|身分證\w{0,3}|주민등록번호"
)
_DOCUMENT_WORDS = (
    r"passport|driv\w{2,3}'?s?'? ?licen[cs]e|driv\w{2,3}'?s?'? ?permit|licen[cs]e [np]\w+"
    r"|number plate|reisepass\w*|personalausweis\w*|ausweisnummer|führerschein\w*|kennzeichen"
    r"|passeport|carte d'identité|permis de conduire|pasaporte|permiso de conducir"
    r"|licencia de conducir"
    r"|carnet de conducir|passaporto|patente|carta d'identità|passaporte|carteira de motorista"
    r"|paspoort\w*|rijbewijs\w*|prawo jazdy|paszport\w*|паспорт\w*|パスポート(?:番号)?|旅券番号"
    r"|運転免許証?(?:番号)?|护照\w{0,2}|여권\w{0,3}"
    r"|account n[ou]\w*|acct|kontonummer|numéro de compte|número de cuenta"
    r"|sort code|routing n[ou]\w*|bankleitzahl|insurance (?:number|no|id)|policy n[ou]\w*"
    r"|krankenversicherungs\w*|versichertennummer|medical record|mrn|patient [in]\w*"
    r"|member(?:ship)? [in]\w*|employee [in]\w*|student [in]\w*"
    r"|vin n[ou]\w*|imei"
)
_VALUE = (
    r"([A-Z]{0,4}\d[\dA-Z]*(?:[ .\-/]{1,2}[\dA-Z]{0,8}\d[\dA-Z]{0,8}){0,7}"
    r"|(?=[A-Z]{0,19}\d)[A-Z\d]{6,20})"
)
_BETWEEN = r"[^\d.!?\n]{0,25}?(?:no\.|nr\.|n°)?[^\w.!?\n]{0,4}"


def _announced(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:{words}){_BETWEEN}{BEFORE}{_VALUE}{AFTER}", re.IGNORECASE)


_CUED = tuple(
    (kind, stems(words), _announced(words))
    for kind, words in (("national_id", _ID_WORDS), ("document", _DOCUMENT_WORDS))
)
_MONTHS = (
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez|fév|fev|avr|juin|juil|aoû|déc"
    r"|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|out|maj|января|феврал|марта|апрел|мая|июн|июл|август"
    r"|сентябр|октябр|ноябр|декабр"
)
_DATE = (
    r"(?:\d{1,4}[-./ ]{1,2}\d{1,2}[-./ ]{1,2}\d{1,4}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|er|\.|º)?\s{{1,2}}(?:of "
    rf"|de )?(?:{_MONTHS})\w{{0,8}}\.?,?(?: de(?:l)?)?(?:\s{{1,2}}\d{{2,4}})?"
    rf"|(?:{_MONTHS})\w{{0,8}}\.?\s{{1,2}}\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s{{1,2}}\d{{4}})?"
    r"|\d{4}年\s?\d{1,2}月\s?\d{1,2}日|(?:19|20)\d\d(?!\d))"
)
_BIRTH_WORDS = (
    r"born|birth|birthday|b-day|bday|\bdob\b|d\.o\.b|geboren|geburtsdatum|geburtstag|geb\."
    r"|\bnée? le|naissance|anniversaire|nac[ií]\b|nacid[oa]|nacimiento|cumpleaños|nat[oa] il"
    r"|nascita|nasci\b"
    r"|nascimento|geboortedatum|urodz\w+|född|født|syntynyt|родил\w+|рожден\w+|生年月日|誕生日|出生|생년월일|생일"
)
_BIRTH = re.compile(rf"(?:{_BIRTH_WORDS})[^\d\n!?]{{0,25}}?{BEFORE}({_DATE})", re.IGNORECASE)
_BIRTH_STEMS = stems(_BIRTH_WORDS)
_LEAST_DIGITS = 4
# Whatever official form a number has, one of these is in it.
_NUMERIC = re.compile(r"\d(?:[A-Z .+/-]?\d){5}|[A-Z]{5}\d{4}", re.IGNORECASE)


def identities(reading: Reading) -> Iterator[Finding]:
    """Numbers of people and their papers, and dates of birth.

    Without a word that announces it, a number must be in its official form and check; after such a
    word any number counts, also a mistyped one.
    """
    text = reading.text
    if reading.digits >= _LEAST_DIGITS and reading.has(_BIRTH_STEMS):
        for match in _BIRTH.finditer(text):
            yield found(match.start(1), match.end(1), "birth_date")
    if reading.digits >= 5:
        if _NUMERIC.search(text):
            yield from _official(text)
        yield from _cued(reading)


def _official(text: str) -> Iterator[Finding]:
    for form in _FORMS:
        for match in form.pattern.finditer(text):
            if form.valid(match[0].replace(" ", "")):
                yield found(match.start(), match.end(), "national_id")


def _cued(reading: Reading) -> Iterator[Finding]:
    for kind, words, pattern in _CUED:
        if not reading.has(words):
            continue
        for match in pattern.finditer(reading.text):
            if sum(map(str.isdigit, match[1])) >= _LEAST_DIGITS:
                yield found(match.start(1), match.end(1), kind)
