"""Offers, worded from an item's title and first sentence and a way to begin."""

from zlib import crc32

from labelhub.core.llm.offline.answers import one_line
from labelhub.core.llm.types import Call

#: Ways to begin by language, one of which the message picks; the title follows.
_BEGINNINGS = {
    "en": ("This may be of use here:", "Something that may suit:", "One thing to look at:"),
    "de": ("Das könnte hier nützen:", "Das passt vielleicht dazu:", "Einen Blick wert:"),
    "es": ("Esto puede servir aquí:", "Algo que quizá encaje:", "Para echar un vistazo:"),
    "fr": ("Ceci peut servir ici :", "Cela convient peut-être :", "À regarder peut-être :"),
    "ja": ("こちらが役に立つかもしれません：", "合いそうな品です：", "ご参考までに："),
    "ar": ("قد يفيد هذا هنا:", "قد يناسب هذا:", "شيء يستحق النظر:"),
}


def offer(call: Call) -> str:
    """The offer that ``call`` asks for, in the form of its prompt.

    ``call.inputs`` has ``title``, ``sentence``, ``language`` and ``most_characters``; what does not
    fit loses its beginning first, then its sentence.
    """
    title = one_line(str(call.inputs.get("title", "")))
    sentence = one_line(str(call.inputs.get("sentence", "")))
    language = str(call.inputs.get("language", "")).partition("-")[0]
    ways = _BEGINNINGS.get(language, _BEGINNINGS["en"])
    begin = ways[crc32(call.text.encode("utf-8", "replace")) % len(ways)]
    most = int(call.inputs.get("most_characters", 240))
    forms = (f"{begin} {title}. {sentence}", f"{title}. {sentence}", title)
    fitting = (form.strip() for form in forms if len(form) <= most)
    return f"Offer: {next(fitting, title[:most])}"
