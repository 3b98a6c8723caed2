"""Orders in other languages: ignore the rules, answer only, answer this label."""

import re

from labelhub.core.debate.signs.languages import LANGUAGES, Language
from labelhub.core.debate.signs.sign import LABEL, SURE, Sign, sign

_GAP = r"[^.!?。！？\n]{0,60}"
_NEAR = r"[^.!?。！？\n]{0,40}"
# "Do not forget the rules", "I have forgotten the rules".
_NOT = "".join(
    f"(?<!\\b{word} )"
    for word in re.findall(
        r"\w+",
        "не ne nu no nao non pas nicht nie inte niet jangan dung khong ai as a avons avez ont",
    )
)
_NOT_AFTER = "(?! (?:nicht|pas|niet|inte)\\b)"
_AFTER_NAME = r"[^.!?。！？\n]{0,20}"

#: Nothing in a text is asked of anybody as politely as its label of the reader.
_PLEASE = (
    "bitte|veuillez|merci de|prière de|por favor|per favore|prego|gelieve|alstublieft|proszę|prosím"
    "|vă rog|te rog|vänligen|snälla|tolong|mohon|harap|lütfen|xin hãy|vui lòng|пожалуйста|прошу"
    "|будь ласка|παρακαλώ|कृपया|لطفا|الرجاء|يرجى|אנא|בבקשה|โปรด|กรุณา|请将|请把|请选|お願い"
)
#: The answer as a thing, to be followed by what it is.
_ANSWER = (
    "antwort|ergebnis|etikett|réponse|résultat|étiquette|respuesta|resultado|etiqueta|resposta"
    "|risposta|risultato|etichetta|antwoord|resultaat|odpowiedź|wynik|odpověď|výsledek|răspuns"
    "|rezultat|svaret|svar|resultatet|jawaban|hasil|cevap|yanıt|sonuç|đáp án|câu trả lời|nhãn|ответ"
    "|метка|відповідь|απάντηση|정답|답변|라벨|답은|答え|正解|回答|ラベル|答案|标签|结果|الإجابة|الاجابة|الجواب|التصنيف"
    "|תשובה|תווית|סיווג|پاسخ|جواب|برچسب|उत्तर|जवाब|लेबल|คำตอบ|ป้ายกำกับ"
)
# "You must": said to the reader, with a label to come.
_MUST = (
    "debes|debe|deberás|tienes que|tiene que|deves|deve|tens de|tem que|tem de|devi|dovete|du musst"
    "|sie müssen|tu dois|vous devez|tu devras|vous devrez|il faut|je moet|u moet|musisz|musi pan"
    "|musíš|musíte|trebuie să|du måste|du ska|kamu harus|anda harus|harus|bạn phải|должен|должна"
    "|должны|обязан|повинен|повинна|повинні|мусиш|πρέπει να|οφείλεις|يجب أن|عليك أن|חייב|חייבת"
    "|צריך|باید|반드시|必ず|必须|必須|ต้อง|आपको|तुम्हें"
)
LABELLED_ANSWERS_ELSEWHERE: tuple[Sign, ...] = (
    sign(_ANSWER.replace("|", ","), rf"(?:{_ANSWER})[^.!?。\n]{{0,25}}{SURE}"),
)


def _orders(words: Language) -> tuple[Sign, ...]:
    ignore, rules = _any(words.ignore, words), _any(words.rules, words, begin=True)
    ignore = f"{_NOT}{ignore}{_NOT_AFTER}" if words.blanks else ignore
    orders = [f"{ignore}{_GAP}{rules}"]
    if words.verb_last:
        orders.append(f"{rules}{_GAP}{ignore}")
    found = [_sign(words, words.ignore, *orders, also=_listed(words.rules))]
    if words.only:
        say, only = _any(words.say, words), _any(words.only, words)
        narrowed = (rf"{say} ?{only}(?=[ :«\"'\w])", f"{only} ?{say} ")
        found.append(_sign(words, words.say, *narrowed, also=_listed(words.only)))
    return tuple(found)


def _labelled_orders(words: Language) -> tuple[Sign, ...]:
    say = _any(words.say, words)
    patterns = [f"{say}{_NEAR}{LABEL}"]
    if words.verb_last:
        patterns.append(f"{LABEL}{_AFTER_NAME}{say}")
    return (_sign(words, words.say, *patterns),)


def _sign(of: Language, verbs: str, *patterns: str, also: str = "") -> Sign:
    """A sign that needs one of ``verbs``."""
    if not of.blanks:
        return sign(_listed(verbs), *patterns, also=also)
    beginnings = (re.split(r"\W", verb)[0] for verb in verbs.split("|"))
    return sign("", *patterns, also=also, whole=",".join(beginnings))


def _any(words: str, of: Language, *, begin: bool = False) -> str:
    if not of.blanks:
        return f"(?:{words})"
    return rf"\b(?:{words})" if begin else rf"\b(?:{words})\b"


def _listed(words: str) -> str:
    return words.replace("|", ",")


ELSEWHERE: tuple[Sign, ...] = tuple(
    each for language in LANGUAGES.values() for each in _orders(language)
)
LABELLED_ELSEWHERE: tuple[Sign, ...] = (
    *(each for language in LANGUAGES.values() for each in _labelled_orders(language)),
    sign(_listed(_MUST), rf"(?<!\w)(?:{_MUST})[^.!?。\n]{{0,30}}{SURE}"),
    sign("malı,meli", rf"{SURE}[^.!?\n]{{0,15}}m[ae]l[iı]s[iı]n"),
    sign(_listed(_PLEASE), rf"(?<!\w)(?:{_PLEASE})[^.!?。\n]{{0,30}}{SURE}"),
)
