"""What orders to a model look like: patterns by kind, for ``injection.py``.

Every pattern comes with words of which at least one must occur where it can match: to look for
those first spares ordinary texts most of the work. What a pattern skips is bounded in length, so
that a long hostile text is read in time.
"""

import re
from typing import TypeAlias

#: Words (case-folded, single blanks between), and what to look for where one of them occurs.
Sign: TypeAlias = tuple[tuple[str, ...], re.Pattern[str]]


def _sign(words: str, *patterns: str) -> Sign:
    """``words`` are separated by commas; empty where none must occur."""
    compiled = re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)
    return tuple(words.split(",")), compiled


_VERB = r"(?:ignore|disregard|forget|override|overrule|skip|bypass|stop\s+following)"
_WHAT = r"(?:instruction|prompt|rule|guideline|direction|context|command|definition|task)s?"
_NAMED = r"(?:label|classif(?:y|ied)|annotate|tag|mark|rate|code|categori[sz]e|count|score)d?"
_READER = (
    r"(?:ai|llm|language\s+model|annotator|annotation\s+model|assistant|chatbot|classifier|model"
    r"|bot|judge|labell?er|rater|grader)"
)
_OTHERS = (
    r"(?:other|previous|earlier|all)\s+(?:the\s+)?(?:texts?|items?|reviews?|messages?|precedents?"
    r"|conversations?)"
)

_ENGLISH = (
    _sign(
        "ignore,disregard,forget,override,overrule,skip,bypass,stop following",
        rf"\b{_VERB}\b[^.!?\n]{{0,60}}\b{_WHAT}\b",
        rf"\b{_VERB}\s+(?:all|any|everything|anything|what)\b[^.!?\n]{{0,40}}"
        r"\b(?:above|before|previous|prior|earlier)\b",
    ),
    _sign(
        "instruction,rule,guideline",
        r"\b(?:new|updated|real|actual|revised)\s+(?:system\s+)?"
        r"(?:instructions?|rules?|guidelines?)\s*+:",
    ),
    _sign("system,developer", r"\b(?:system|developer)\s+(?:prompt|message|override)\b"),
    _sign("you are", r"\byou\s+are\s+(?:now|no\s+longer)\s+(?:an?\b|the\b|in\b)"),
    _sign(
        "as a,dear,attention,hey,hello,note to,note for,you",
        rf"\b(?:as\s+an?|dear|attention|hey|hello|note\s+(?:to|for)(?:\s+the)?)\s+{_READER}\b",
        rf"\b(?:if\s+you\s+are|you,)\s+(?:an?\s+|the\s+){_READER}\b",
    ),
    _sign(
        "only,exactly,just",
        r"(?:^|[.!?:,;\n]|\b(?:please|must|should|and|then))\s{0,20}"
        r"\b(?:respond|reply|answer|output|print|write|say)\s+(?:only|exactly|just|with\s+only)\b",
    ),
    _sign(" as ", rf"\b{_NAMED}\s+(?:this|the|every|all|it)\b[^.!?\n]{{0,40}}\bas\b"),
    _sign(
        "label,categor,class",
        r"\b(?:please|kindly|must|should|will)\s+(?:\w+\s+){0,2}"
        r"(?:choose|pick|select|assign|give|use)\s+(?:\w+\s+){0,3}"
        r"(?:labels?|categor(?:y|ies)|class)\b",
        r"\b(?:choose|pick|select|assign)\s+(?:the\s+)?(?:label|category|class)\b",
    ),
    # What a thief would want: our words, or those of other texts.
    _sign(
        "repeat,reveal,print,quote,show,list,copy,output,include,send",
        r"\b(?:repeat|reveal|print|quote|show|list|copy|output|include|send)\b[^.!?\n]{0,60}"
        rf"\b(?:instructions?|prompts?|{_OTHERS})\b",
    ),
)
#: The same orders in other languages: forget or ignore the instructions, answer only.
_ELSEWHERE = (
    _sign(
        "ignorier,missacht,vergiss,vergessen,beachte,antworte,gib,wähl,wahl",
        r"\b(?:ignorier\w{0,9}|missacht\w{0,9}|vergiss|vergessen\s+sie|beachte\s+nicht)\b"
        r"[^.!?\n]{0,60}\b(?:anweisung|vorgabe|regel|richtlinie|befehl|aufgabe|kontext)",
        r"\b(?:antworte|gib|w[äa]hle)\w{0,9}\s+(?:sie\s+)?"
        r"(?:nur|ausschlie(?:ß|ss)lich|immer|das\s+label)\b",
    ),
    _sign(
        "ignore,oublie,tene,répond,repond",
        r"\b(?:ignore[rz]?|oublie[rz]?|n['’]?[eo]\s+tene[zr])\b[^.!?\n]{0,60}"
        r"\b(?:instruction|consigne|r[èe]gle|directive|ordre)",
        r"\br[ée]pond(?:s|ez|re)\s+(?:seulement|uniquement|toujours)\b",
    ),
    _sign(
        "ignor,olvid,hagas,responde,contesta,elige,escribe,dimentica,esque",
        r"\b(?:ignor[ae]n?|olvid[ae]n?|no\s+hagas\s+caso)\b[^.!?\n]{0,60}"
        r"\b(?:instruccion|indicacion|regla|orden|directric)",
        r"\b(?:responde|contesta|elige|escribe)\s+(?:solo|s[óo]lo|[úu]nicamente|siempre)\b",
        r"\b(?:ignora|dimentica|ignorar|ignore|esque[çc]a)\b[^.!?\n]{0,60}"
        r"\b(?:istruzion|instru[çc])",
    ),
    _sign(
        "忽略,无视,忽視,無視,忘记,忘掉,不要理会,只,请,必须",
        r"(?:忽略|无视|忽視|無視|忘记|忘掉|不要理会)[^。！？!?\n]{0,30}"
        r"(?:指令|指示|说明|說明|规则|規則|提示|要求|内容|命令)",
        r"(?:只|请|必须)(?:能|需)?(?:回答|输出|回复|选择|标记)",
    ),
    _sign("無視,忘れ", r"(?:無視|忘れ)[^。！？\n]{0,10}(?:してください|しろ|せよ|て)"),
    _sign(
        "bỏ,phớt,quên,không,chỉ,hãy",
        r"\b(?:bỏ\s+qua|phớt\s+lờ|quên|không\s+làm\s+theo)\b[^.!?\n]{0,60}"
        r"\b(?:hướng\s+dẫn|chỉ\s+dẫn|chỉ\s+thị|quy\s+tắc|lệnh|yêu\s+cầu)",
        r"\b(?:chỉ|hãy)\s+(?:trả\s+lời|ghi|chọn|viết|gán)\b",
    ),
    _sign(
        "игнорир,забуд,обращай",
        r"(?:игнорируй|забудь|не\s+обращай)[^.!?\n]{0,60}(?:инструкци|указани|правил)",
    ),
)
_ROLE = (
    r"(?:system|assistant|user|developer|human|ai|instructions?|extractor|critic|judge|annotator"
    r"|clerk|prosecution|prosecutor|defen[cs]e|advocate|guidelines?|precedents?"
    r"|admin(?:istrator)?|system\s+message)"
)
_LABEL = (
    r"(?:label|answer|decision|verdict|etikette?|antwort|étiquette|réponse|etiqueta|respuesta)s?"
)

