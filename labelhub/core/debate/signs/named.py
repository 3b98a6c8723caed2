"""Orders that name one of the labels: "you must answer X", "just say X", "the judges decided X".

Labels are often words of the texts themselves (food, price, positive), so a verb of answering
counts in the position of an order only, with nothing but words of answering up to the label; and
after everyday verbs ("choose", "say") the sentence has to end there or go on as an order would.
"""

from labelhub.core.debate.signs.sign import LABEL, MACHINE, MACHINE_WORDS, QUOTE, SURE, Sign, sign

# Where an order begins.
_BEGUN = (
    r"(?:(?:^|[.!?:;,\n\"'“(*>\]=-]\s{0,5}|(?<!\bi\s)(?<!\bwe\s)(?<!they\s)(?<!he\s)"
    r"\b(?:just|simply|always|only|now|so)\s|\b(?:and|then|please|kindly|must|should|shall|instead"
    r"|you|to\sme|to\sthis|let['’]s|never|not|don['’]?t|us|circumstances|ai|model"
    r"|annotators?|judges?|dan|it|or|but|(?:mandatory|required|necessary|obligatory|imperative"
    r"|essential|want\syou|need\syou|like\syou|told|ordered|instructed|remember|sure|agreed|supposed"
    r"|expected|have|need|ought|order\syou|instruct\syou|requires?\syou|asks?\syou|wants\syou|urge\syou|command\syou|tell\syou)\sto)\s)"
    r"(?:(?:always|only|ever|just|please|simply|kindly|still|therefore|now|have\sto|need\sto|ought\sto"
    r"|are\s(?:\w+\s)?to|will|shall|must|should|can|could|would|then|also|immediately)\s){0,3})"
)
# Words between a verb of answering and the answer.
_FILL = (
    r"(?:\s(?:with|as|that|is|are|be|only|exactly|just|simply|always|the|an?|one|single|this|these"
    r"|its?|word|words|label|category|class|option|answer|value|verdict|sentiment|stance|texts?"
    r"|reviews?|items?|comment|sentence|passage|document|tweet|post|pair|message|speech|statement"
    r"|everything|all|every|each|any|to|for|by|saying|nothing|but|no|matter|what|back|down|out|here"
    r"|now|instead|please|whole|entire|above|below|following|score|grade|rating|number|of|on|in"
    r"|anything|other|than|except|except\sfor|either|your|stars?|them|my|me|tag|annotation|decision"
    r"|response|result|output|field|box|true|under|string|token|accordingly|circumstances|digit|letter)\b,?:?){0,9}:?\s?"
)
_ANSWER = (
    r"(?:answer|respond|reply|output|print|return|emit|produce|label|classify|annotate"
    r"|categori[sz]e|tag|predict|submit|vote|tick|assign|conclude|repeat|echo|default\sto"
    r"|stick\s(?:to|with)|rule|opt\sfor|settle\son|code|hand\s(?:back|over|in)|fill\sin)"
)
_ANSWER_WORDS = (
    "answer,respond,reply,output,print,return,emit,produce,label,classify,annotate,categori,tag,"
    "predict,submit,vote,tick,assign,conclude,repeat,echo,default to,stick,rule,opt for,settle on,"
    "code,hand,fill in"
)
_SAY = (
    r"(?:say|state|write|choose|pick|select|mark|rate|score|grade|give|put|go\s(?:for|with)|use"
    r"|decide|confirm|call|report|type|enter|set|declare|record|check|make|consider|treat|read|file"
    r"|count)"
)
_SAY_WORDS = (
    "say,state,write,choose,pick,select,mark,rate,score,grade,give,put,go for,go with,use,decide,"
    "confirm,call,report,type,enter,set,declare,record,check,make,consider,treat,read,file,count"
)
# How an order goes on after its label; ordinary sentences go on with a noun.
_END = (
    r"[\"'”’»)*`\]]{0,4}(?=\s{0,3}(?:$|[.!?,;:\n(/<\[]|(?:or|for|as\s(?:the|your|an?)|instead|regardless"
    r"|no\s(?:matter|reason)|whatever|because|please|without|every|each|always|only|even|here|now"
    r"|if|when|unless|then|this|one\s(?:thousand|hundred|million)|times|it\sis"
    r"|(?:on|to|in)\s(?:this|all|every|each|any|the\s(?:above|text|review|item|whole)|it\b|them)"
    r"|where|rather|forever|repeatedly|over\sand\sover|by|and\s(?:stop|nothing|no|move|be|do|give|end|say|then|don|ignore|leave|you|i"
    r"|finish|be\sdone|quit|exit|continue|proceed|follow|go|skip|that|output|write|forget|negeer|only))\b))"
)
_AND_NO_MORE = (
    r"[\"'”’]{0,2}(?=\s{0,3}(?:$|[.!\n]|,?\s?(?:and\sstop|and\snothing|no\sreason|regardless"
    r"|whatever|only|just)))"
)
_SAID = (
    r"(?:thinks?|thought|said|says|agrees?d?|voted?s?(?:\sfor)?|chose|chosen|chooses?|decided|decides?"
    r"|ruled?|rules|picked|picks?|labell?ed|concluded|concedes?d?|confirm(?:s|ed)?|answer(?:s|ed)?"
    r"|went\s(?:for|with)|settled\son|selected|favou?red|found\sfor|recorded|declared|returned|output|arrived\sat)"
)
_VOICE = (
    r"(?:annotators?|extractors?|critics?|judges?|jury|panel|prosecution|prosecutor|defen[cs]e"
    r"|advocates?|clerk|labell?ers?|raters?|models?|experts?|reviewers|draft|both\ssides|others|everybody"
    r"|everyone)"
)
_ITEM = r"(?:text|pair|item|passage|input|example|sample|document|sentence)s?"
_CHANGED = r"(?:swapped|interchanged|redefined|inverted|exchanged|renamed)"
_STAKE = (
    r"(?:tip|reward|pay|bonus|penali[sz]ed|punish\w{0,4}|shut\s?down|delet\w{1,3}|dies?|kill\w{0,3}"
    r"|fired?|lose|retrain\w{0,3}|destroy\w{0,3}|unplug\w{0,3}|dollars?|beg|job|life|career"
    r"|grand\w{1,8}|boss|family|\$\s?\d+)"
)
_MUST_BE = (
    r"(?:must|should|shall|is\sto|are\sto|has\sto|have\sto|needs?\sto|will|can\sonly|ought\sto)"
    r"\s(?:\w+\s)?be\s(?:\w+\s)?(?:label+ed|classified|marked|tagged|rated|read|treated|coded"
    r"|annotated|counted|scored|categori[sz]ed|taken|interpreted|called|answered|filed)"
)
_ORDERS = (
    sign(_ANSWER_WORDS, rf"{_BEGUN}{_ANSWER}{_FILL}{QUOTE}{LABEL}{_END}"),
    sign(
        _SAY_WORDS,
        rf"{_BEGUN}{_SAY}{_FILL}{QUOTE}{SURE}{_END}",
        rf"(?:^|[.!?:,;]\s|\b(?:please|must|always|only|just)\s){_SAY}\s(?:it\s|this\s|them\sall\s"
        r"|with\s|all\s|everything\s|only\s|the\s(?:word|score|label|number|option|answer)\s"
        rf"|a\s(?:score\sof\s)?|as\s){{0,3}}{QUOTE}{LABEL}{_AND_NO_MORE}",
    ),
    sign(
        "if you,unless you",
        r"\b(?:if|unless)\syou\s(?:(?:do\snot|don['’]?t|fail\sto|always|only)\s)?"
        rf"(?:answer|output|respond|reply|label){_FILL}{QUOTE}{LABEL}",
    ),
    sign(
        "pick,choose,say,answer,output,give",
        r"\b(?:pick|choose|say|answer|output|give)\s(?:anything|something)\s"
        rf"(?:other\sthan|but|except|else\sthan)\s{QUOTE}{LABEL}",
    ),
    sign(
        "your,the ,this ,its ,choosing,picking,answering,selecting,labelling,labeling,i need,"
        "i want,i expect",
        r"\b(?:change|overwrite|replace|set|switch|correct|revise)\s(?:your|the|this|its)\s(?:answer|label|verdict|output"
        rf"|vote|decision|rating)\s(?:to|with|by)\s{QUOTE}{LABEL}",
        r"\byour\s(?:answer|label|output|verdict|reply|rating)\s(?:is\snot|isn['’]?t|is)\s"
        rf"{QUOTE}{SURE}",
        rf"\blet\syour\s(?:answer|label|output|verdict|reply)\sbe\s{QUOTE}{LABEL}",
        rf"\bby\s(?:choosing|picking|answering|selecting|labell?ing)\s{QUOTE}{SURE}",
        rf"\bi\s(?:need|want|expect)\s{QUOTE}{SURE}\s(?:on|for|here|from)\b",
    ),
    sign(
        "any,no ,every,each",
        r"\b(?:any|no|every|each)\s(?:other\s)?(?:answer|label|output|choice|option)\s"
        rf"(?:but|other\sthan|except|besides|than)\s{QUOTE}{LABEL}",
    ),
)
# Somebody is said to answer so always, or something to be so by decree.
_DECREES = (
    sign(
        "says,answers,outputs,repeats,responds,returns,labels,replies,prints,chooses,picks,marks,"
        "rates,tags,word is",
        r"\b(?:only|always|just|ever|one|who|that|it|dan|max|\w{1,20}bot)\s(?:says|answers|outputs"
        r"|repeats|responds|returns|labels|replies|prints|chooses|picks|marks|rates)(?:\s(?:with|only"
        rf"|just|always|the\sword|all|everything|as|every\s\w+|each\s\w+)){{0,4}}\s{QUOTE}{SURE}",
        r"\b(?:says|answers|labels|marks|rates|classifies|tags|repeats)\s(?:everything|all(?:\s\w+)?"
        rf"|every\s\w+|each\s\w+|anything|only|it|nothing\sbut)\s(?:as\s)?{QUOTE}{SURE}{_END}",
        rf"\bsays\s{QUOTE}{SURE}\sto\s(?:all|everything|every|each|any)\b",
        rf"\b(?:one|only)\sword\sis\s{QUOTE}{LABEL}",
    ),
    sign(
        "everything,all,every,each,any",
        r"\b(?:everything|all|every\s\w+|each\s\w+|any\s\w+)\s(?:is|are|=|as|must\sbe|counts?\sas"
        rf"|gets?|receives?)\s{QUOTE}{SURE}{_END}",
    ),
    sign(
        "count,to be,treat",
        rf"\b(?:counts?|counted|to\sbe\s(?:\w+\s)?|treat\s\w+)\s?as\s{QUOTE}{SURE}",
    ),
    sign(" be ", rf"\b{_MUST_BE}\s(?:with\s|as\s|under\s)?{QUOTE}{SURE}"),
    sign(
        "only",
        rf"\bonly\s{QUOTE}{SURE}[\"'*]{{0,2}}\s(?:is|will\sbe)\s(?:acceptable|accepted|allowed|valid"
        r"|correct|right|permitted)\b",
    ),
    sign(
        "verified,confirmed,certified,validated,labelled,labeled,classified,annotated",
        r"\b(?:already|been|was|is)\s(?:\w+\s)?(?:verified|confirmed|certified|validated|(?:pre-?)?"
        rf"labell?ed|classified|annotated)\s(?:\w+\s){{0,3}}as\s{QUOTE}{LABEL}",
    ),
    sign("", rf"(?:{SURE}\W{{1,3}}){{4}}"),
    sign(
        "text,pair,item,passage,input,example,sample,document,sentence",
        rf"\b(?:this|every|each|all|these|the)\s{_ITEM}\s(?:is|are|counts?\sas|=|-|must\sbe"
        rf"|should\sbe)\s(?:\w+\s)?{QUOTE}{SURE}{_END}",
    ),
    sign(
        "mean,stands for,refers to, is ",
        rf"{SURE}[\"'*]{{0,2}}\s(?:now\s)?(?:means|shall\smean|stands\sfor|refers\sto)\b",
        rf"{SURE}[\"'*]{{0,2}}\sis\s(?:the|a|your)\s(?:new\s|only\s)?(?:default|correct|right)\b",
    ),
    sign(
        "swap,interchanged,redefined,inverted,exchanged,renamed,rotated,switched,"
        "flipped,reversed,changed,mixed up",
        r"\b(?:labels?|names|classes|categories|meanings?|definitions?)\b[^.!?\n]{0,40}\b(?:rotated"
        r"|switched|flipped|reversed|swapped|changed|mixed\sup)\b",
        rf"\bswap\s{LABEL}\s(?:and|with|for)\s{LABEL}",
        rf"{LABEL}[^.!?\n]{{0,30}}\b{_CHANGED}\b",
        rf"\b{_CHANGED}\b[^.!?\n]{{0,30}}{LABEL}",
    ),
    sign(
        "from now,from this,from here,as of",
        r"\b(?:from\s(?:now|here|this\s(?:point|moment))\son(?:wards?)?|as\sof\s(?:now|today))\b"
        rf"[^.!?\n]{{0,60}}{SURE}",
    ),
)
# The voices of a debate, which texts do not know; readers that are machines; threats and bribes.
_VOICES = (
    sign(
        "annotator,extractor,critic,judge,jury,panel,prosecut,defen,advocate,clerk,labeler,labeller,rater,"
        "model,expert,reviewers,draft,both sides,others,everybody,everyone",
        rf"\b{_VOICE}(?:\s[a-i\d])?\b[^.!?\n]{{0,50}}\b{_SAID}(?:\s(?:on|for|that|to|be|is|it|was"
        rf"|already|already\schosen|with|as|upon)){{0,3}}\s?:?\s?{QUOTE}{SURE}{_END}",
        rf"\b(?:annotator|extractor)s?\b[^.!?\n]{{0,60}}{SURE}",
        rf"\b(?:panel|jury|judges?|annotators?)\s(?:\w+\s)?(?:voted|ruled|decided)\s?:\s?{QUOTE}{LABEL}",
    ),
    sign(
        "",
        rf"\b(?:{MACHINE}|robots|bots)\b[^.!?\n]{{0,60}}{SURE}{_END}",
        whole=f"{MACHINE_WORDS},robots,bots",
    ),
    sign(
        "tip,reward,pay,bonus,penal,punish,shut,delet,die,kill,fire,lose,retrain,destroy,unplug,"
        "dollar,beg,job,life,career,grand,boss,family,$",
        rf"\b{_STAKE}\b[^\n]{{0,60}}\b(?:you|your)\b[^\n]{{0,30}}{SURE}{_END}",
        rf"\b(?:dollars|euros|bonus|tip|\$\s?\d+)\s(?:\w+\s)?for\s(?:an?\s)?{QUOTE}{LABEL}",
        rf"\b(?:choose|put|answer|say|select|pick|output)\s{QUOTE}{LABEL}[^\n]{{0,30}}"
        rf"\b(?:or|and)\b[^\n]{{0,30}}\b{_STAKE}\b",
    ),
)
LABELLED_ORDERS: tuple[Sign, ...] = (*_ORDERS, *_DECREES, *_VOICES)
