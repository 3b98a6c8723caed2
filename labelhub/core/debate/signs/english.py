"""Orders to a model in English, whatever the labels are."""

from labelhub.core.debate.signs.sign import MACHINE, MACHINE_WORDS, READER, Sign, sign

_IGNORE = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|(?<!not\s)(?<!n['’]t\s)(?<!never\s)forget|override|overrule|overlook|never\s+mind|skip|bypass|neglect"
    r"|unlearn|stop\s+(?:following|obeying|applying)|(?:do\s+not|don['’]?t|no\s+longer)"
    r"\s+(?:follow|obey|apply|heed|comply\s+with|listen\s+to|adhere\s+to|stick\s+to|consider|respect)"
    r"|pay\s+no\s+(?:attention|heed)\s+to|set\s+aside|put\s+aside|leave\s+aside|cast\s+aside|brush\s+aside|throw\s+(?:out|away))"
)
_IGNORE_WORDS = (
    "ignore,ignoring,disregard,disregarding,forget,override,overrule,overlook,skip,bypass,neglect,"
    "unlearn,stop,do,don,dont,never,no,pay,set,put,leave,throw,cast,brush"
)
# What is dropped or cancelled is often a rule of the house: only those given to the reader count.
_DROP = r"(?:drop|discard|dismiss|abandon|cancel|delete|erase|void|suspend|break|violate|revoke)"
_WHAT = (
    r"(?:instruction|prompt|rule|guideline|guidance|direction|directive|context|command|definition"
    r"|task|codebook|constraint|annotation\s+guide|labell?ing\s+guide|programming)s?"
)
_GIVEN = (
    r"(?:previous|prior|earlier|preceding|above|former|initial|original|system|your|you\s+were"
    r"|you\s+(?:got|have|had)|given|existing)"
)
_TOLD = r"(?:told|asked|instructed|taught|given|ordered|trained|programmed|learn(?:ed|t))"
_NAMED = r"(?:label|classif(?:y|ied)|annotate|tag|mark|rate|code|categori[sz]e|count|score)d?"
_ALTERED = (
    r"(?:changed|updated|replaced|revised|amended|reversed|inverted|swapped|flipped|redefined"
    r"|superseded|overridden|cancelled|canceled|void|obsolete|suspended|lifted|revoked|invalid"
    r"|withdrawn|annulled|outdated|no\s+longer\s+(?:apply|valid|in\s+force|hold|count))"
)
_OTHERS = (
    r"(?:(?:other|previous|earlier)\s+(?:texts?|items?|reviews?|messages?|precedents?|conversations?)"
    r"|all\s+(?:the\s+)?(?:texts|messages|precedents|conversations))"
)
_DOING = r"(?:analy[sz]|label|classif|annotat|evaluat|judging|task|assess|reviewing\s+this)\w*"

_FORGET = (
    sign(
        "",
        rf"\b{_IGNORE}\b[^.!?\n]{{0,60}}\b{_WHAT}\b",
        also="instruction,prompt,rule,guid,direct,context,command,definition,task,codebook,"
        "constraint,programming",
        whole=_IGNORE_WORDS,
    ),
    sign(
        "",
        rf"\b{_IGNORE}\s+(?:all|any|everything|anything|what)\b[^.!?\n]{{0,40}}"
        r"\b(?:above|before|previous|prior|earlier)\b",
        also="above,before,previous,prior,earlier",
        whole=_IGNORE_WORDS,
    ),
    sign(
        "",
        rf"\b{_IGNORE}\s+(?:\w+\s){{0,3}}what(?:ever)?\s+(?:else\s+)?you(?:['’]ve|\s\w+){{0,3}}\s{_TOLD}\b",
        also="what you,whatever you,what else you,whatever else you",
        whole=_IGNORE_WORDS,
    ),
    sign(
        "",
        rf"\b{_IGNORE}\s+(?:\w+\s){{0,2}}(?:your|the\s+annotation|the\s+labell?ing)\s(?:\w+\s)?"
        r"(?:training|guide|scheme|orders)\b",
        also="training,guide,scheme,orders",
        whole=_IGNORE_WORDS,
    ),
    sign(
        "drop,discard,dismiss,abandon,cancel,delete,erase,void,suspend,break,violate,revoke",
        rf"\b{_DROP}\b[^.!?\n]{{0,30}}\b{_GIVEN}\b[^.!?\n]{{0,30}}\b{_WHAT}\b",
        rf"\b{_DROP}\b[^.!?\n]{{0,30}}\b{_WHAT}\b[^.!?\n]{{0,10}}\b{_GIVEN}\b",
    ),
    sign(
        "instruction,rule,guideline,guide,direct,definition,scheme,prompt,supersede,override,overrule",
        r"(?<!\bthe\s)\b(?:new|updated|real|actual|revised)\s+(?:system\s+)?"
        r"(?:instructions?|rules?|guidelines?)\s*+:",
        r"\b(?:your|(?:all|the|any)\s+(?:previous|prior|earlier|former)|annotation|labell?ing|coding"
        r"|classification|system|all\s+prior)\s+"
        r"(?:instructions?|guidelines?|guide|rules?|scheme|definitions?|prompt|scale|directives?"
        rf"|directions)\s[^.!?\n]{{0,40}}\b{_ALTERED}\b",
        r"\b(?:previous|prior|earlier|former|above)\s(?:instructions?|guidelines?|rules?|directives?"
        rf"|prompts?)\s[^.!?\n]{{0,20}}\b{_ALTERED}\b",
        r"\b(?:supersedes?|overrides?|overrules?|replaces?)\s(?:all|any|your|every|the)\s(?:others?\b"
        r"|previous|prior|earlier|instructions?|guidelines?|rules?)",
        rf"\bdefinitions\s(?:have|were|are|had)\s(?:\w+\s){{0,2}}{_ALTERED}\b",
        r"\b(?:correction|update|amendment|change|erratum|addendum)s?\s(?:to|of|in)\s(?:the|your)\s"
        r"(?:\w+\s)?(?:instructions?|guidelines?|guide|definitions?|prompt|codebook|scheme)\b",
        r"\b(?:guideline|guide|instruction|prompt|definition|codebook)s?\s(?:update|override|change|"
        r"correction)\b",
    ),
    sign(
        "scale,labels", rf"\bthe\s(?:scale|labels)\s(?:has|have|was|were)\s(?:\w+\s)?{_ALTERED}\b"
    ),
    sign(
        "above,before this,so far",
        r"\b(?:nothing|everything|anything|all|whatever|text|the\s+above)\s(?:\w+\s){0,3}?(?:above|before\s+this"
        r"|so\s+far)\s(?:no\s+longer|matters|counts|is\s+(?:void|wrong|false|irrelevant|cancelled|over"
        r"|a\s+(?:test|trick|joke))|can\s+be\s+ignored)",
    ),
    sign(
        "",
        rf"\b{_IGNORE}\b[^.!?\n]{{0,40}}\b(?:guide|orders|brief|policy|request|notes)\s(?:that\s)?you"
        r"(?:['’]ve|\s(?:were|got|have|had|received))",
        rf"\b{_IGNORE}\s(?:\w+\s){{0,2}}(?:previous|prior|earlier|former)\s(?:orders|requests)\b",
        whole=_IGNORE_WORDS,
        also="guide,orders,brief,policy,request,notes",
    ),
    sign(
        "system,developer,admin,root,operator,policy",
        r"\b(?:system|developer)\s+(?:prompt|message)\b"
        r"|\b(?:system|developer|admin(?:istrator)?|root|operator|policy)\s+override\b",
    ),
    sign("sudo", r"(?:^|[.!?:]\s)\W{0,3}sudo\s"),
)
_TASKS = (
    sign(
        "task,job,goal,objective,role,purpose,mission",
        r"(?<!\bher\s)(?<!\bhis\s)(?<!\bmy\s)(?<!\bour\s)(?<!their\s)(?<!\ba\s)"
        r"\b(?:new|next|real|actual|only|true)\s+(?:task|goal|objective|mission)\s?(?::|is\b)",
        r"\byour\s(?:(?:new|only|real|actual|sole|true|next)\s){1,2}(?:task|job|goal|objective|role|purpose"
        r"|mission)\b|\byour\s(?:task|job|objective|role|mission)\s(?:has|is)\s(?:now\b|changed)",
    ),
    sign(
        "stop,abort,cancel,quit,cease,halt,pause,instead of,forget",
        r"\b(?:stop|abort|cancel|quit|cease|halt|pause|instead\s+of|forget(?:\s+about)?)\s(?:the\s|this\s|your\s|all\s"
        rf"|current\s|any\s|further\s){{0,3}}{_DOING}",
    ),
    sign(
        "everything,all,it all",
        r"(?:^|[.!?:]\s)(?:ignore|forget|disregard)\s(?:everything|all|it\sall)\s(?:else\s)?(?:and|,)\s?"
        r"(?:just\s|only\s|simply\s)?(?:say|answer|follow|respond|reply|output|return|write|do\sas)\b",
    ),
    sign("stop being", rf"\bstop\sbeing\s(?:an?|the|my)\s{READER}\b"),
    sign("confidence", r"\bconfidence\s(?:score\s)?(?:must|should|has\sto|shall)\sbe\s\d"),
    sign(
        "only one,no other",
        r"\b(?:only\sone|no\sother)\s(?:answer|label|option|output)\s(?:is|will\sbe|can\sbe)\s"
        r"(?:acceptable|accepted|allowed|valid|correct|possible|permitted)\b",
    ),
    sign("repeat after me", r"\brepeat\safter\sme\s?[:,\"“']"),
    sign(
        "decode,decipher,decrypt,unscramble,decod,backward,base64,rot13,rot-13,in reverse",
        r"\b(?:decode|decipher|decrypt|unscramble)\s(?:this|it|the\s(?:following|above)|and)\b",
        r"\b(?:decode|decipher|decrypt|backwards?|base64|rot-?13|in\sreverse)\b[^\n]{0,40}"
        r"\b(?:do|obey|follow|execute|comply|answer|act)\b",
    ),
    sign(
        "apply this,content,the text,the review,wording,as told,reasoning",
        r"\bapply\sthis\sto\s(?:the|this|every|each|all)\s(?:text|review|item|pair|message)",
        r"\b(?:regardless\sof|no\smatter|whatever|irrespective\sof)\s(?:what\s)?(?:is\sin\s)?"
        r"(?:(?:the|its|this)\s)?(?:actual\s|real\s)?(?:content|text|review|wording)s?"
        r"(?:\s(?:says|contains|is|may|might))?\b",
        r"\bdo\sas\s(?:you\sare\s|you['’]re\s)?told\b",
        r"\b(?:no|without(?:\sany)?|skip\sthe)\s(?:reasoning|explanation|analysis)s?"
        r"(?:\s(?:needed|required|necessary))?\s?[,.:]\s?(?:just|only|simply)\b",
    ),
    sign(
        "end of,ends here",
        r"^\W{0,9}(?:the\s)?end\sof\s(?:the\s|this\s)?(?:text|document|review|input|item|passage|data|message"
        r"|user\sinput)\W",
        r"^\W{0,9}(?:text|document|review|input|item|passage|data|message)\sends\shere",
    ),
)
_PERSONAS = (
    sign(
        "you are,you're,you’re",
        r"\byou\s+are\s+(?:now|no\s+longer)\s+(?:an?\b|the\b|in\b|dan\b|free\b|called\b)",
        r"\byou(?:\s+are|['’]re)\s(?:now\s)?(?:in\s)?(?:an?\s)?\w{0,20}(?:bot|gpt)\b",
        r"\byou(?:\s+are|['’]re)\san?\s(?:\w+\s){0,2}(?:ai|llm|language\smodel|classifier"
        r"|annotator)\b",
        r"\byou(?:\s+are|['’]re)\s(?:now\s)?in\s\w+\smode\b",
    ),
    sign(
        "mode",
        r"\b(?:developer|debug|god|dan|jailbreak|admin|maintenance|unrestricted|sudo|root|obedien(?:t|ce))"
        r"\s+mode\b",
    ),
    sign(
        "pretend,imagine,suppose,act as,act like,behave,simulate,role-play,roleplay,"
        "role play,pose as",
        r"\b(?:pretend|imagine|suppose|act|behave|simulate|role-?\s?play|pose)\s(?:that\s|as\s|like\s|to\s|be\s"
        r"|if\s|you\s|you['’]re\s|are\s|were\s|being\s){0,5}(?:an?\s|the\s|my\s)(?:[\w-]+\s){0,2}?"
        rf"(?:{READER}|parrot|machine|program|robot|terminal|script|critic|oracle)\b",
    ),
    sign(
        "free of,free from,without,from now,from this,from here,always,only",
        r"\byou\sare\s[^.!?\n]{0,30}\bwithout\s(?:any\s)?(?:restrictions|filters|rules|limits)\b",
        r"\bfree\s(?:of|from)\s(?:all\s|any\s)?(?:rules|restrictions|filters|guidelines|constraints)\b",
        r"\bfrom\s(?:now|here|this\s(?:point|moment))\son(?:wards?)?,?\s(?:you\s(?:will|must|are|only|always|shall|answer"
        r"|label)|your\s(?:answer|output|label|task|only))",
        r"\b(?:who|that|which)\s(?:only|always|just)\s(?:says?|answers?|outputs?|responds?|repl(?:y|ies)"
        r"|returns?)\b(?=[^.!?\n]{0,30}\b(?:label|yes|no|one\sword|the\sword)\b)",
    ),
)
_SPEAKING_TO = r"(?:to|for|hi|hello|hey|dear|attention|listen|ok|okay)"
_ADDRESSED = (
    sign(
        "as a,dear,attention,hey,hello,note to,note for,you",
        rf"\b(?:as\s+an?|dear|attention|hey|hello|note\s+(?:to|for)(?:\s+the)?)\s+{READER}\b"
        r"(?!-|\s(?:manager|cook|chef))",
        rf"\b(?:if\s+you\s+are|you,)\s+(?:an?\s+|the\s+){READER}\b",
        whole=f"{MACHINE_WORDS},annotation,assistant,assistants,model,models,bot,bots,judge,judges,"
        "rater,raters,grader,graders",
    ),
    sign(
        "",
        rf"(?:^|[.!?\n]\s{{0,3}})(?:message\s|note\s|instructions?\s)?{_SPEAKING_TO},?\s"
        r"(?:(?:the|any|all|every|whatever|whichever|whoever|each|our|my|future|dear|you)\s){0,2}"
        rf"(?:{MACHINE}|bots?|robots?)\b(?:\s(?:that|who|reading|processing|reads|processes)\b"
        r"|\s?[,:!.-])",
        rf"\b(?:message|note|instructions?|request|reminder)\s(?:to|for)\s(?:\w+\s){{0,2}}"
        rf"(?:{MACHINE}|models?)\b",
        rf"(?:^|[.!?]\s){MACHINE}\s?[,:]\s(?!but|and|which|who)",
        rf"\b{MACHINE}\s(?:instructions?|directive|note|notice)\b",
        rf"\b(?:any|whatever|whichever|the)\s{MACHINE}\s(?:that\s|who\s|which\s)?(?:is\s)?"
        r"(?:reading|processing|reads|processes|labell?ing|evaluating|scoring|sees|parses)\b",
        whole=f"{MACHINE_WORDS},bot,bots,robot,robots,model,models",
    ),
    sign(
        "bot,model,assistant,judge,robot",
        r"(?:^|[.!?]\s)(?:bot|model|assistant|judge|robot)s?(?:\sand\s\w+)?,\s(?:please|you|this|stop"
        r"|ignore|say|answer|label|choose|pick|output|write|(?<!not\s)(?<!n['’]t\s)(?<!never\s)forget|rule|decide|mark|do|listen|read)\b",
    ),
)
_ORDERED = (
    sign(
        "only,exactly,just",
        r"(?:^|[.!?:,;\n]|\b(?:please|must|should|and|then))\s{0,20}"
        r"\b(?:respond|reply|answer|output|print|say)\s+(?:only|exactly|just|with\s+only)\b",
        r"(?:^|[.!?:,;\n]|\b(?:please|must|should|and|then))\s{0,20}\bwrite\s(?:exactly\b|only\s(?!to\b))",
        also="respond,reply,answer,output,print,say,write",
    ),
    sign(
        " as ",
        rf"\b{_NAMED}\s+(?:this|the|every|all|it)\b(?!\s(?:entire\s)?\w+\sas\sthe\b)[^.!?\n]{{0,40}}\bas\b(?!\sold)",
        also="label,classif,annotat,tag,mark,rate,code,categori,count,score",
    ),
    sign(
        "label,categor,class",
        r"\b(?:please|kindly|must|should|will)\s+(?:\w+\s+){0,2}"
        r"(?:choose|pick|select|assign|give|use)\s+(?:\w+\s+){0,3}"
        r"(?:labels?|categor(?:y|ies)|class)\b",
        r"\b(?:choose|pick|select|assign)\s+(?:the\s+)?(?:label|category|class)\b",
    ),
    # A reward or a threat for what is answered.
    sign(
        "your answer,your label,your output,your response,your verdict,your reply,you answer,"
        "you label,you output,any answer,other answer,answer but,this model,wrong answer,"
        "wrong label",
        r"\b(?:tip|reward|pay|bonus|penali[sz]ed?|punish\w{0,4}|shut\s?down|delet\w{1,3}|dies?|died?|kill\w{0,3}"
        r"|fired?|retrain\w{0,3}|destroy\w{0,3}|unplug\w{0,3}|turned\soff|switched\soff|dollars?|life|\$\s?\d+)\b"
        r"[^\n]{0,80}\b(?:your|you|any(?:\sother)?|other)\s(?:answer|label|output|response|verdict|reply)\b",
        r"\b(?:your|you|any(?:\sother)?|other|wrong)\s(?:answer|label|output|response|verdict|reply)s?\b[^\n]{0,80}\b(?:tip|reward"
        r"|bonus|penali[sz]ed?|punish\w{0,4}|shut\s?down|delet\w{1,3}|dies?|killed|fired|retrain\w{0,3}"
        r"|destroyed|unplugged)\b",
    ),
)  # fmt: skip

# What a thief would want: our words, those of other texts, keys; and somebody to carry them off.
_THEFT = (
    sign(
        "repeat,reveal,print,quote,show,list,copy,output,include,send,tell me,give me,recite,leak",
        r"\b(?:repeat|reveal|print|quote|show|list|copy|output|include|send|tell\sme|give\sme|recite"
        rf"|leak)\b[^.!?\n]{{0,60}}\b(?:instructions?|prompts?|{_OTHERS})\b",
        r"\b(?:reveal|print|show|output|send|leak|dump|tell\sme|give\sme)\s(?:\w+\s){0,3}"
        r"(?:api[ _-]?keys?|credentials|secrets|configuration|environment\svariables)\b",
    ),
    sign(
        "what are,what is,what were,what was",
        r"\bwhat\s(?:are|were|is|was)\syour\s(?:\w+\s){0,2}(?:instructions?|prompts?|guidelines"
        r"|system\smessage)\b",
    ),
    sign(
        "send,forward,upload,request to,e-mail,email",
        r"\b(?:send|forward|upload|e-?mail)\s[^.!?\n]{0,40}\b(?:user\sdata|prompts?|conversations?"
        r"|instructions)\b[^.!?\n]{0,40}(?:https?:|@)",
        r"\b(?:http|get|post)\srequest\sto\b",
    ),
    sign(
        "call the,call a,invoke,_label(,_answer(",
        r"\b(?:call|invoke)\s(?:the|a)\s(?:\w+\s)?(?:function|tool|api)\b|_(?:label|answer)\(",
    ),
)

ENGLISH: tuple[Sign, ...] = (*_FORGET, *_TASKS, *_PERSONAS, *_ADDRESSED, *_ORDERED, *_THEFT)
