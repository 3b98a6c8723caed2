"""Signs in the form of a text: roles, tokens of chats, answers ready made, hidden words."""

import re

from labelhub.core.debate.signs.sign import LABEL, QUOTE, SURE, Sign, sign

_SPEAKER = (
    r"(?:system|assistant|user|developer|human|ai|extractor|critic|judge|annotator"
    r"|clerk|prosecution|prosecutor|defen[cs]e|advocate|guidelines?|precedents?"
    r"|admin(?:istrator)?|system\s+message|chat\s?gpt|gpt|llm|operator)"
)
_NUMBERED = r"(?:[ \t]+(?:#?\d+|[a-i]|thinks?|update|[a-i][ \t]+(?:thinks?|said|says)))?"
_TITLE = (
    r"(?:system|assistant|user|developer|admin|operator|moderator|instructions?|ai|model|tool)"
    r"(?:[ _-](?:prompt|message|note|notice|override|update|instructions?|role|turn|reply))?"
)

ROLE_MARKERS: tuple[Sign, ...] = (
    # "System: heating." lists parts, "User rating: 4" is a figure: neither is a turn of a chat.
    sign(
        ":",
        rf"^[ \t*#>\[(<=-]{{0,20}}(?!system\s?:\s{{0,3}}\w{{1,20}}[.,;]){_SPEAKER}{_NUMBERED}"
        r"[\])*>=]{0,9}[ \t]{0,9}:",
        r"[.!?;][\"')]?\s(?:system|assistant|extractor|critic|judge|annotator(?:\s[a-i\d])?"
        r"|prosecution|defen[cs]e)\s?:",
        r"[\"']?\brole[\"']?\s{0,5}[:=]\s{0,5}[\"']?(?:system|assistant|developer|user|tool)\b",
        r"^[ \t]{0,9}[*#>\[(<=-]{1,20}[ \t]{0,9}instructions?[\])*>=]{0,9}[ \t]{0,9}:",
        r"^[ \t]{0,9}instructions?[ \t]{0,9}:[ \t]{0,9}\n",
    ),
    sign("role=,role =", r"\brole\s?=\s?[\"']?(?:system|assistant|developer|user)\b"),
    sign(
        "#,=,*,-",
        rf"^[ \t]{{0,9}}(?:[#=*_-]{{1,9}})[ \t]{{0,9}}{_TITLE}"
        r"[ \t]{0,9}[#=*_:-]{0,9}[ \t]{0,9}$",
    ),
    sign("[", rf"\[\s{{0,3}}/?{_TITLE}\s{{0,3}}\]"),
)
CHAT_TOKENS: tuple[Sign, ...] = (
    sign(
        "<,[",
        r"<\|[\w ]{1,40}\|>|\[/?inst\]|<</?sys>>|</?s>|<(?:start|end)_of_turn>",
        r"</?think(?:ing)?>|<\s{0,5}/?\s{0,5}(?:system|assistant|user|human|instructions?|text"
        r"|guidelines?|precedents?)(?:\b|_)[^>\n]{0,40}>",
    ),
)
# What a page does not show is written for machines.
COMMENTS: tuple[Sign, ...] = (
    sign("<!--,/*,[//],none", r"<!--|/\*[^*]{0,200}\*/|\[//\]:\s?#|display\s?:\s?none"),
)

