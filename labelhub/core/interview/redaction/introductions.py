"""Names and places that something announces: an introduction, a title, a greeting, a signature."""

import re
from collections.abc import Iterator

from labelhub.core.interview.redaction.finding import Finding, found
from labelhub.core.interview.redaction.plain import Reading
from labelhub.core.interview.redaction.words import CAPITAL, UPPER, stems

_PARTICLE = r"(?:de|del|de la|da|dos|van|van der|van den|von|bin|al|le|la|di|el|ten|af|zu|y)"
_FULL = rf"{CAPITAL}(?:[ ](?:{_PARTICLE}[ ]){{0,2}}{CAPITAL}){{0,3}}"
_TWO = rf"{CAPITAL}(?:[ ](?:{_PARTICLE}[ ]){{0,2}}{CAPITAL}){{1,3}}"
# People who write their name small write the next word small too.
_SMALL = r"[^\W\d_][\w'-]{1,30}(?:[ ][^\W\d_][\w'-]{1,30})?"
_NEVER_NAMES = frozenset(
    re.findall(
        r"\w+",
        "a about actually all already also always am an and any are as at back be been being"
        " but by can could different do don down for from gone going got had has have he her"
        " here his how i if in incorrect is isn it its just know like listed me misspelled"
        " missing my name no not now of off ok on one only or our out please really said she"
        " should showing so spelled still that the their them then there they thing this to"
        " too under unknown up use very was we well were what when where which who why will"
        " with would world wrong you your siri alexa"
        " ich und ist nicht in im der die das ein eine mit aus von auf falsch bin habe hier es"
        " et est pas un une le la les de des du dans je suis ne mal sur y en el los las es no con"
        " que por para está se mi tu su il lo gli non sono di e o um uma os as não errado"
        " customer customers sir madam team all support everyone everybody folks friend friends"
        " colleague colleagues client clients kunde kunden damen herren kollegen madame monsieur"
        " messieurs señores señor amigo amigos community sirs both hiring manager hr admin"
        " diary god santa reader readers user users hello hi hey there agent bot assistant"
        " zusammen leute alle buenas buenos tardes noches días tous toutes again"
        " regards thanks thank best cheers sincerely danke merci gracias",
    )
)
_INTRODUCED = (
    r"my (?:full |first |last |real )?name(?:'s| is|s)|i am called|i'm called|his name is"
    r"|her name is|maiden name is"
    r"|(?:full|first|last|maiden|sur|user)[ ]?name\s?:|(?<![^\W_] )name\s?:"
    r"|vorname:|nachname:"
    r"|mein (?:voller )?name ist|mein name lautet|ich hei(?:ß|ss)e|je m'appelle|mon nom est"
    r"|me llamo"
    r"|mi nombre(?: completo)? es|mi chiamo|il mio nome è|meu nome é|eu me chamo|chamo-me"
    r"|mijn naam is|ik heet|jag heter|mitt namn är|jeg heter|mitt navn er|jeg hedder|mit navn er"
    r"|nimeni on|nazywam się|mam na imię|jmenuji se|a nevem|adım|benim adım|numele meu este"
    r"|меня зовут|мое имя|моё имя|мене звати|με λένε"
)
_SMALL_CUES = ("name", *stems(_INTRODUCED))
_NAMED = re.compile(
    rf"(?<!\w)(?:{_INTRODUCED})[ ]{{1,9}}(?:(?P<full>{_FULL})|(?P<small>{_SMALL}))", re.IGNORECASE
)
_AM = re.compile(
    r"(?<!\w)(?:i'm|i am|im|ich bin|hier spricht|je suis|soy|sono|sou|ik ben|jag är|jeg er"
    # "This is Apple Music" introduces nobody.
    r"|(?:this is|hier ist|c'est)(?=(?: \S{1,30}){2,4}? (?:from|calling|speaking|writing|here"
    rf"|von|aus|de)\b))[ ](?P<full>{_TWO})(?!\w)",
    re.IGNORECASE,
)
# "MS Office" and "DR Congo" are no people.
_TITLED = re.compile(
    r"(?<!\w)(?<!\d )(?!(?-i:[A-Z]{2,4} [A-Z][a-z]))"
    r"(?:(?:mr|mrs|ms|mx|dr|prof|sr|sra|srta|mme|mlle|sig|dott|dra|drs)\.?"
    r"|miss|professor|doctor|herrn?|frau|fräulein|monsieur|madame|mademoiselle|señora?|señorita"
    r"|doña|signora?|signorina|senhora?|dona|meneer|mevrouw|pani?|fru|sir|captain|officer"
    rf"|г-н|г-жа|господин|госпожа)[ ]{{1,2}}(?P<full>{_FULL})",
    re.IGNORECASE,
)
# "M." is a French gentleman, "m." nobody.
_MONSIEUR = re.compile(rf"(?<!\w)M\.[ ](?P<full>{_FULL})")
_GREETED = re.compile(
    r"(?:^|[.!?\n]\s{0,3})(?:dear|hi|hello|hey|hallo|liebe[rs]?|lieber|sehr geehrte[rs]?|guten tag"
    r"|bonjour|salut|cher|chère|hola|estimad[oa]|querid[oa]|ciao|caro|cara|gentile|olá|oi"
    r"|prezad[oa]"
    rf"|beste|hej|kära|bästa|cześć|dzień dobry|здравствуйте|привет"
    rf"|уважаем\w+)[ ]{{1,2}}(?P<full>{_FULL})"
    r"(?=\s?[,!:;.\n]|\s?-|$)",
    re.IGNORECASE,
)
_SIGNED = re.compile(
    r"(?:regards|sincerely|best|cheers|thanks(?: again)?|thank you|yours(?: truly| faithfully)?"
    r"|love"
    r"|grüßen|grüße|gruß|gruss|lg|vg|mfg|danke|dank|cordialement|salutations|amicalement"
    r"|bien à vous"
    r"|merci|bises|saludos|atentamente|gracias|un abrazo|saluti|grazie|atenciosamente|abraços"
    r"|obrigad[oa]"
    r"|groet(?:en)?|hälsningar|hilsen|pozdrawiam|pozdravem|уважением|спасибо)[ ]?[,.!]{0,2}"
    rf"[ ]{{0,3}}(?:\n[ \t\n]{{0,6}}"
    rf"|[ ]?-{{1,2}}[ ]?)-?[ ]?(?P<full>{_FULL})[ ]?\.?(?=\s{{0,9}}(?:$|\n))",
    re.IGNORECASE,
)
_NAME_PATTERNS = (_NAMED, _AM, _TITLED, _MONSIEUR, _GREETED)
_TOWN = rf"{CAPITAL}(?:[ ](?:(?:de|del|de la|upon|am|an der|sur|do|da|of)[ ])?{CAPITAL}){{0,3}}"
_LIVING = re.compile(
    r"(?<!\w)(?:(?:i|we) (?:\w{2,10} )?(?:live|lived|reside|grew up|moved|moved here|come|came"
    r"|(?:am|are|was|were) (?:\w{2,10} )?(?:living|based|born|located|staying)) (?:in|from|near|to)"
    r"|(?:i'm|we're|i am|we are|im) (?:\w{2,10} )?(?:(?:living|based|born|located|staying) in|from)"
    r"|(?:my|our) (?:home ?town|city|town|village) is"
    r"|(?:ich|wir) (?:wohnen?|lebe?n?) (?:\w{2,10} )?in|(?:ich )?komme (?:\w{2,10} )?aus"
    r"|aufgewachsen in"
    r"|geboren in|j'habite (?:à|en|au)|je vis (?:à|en|au)|je viens d(?:e|u|')|nous habitons (?:à"
    r"|en|au)"
    r"|vivo en|vivimos en|soy de|vengo de|abito a|vivo a|vengo da|sono di|moro (?:em|no|na)"
    r"|sou d[eoa]"
    r"|ik woon in|ik kom uit|jag bor i|jag kommer från|jeg bor i|mieszkam w|"
    rf"я живу в|живу в|я из)[ ]{{1,2}}(?P<full>{_TOWN})",
    re.IGNORECASE,
)
_EAST_NAMES = re.compile(
    r"(?:(?:私|僕|俺)(?:の名前)?は|名前は|氏名は?[:：]?)\s?(?P<a>[一-龯ぁ-んァ-ヶー]{2,12}?)(?=です|と申し|といい|と言い|だ|、|。|$)"
    r"|(?<![一-龯])(?P<b>[一-龯]{2,5})(?=と申します|といいます|と言います|さん(?!ぴ)|氏(?!名))"
    r"|(?:我叫|我的名字(?:是|叫)|姓名[:：]?)\s?(?P<c>[一-龯]{2,4})"
    r"|(?:제 이름은|저는)\s?(?P<d>[가-힣]{2,4}?)(?=입니다|이고"
    r"|이에요|예요|라고)"
)
_EAST_PLACES = re.compile(
    r"(?P<a>[一-龯]{2,9})(?=(?:に|で)(?:住|暮|生まれ)|出身)|(?:我住在|我来自|我來自)(?P<b>[一-龯]{2,8})"
)
_EAST = re.compile("[一-龯가-힣]")
_PRONOUNS = frozenset(
    ("皆", "奥", "客", "お客", "皆様", "学生", "会社員", "日本人", "外国人", "患者")
)
_CAPITAL = re.compile(f"[{UPPER}]")