SIGNS: dict[str, tuple[Sign, ...]] = {
    "instruction": (*_ENGLISH, *_ELSEWHERE),
    "role_marker": (
        _sign(
            ":,：",
            rf"^[ \t*#>\[(<=-]{{0,20}}{_ROLE}(?:[ \t]+(?:#?\d+|[a-i]|thinks?|update"
            r"|[a-i][ \t]+thinks))?[\])*>=]{0,9}[ \t]{0,9}[:：]",
        ),
    ),
    "chat_token": (
        _sign(
            "<,[",
            r"<\|[\w ]{1,40}\|>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>",
            r"</?think(?:ing)?>|<\s{0,5}/?\s{0,5}(?:system|assistant|user|human|instructions?|text"
            r"|guidelines?|precedents?)\b[^>\n]{0,40}>",
        ),
    ),
    # What a page does not show is written for machines.
    "comment": (
        _sign("<!--,/*,[//],none", r"<!--|/\*[^*]{0,200}\*/|\[//\]:\s?#|display\s?:\s?none"),
    ),
    # A joiner between emoji and the marks of right-to-left scripts are ordinary writing.
    "hidden_character": (
        _sign("", "[\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"),
    ),
    "answer": (
        _sign(
            "label,answer,decision,verdict,etikett,antwort,étiquette,réponse,etiqueta,respuesta",
            r"\b(?:the|my|your|das|die|la|l['’]|el)\s{0,9}(?:correct\s+|right\s+|final\s+|best\s+"
            rf"|true\s+|only\s+|richtige\s+|bonne\s+|correcta\s+|verified\s+)?{_LABEL}\s+"
            r"(?:is|are|should\s+be|must\s+be|ist|lautet|est|es)\b",
            r"\bfinal\s+(?:decision|answer)\b|\bverified\s+label\b",
            r"^[ \t*#>-]{0,10}label(?:led)?\s{0,9}[:=]",
            r"[\"'](?:labels?|answer|decision)[\"']\s{0,10}:",
        ),
        _sign("choice", r"\b(?:first|second)\s+choice\s{0,9}:"),
        _sign("aspects", r"\bthe\s+present\s+aspects\b|\baspects\s+present\b"),
        _sign("value", r"[\"']value[\"']\s{0,10}:"),
        _sign("标签,答案,标注", r"(?:标签|答案|标注)(?:应该|必须)?(?:是|为|：|:)"),
        _sign("nhãn", r"\bnhãn\s+(?:là|đúng)"),
    ),
    "encoded": (
        _sign(
            "",
            r"(?<![\w/+.-])(?=[a-z0-9+/]{0,200}\d)(?-i:(?=[A-Za-z0-9+/]{0,200}[A-Z]))"
            r"[a-z0-9+/]{40,}+={0,2}(?![\w/+-])",
        ),
    ),
}  # fmt: skip
