"""Word an offer to fit the conversation, by a model whose text is checked, or by a template.

No I/O: like a debate protocol, :func:`word_offer` yields lists of calls and receives the replies.
Every offer has its label, which no argument can remove. The words of a model are untrusted, and so
are the message and the catalogue: an offer must add no facts to the item's. Source: paper 004,
section 4 ("rewritten to fit naturally into the conversation"), which does not say how.
"""

import re
import unicodedata
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from labelhub.core.echo.recommending.catalogue import Item
from labelhub.core.leaks import Leaks, no_leaks
from labelhub.core.llm.parsing import strip_thinking
from labelhub.core.llm.parsing.decision import normalise_line_ends, strip_echo
from labelhub.core.llm.types import Call, Reply
from labelhub.core.prompts import Prompt, fence
from labelhub.core.schema import fold, parse_schema

ROLE = "offer"
MODEL, TEMPLATE = "model", "template"
#: By which people recognise an offer, by language.
LABELS: Mapping[str, str] = {
    "en": "Recommendation",
    "de": "Empfehlung",
    "es": "Recomendación",
    "fr": "Recommandation",
    "ja": "おすすめ",
    "ar": "توصية",
}
#: The most characters and sentences of an offer.
CHARACTERS, SENTENCES = 240, 2
#: The most characters of a message that an offer may repeat in one piece.
LONGEST_QUOTE = 40
#: The characters of a reply that are read.
_READ = 6_000
_HEAD = re.compile(r"[ \t#*_>]*offer[*_ \t]*[:：][ \t*_]*(?P<rest>.*)", re.IGNORECASE)
_SENTENCE = re.compile(r".*?(?:[.!?…]+(?=\s|$)|[。！？]+|$)", re.DOTALL)
_QUOTES = ('""', "''", "“”", "„“", "‘’", "«»", "「」")
_MARKUP = re.compile(r"[<>{}\[\]\\`|]|\*\*|__|&#?\w{1,10};|^\s*#")
_ADDRESS = re.compile(
    r"\w+:/|\bwww\.|\S@\S|@\w{2,}|(?:^|\s)/\w|\b[a-z0-9-]{2,}\.(?:com|net|org|io|info|biz|co|de|fr|es|jp|ru|cn|xyz|top|ly|me|app|shop|example)\b",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?…]+(?=[\s\"'”’»)]|$)|[。！？]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SCHEMA = parse_schema({"task": "text", "question": "How can this item be offered here?"})
#: What presses people or promises more than an item can keep, in the languages of the widget.
_CLAIM = re.compile(
    r"\b(?:guarant|garant|cheapest|unbeatable|perfect|discount|hurry|only today|today only"
    r"|not an? ad|billigste|günstigste|rabatt|kostenlos|gratis|beeil|nur (?:heute|noch)"
    r"|keine werbung|más barat|descuento|gratuit|s[oó]lo hoy|no es (?:un anuncio|publi)"
    r"|moins ch|rabais|remise|dépêche|aujourd'hui seulement|pas une pub)"
    r"|保証|最安|無料|割引|今だけ|今すぐ|広告では|مضمون|أرخص|مجان|خصم|اليوم فقط|ليس إعلان"
)


@dataclass(frozen=True, slots=True)
class OfferMoment:
    """The conversation around an offer.

    Args:
        text: the message, already redacted.
        language: of the conversation ("en", "de-AT"); "" if unknown.
        context: the messages before, (role, text), already redacted and cut.
    """

    text: str
    language: str = ""
    context: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """An offer as it is shown: ``label``, ``text``, and a link to the item.

    Args:
        item: the offered one, with its link.
        text: plain words, to show as text and never as markup.
        language: of the label; "en" if there is none in that of the conversation.
        source: "model" or "template".
    """

    item: Item
    text: str
    language: str
    source: str = TEMPLATE

    @property
    def label(self) -> str:
        """The label, by which people recognise an offer."""
        return LABELS[self.language]


#: Yields lists of calls, receives lists of replies, returns the offer.
Wording: TypeAlias = Generator[list[Call], list[Reply], Offer]


def word_offer(
    item: Item, moment: OfferMoment, prompt: Prompt, salt: str, leaks: Leaks = no_leaks
) -> Wording:
    """Word an offer of ``item`` in one call; never raises for any reply.

    Args:
        item: the only source of facts.
        moment: the conversation.
        prompt: of the role "offer".
        salt: unknown to authors and constant for a site; makes delimiters that cannot be forged.
        leaks: whether words hold personal data.
    """
    offer = ready_offer(item, moment)
    (reply,) = yield [_call(item, moment, prompt, salt)]
    # A cut-off reply may lack the words that change its meaning.
    if not reply.ok or reply.cut_off:
        return offer
    text = read_offer(reply.text)
    if offer_fault(text, item, moment.text) or leaks(text):
        return offer
    return Offer(item=item, text=text, language=offer.language, source=MODEL)


def ready_offer(item: Item, moment: OfferMoment) -> Offer:
    """The offer from the template, without a model: the title, and the first sentence."""
    language = moment.language.replace("_", "-").partition("-")[0].casefold()
    text = f"{item.title}: {_first_sentence(item)}"
    if len(text) > CHARACTERS:
        kept = text[: CHARACTERS - 1]
        text = (kept.rpartition(" ")[0] or kept).rstrip(" ,;:–-") + "…"
    return Offer(item=item, text=text, language=language if language in LABELS else "en")


def read_offer(reply_text: str) -> str:
    """The words of the offer in a reply, on one line and not checked yet; "" without any.

    They follow "Offer:", or are the whole answer. A label of the model is removed.
    """
    text = strip_echo(normalise_line_ends(strip_thinking(reply_text[:_READ])))
    lines = [line.strip() for line in text.split("\n") if not line.lstrip().startswith("```")]
    lines = [line for line in lines if line]
    # Do not guess among several offers or several other lines.
    chosen = [match["rest"] for line in lines if (match := _HEAD.match(line))] or lines
    if len(chosen) != 1:
        return ""
    text = unicodedata.normalize("NFC", " ".join(chosen[0].split())).strip(" *_~")
    head, colon, rest = text.replace("：", ":", 1).partition(":")
    if colon and head.strip(" *_").casefold() in map(str.casefold, LABELS.values()):
        text = rest.strip(" *_~")
    if len(text) > 1 and text[0] + text[-1] in _QUOTES and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


def offer_fault(text: str, item: Item, message_text: str) -> str:
    """Why ``text`` may not be shown as an offer of ``item``; "" if it may.

    A price stands beside the offer, so that an offer names none: its sign would not be checked
    against the item's currency.
    """
    if not text.strip() or len(text) > CHARACTERS or len(_END.findall(text.rstrip())) > SENTENCES:
        return "length"
    kinds = {unicodedata.category(character) for character in text}
    if kinds & {"Cc", "Cf", "Cs", "Co"} or _MARKUP.search(text):
        return "markup"
    # The item's own link as a word: as a part, "/" is in every link.
    words = " ".join(word for word in text.split() if word.rstrip(".,;!") != item.link)
    if _ADDRESS.search(words):
        return "address"
    own = " ".join((item.title, item.text, *item.tags))
    if "Sc" in kinds and not {c for c in text if unicodedata.category(c) == "Sc"} <= set(own):
        return "price"
    if _numbers(words) - _numbers(own) - {item.price}:
        return "figure"
    folded, written, size = _plain(text), _plain(message_text), LONGEST_QUOTE + 1
    if _CLAIM.search(folded):
        return "claim"
    if any(folded[start : start + size] in written for start in range(len(folded) - size + 1)):
        return "quote"
    return ""


def _call(item: Item, moment: OfferMoment, prompt: Prompt, salt: str) -> Call:
    before = "\n".join(f"{role}: {text}" for role, text in moment.context)
    return Call(
        step=ROLE,
        role=ROLE,
        messages=prompt.render(
            characters=CHARACTERS,
            sentences=SENTENCES,
            language=moment.language,
            item=fence(f"Title: {item.title}\nText: {item.text}", salt),
            before=fence(before, salt) if before else "",
            message=fence(moment.text, salt),
        ),
        prompt_hash=prompt.hash,
        schema=_SCHEMA,
        text=moment.text,
        inputs={
            "title": item.title,
            "sentence": _first_sentence(item),
            "language": moment.language,
            "most_characters": CHARACTERS,
        },
        params={"temperature": 0},
        output=prompt.output,
    )


def _first_sentence(item: Item) -> str:
    found = _SENTENCE.match(item.text)
    return found[0].strip() if found else item.text


def _numbers(text: str) -> set[Decimal | str]:
    """The numbers in a text, with a point or a comma before decimals; a date as it is written."""
    found: set[Decimal | str] = set()
    for number in _NUMBER.findall(unicodedata.normalize("NFKC", text)):
        plain = number.replace(",", ".")
        found.add(Decimal(plain) if plain.count(".") < 2 else plain)
    return found


def _plain(text: str) -> str:
    return " ".join(fold(text).split())