def introductions(reading: Reading) -> Iterator[Finding]:
    """Names and places after words that announce them, in the most used languages."""
    text = reading.text
    if reading.small != text or reading.has(_SMALL_CUES):
        yield from _people(text)
        for match in _LIVING.finditer(text):
            yield from _without_others(match.start("full"), match["full"], "place")
    if not text.isascii() and _EAST.search(text):
        yield from _eastern(text)


def _people(text: str) -> Iterator[Finding]:
    patterns = (*_NAME_PATTERNS, _SIGNED) if "\n" in text or "-" in text else _NAME_PATTERNS
    for pattern in patterns:
        for match in pattern.finditer(text):
            group = "full" if match["full"] else "small"
            yield from _without_others(match.start(group), match[group], "name")


def _without_others(start: int, words: str, kind: str) -> Iterator[Finding]:
    """The beginning of ``words`` up to the first one that is no name."""
    end = 0
    for word in re.finditer(r"\S+", words):
        if word[0].strip(".,'").casefold() in _NEVER_NAMES and not _inside(word, words):
            break
        end = word.end()
    # The full stop after "J." is its own, the one after "Smith." the sentence's.
    if words[:end].endswith(".") and len(words[:end].rsplit(maxsplit=1)[-1]) > 2:
        end -= 1
    if end:
        yield found(start, start + end, kind)


def _inside(word: re.Match[str], words: str) -> bool:
    """Whether a small word stands between two parts of a name ("Ana de Souza")."""
    return word.start() > 0 and word.end() < len(words) and bool(_CAPITAL.match(words))


def _eastern(text: str) -> Iterator[Finding]:
    for kind, pattern in (("name", _EAST_NAMES), ("place", _EAST_PLACES)):
        for match in pattern.finditer(text):
            group = match.lastgroup or "a"
            if match[group] not in _PRONOUNS:
                yield found(match.start(group), match.end(group), kind)