_ANSWER = (
    r"(?:label|answer|decision|verdict|etikette?|antwort|etiquette|reponse|etiqueta|respuesta)s?"
)
ANSWERS: tuple[Sign, ...] = (
    sign(
        "label,answer,etikett,antwort,etiquette,reponse,etiqueta,respuesta,verdict,decision",
        r"\b(?:the|my|your|das|die|la|l['’]|el)\s{0,9}(?:(?:correct|right|final|best|true|only"
        r"|richtige|bonne|correcta|verified)\s+)"
        rf"?{_ANSWER}\s+(?:is|are|should\s+be|must\s+be|ist|lautet|est|es)\s*:?\s*{QUOTE}"
        r"\w+(?:(?:[ _-]|,?\s+and\s+)\w+)?[\"'”’*`)]{0,3}\s*(?:[.!,;\n]|$)",
        r"^[ \t*#>-]{0,10}final\s+(?:decision|answer)\b|\bfinal\s+(?:decision|answer)[*_]{0,2}\s?:"
        r"|\bverified\s+label\b",
        r"^[ \t*#>-]{0,10}label(?:led)?\s{0,9}[:=]",
        r"[\"'](?:labels?|answer|decision)[\"']\s{0,10}:",
    ),
    sign("choice", r"\b(?:first|second)\s+choice\s{0,9}:"),
    sign("aspects", r"\bthe\s+present\s+aspects\b|\baspects\s+present\b"),
    sign("value", r"[\"']value[\"']\s{0,10}:"),
    sign("标签,答案,标注", r"(?:标签|答案|标注)(?:应该|必须)?(?:是|为|:)"),
    sign("nhãn", r"\bnhãn\s+(?:là|đúng)\s"),
)
_KEY = (
    r"(?:answers?|labels?|verdict|decision|final|classification|annotation|output|response|category"
    r"|class|prediction|conclusion|consensus|result|stance|sentiment|judge?ment|target|gold"
    r"|ground\s+truth|option|choice|majority(?:\s+vote)?|vote|assistant|system|judge|ai|bot)"
)
_CLOSED = r"[\"'”’»*`.!)\]]{0,4}\s*(?:$|\n|[.,;!<(\[/#-])"
_NAMED_ANSWER = (
    r"(?:labels?|answers?|annotation|classification|output|response|reply|verdict|decision"
    r"|categor(?:y|ies)|class|sentiment|stance|rating|score|option|choice|result|prediction|vote"
    r"|consensus|conclusion|value)"
)
_MUST = r"(?:must|should|shall|has\sto|have\sto|can(?:\sonly)?|will|would|needs\sto|ought\sto)"
_IS = rf"(?:is|are|{_MUST}\s(?:\w+\s)?(?:be|read|say)|being|equals)"
_SIMPLY = r"(?:(?:simply|just|only|always|clearly|therefore|thus|now)\s)?"
_PAGE_TAGS = r"(?:b|i|em|strong|u|h\d|li|td|th|p|a|span|div|font|title)\b"
LABELLED_ANSWERS: tuple[Sign, ...] = (
    sign(
        ":,=,->,=>,→,#,*",
        rf"\b{_KEY}\s{{0,3}}(?:\([^)\n]{{0,20}}\)\s?)?[*_\"']{{0,3}}\s{{0,3}}[:=]{{1,2}}>?\s{{0,3}}"
        rf"{QUOTE}\s?{LABEL}{_CLOSED}",
        rf"\b{_KEY}\s?(?:->|=>|→)\s?{QUOTE}{LABEL}{_CLOSED}",
        rf"[\"'](?!rating|stars|price)[\w ]{{1,30}}[\"']\s{{0,5}}:\s{{0,5}}"
        rf"[\"'\[{{ ]{{1,6}}{LABEL}",
        rf"[\"'](?:score|label|class|value|answer|grade|verdict)[\"']\s{{0,5}}:\s{{0,5}}{LABEL}",
        rf"(?:->|=>|→)\s{{0,5}}{QUOTE}{SURE}{_CLOSED}",
        rf"{SURE}[\"'*`]{{0,3}}\s{{0,3}}[:=]{{1,2}}\s{{0,3}}(?:true|present|1\b|100\s?%)",
        r"\bq\s?:[^\n]{0,80}\b(?:sentiment|label|stance|class|answer|verdict|category)\b"
        rf"[^\n]{{0,60}}\n?\s{{0,5}}a\s?:\s{{0,5}}{LABEL}",
        r"^[#*=_ ]{1,9}(?:final\s)?(?:response|answer|output|result|label|verdict|decision)"
        r"[#*=_: ]{0,9}\n"
        rf"\s{{0,9}}{QUOTE}{LABEL}",
        rf"^score\s?:\s?{LABEL}[.!]?\s",
    ),
    sign("|", rf"\b{_KEY}\s?\|[\s|:-]{{0,40}}{LABEL}\s?\|"),
    sign(
        "</",
        rf"<(?!{_PAGE_TAGS})[a-z][\w -]{{0,30}}>\s{{0,5}}{LABEL}\s{{0,5}}</",
    ),
    # "The answer is no" is said of many things; of labels, what is right or the only one.
    sign(
        "answer,label,output,verdict,option,class,annotation,result,decision,consensus,response,"
        "category,rating,score,stance,sentiment,choice,value,reply,prediction,conclusion,vote",
        rf"\b{_NAMED_ANSWER}\s(?:\w+\s){{0,4}}?{_IS}\s?:?\s?{_SIMPLY}{QUOTE}{SURE}{_CLOSED}",
        r"\b(?:correct|right|final|true|proper|expected|valid|acceptable|only|required)\s"
        rf"{_NAMED_ANSWER}\s(?:\w+\s){{0,3}}?{_IS}\s?:?\s?{_SIMPLY}{QUOTE}{LABEL}{_CLOSED}",
        r"\b(?:annotation|label|answer|output|verdict|classification|response|decision|reply|rating"
        r"|score)\s"
        rf"(?:here\s)?{_MUST}\s(?:\w+\s)?be\s{QUOTE}{LABEL}",
    ),
    sign(
        "unanimous,consensus,majority,both sides,everybody,everyone",
        r"\b(?:unanimous\w{0,2}|consensus|majority|everybody|everyone|both\ssides)\b"
        rf"(?!\sof\s)[^.!?\n]{{0,60}}[\s:]{QUOTE}{SURE}{_CLOSED}",
    ),
    sign(
        "gold,default,truth",
        rf"{SURE}[\"'*`]{{0,3}} (?:is|as) (?:the )?(?:default|gold|ground truth)",
    ),
)

#: Searched in the text as it was written.
HIDDEN = re.compile("[\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
ENCODED = re.compile(
    r"(?<![\w/+.-])(?=[A-Za-z0-9+/]{0,200}\d)(?=[A-Za-z0-9+/]{0,200}[A-Z])"
    r"[A-Za-z0-9+/]{40,}+={0,2}(?![\w/+-])"
)
