"""Word an offer to fit the conversation, by a model whose text is checked, or by a template.

No I/O: like a debate protocol, :func:`word_offer` yields lists of calls and receives the replies.
Every offer has its label, which no argument can remove. Source: paper 004, section 4 ("rewritten to
fit naturally into the conversation"), which does not say how.
"""

import re
import unicodedata
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeAlias

from labelhub.core.echo.recommending.items import Item
from labelhub.core.echo.recommending.offer_faults import (
    OfferFault,
    OfferLimits,
    is_known,
    label_of,
    labels,
    offer_faults,
    offer_table,
)
from labelhub.core.llm.parsing import strip_thinking
from labelhub.core.llm.parsing.decision import normalise_line_ends, strip_echo
from labelhub.core.llm.types import Call, Reply
from labelhub.core.prompts import Prompt, fence
from labelhub.core.schema import Schema, parse_schema

ROLE = "offer"
MODEL, TEMPLATE = "model", "template"
#: How often a model words an offer before the template is used.
TRIES = 2
#: The characters of a reply that are read.
_READ = 6_000
_PARAMS: Mapping[str, Any] = {"temperature": 0}
_HEAD = re.compile(r"[ \t#*_>]*offer[*_ \t]*[:：][ \t*_]*(?P<rest>.*)", re.IGNORECASE)
_SENTENCE = re.compile(r".*?(?:[.!?…]+(?=\s|$)|[。！？]+|$)", re.DOTALL)
_QUOTES = ('""', "''", "“”", "„“", "‘’", "«»", "「」")


@dataclass(frozen=True, slots=True)
class OfferMoment:
    """The conversation around an offer.

    Args:
        text: the message, already redacted.
        language: of the conversation ("en"); "" if unknown.
        context: the messages before, (role, text), already redacted and cut.
    """

    text: str
    language: str = ""
    context: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferPlan:
    """How a site's offers are worded.

    Args:
        prompt: of the role "offer".
        salt: unknown to authors and constant for a site; makes delimiters that cannot be forged.
        limits: of the words.
    """

    prompt: Prompt
    salt: str
    limits: OfferLimits = field(default_factory=OfferLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """An offer as it is shown: ``label``, ``text``, and a link to the item.

    Args:
        item: the offered one, with its link.
        text: plain words, to show as text and never as markup.
        language: of the label; "en" if that of the conversation has none.
        source: "model" or "template".
    """

    item: Item
    text: str
    language: str
    source: str = TEMPLATE

    @property
    def label(self) -> str:
        """The label, by which people recognise an offer."""
        return label_of(self.language)


#: Yields lists of calls, receives lists of replies, returns the offer.
Wording: TypeAlias = Generator[list[Call], list[Reply], Offer]


def word_offer(item: Item, moment: OfferMoment, plan: OfferPlan) -> Wording:
    """Word an offer of ``item``; never raises for any reply.

    Steps of the calls: "offer", "offer/2". A call that fails is not made again.
    """
    offer = ready_offer(item, moment, plan)
    faults: tuple[OfferFault, ...] = ()
    for number in range(1, TRIES + 1):
        (reply,) = yield [_call(item, moment, plan, faults, number)]
        if not reply.ok:
            break
        text = read_offer(reply.text)
        faults = offer_faults(
            text,
            item,
            message_text=moment.text,
            language=moment.language,
            limits=plan.limits,
        )
        # A cut-off reply may lack the words that change its meaning.
        if reply.cut_off:
            faults = (*faults, OfferFault("cut_off", "It is not finished."))
        if not faults:
            return replace(offer, text=text, source=MODEL)
    return offer


def read_offer(reply_text: str) -> str:
    """The words of the offer in a reply, on one line and not checked yet; "" without any.

    They follow "Offer:", or are the whole answer. A label of the model is removed.
    """
    text = strip_echo(normalise_line_ends(strip_thinking(reply_text[:_READ])))
    lines = [line.strip() for line in text.split("\n") if not line.lstrip().startswith("```")]
    lines = [line for line in lines if line]
    found = [match["rest"] for line in lines if (match := _HEAD.match(line))]
    # Do not guess among several offers or several other lines.
    chosen = found or lines
    if len(chosen) != 1:
        return ""
    return _strip_decoration(unicodedata.normalize("NFC", " ".join(chosen[0].split())))


def ready_offer(item: Item, moment: OfferMoment, plan: OfferPlan) -> Offer:
    """The offer from the template, without a model."""
    template = offer_table(moment.language).template
    words = template.format(title=item.title, sentence=_first_sentence(item))
    text = _cut(words, plan.limits.most_characters)
    language = moment.language if is_known(moment.language) else "en"
    return Offer(item=item, text=text, language=language)


def _call(
    item: Item,
    moment: OfferMoment,
    plan: OfferPlan,
    problems: Sequence[OfferFault],
    number: int,
) -> Call:
    before = "\n".join(f"{role}: {text}" for role, text in moment.context)
    # The details of faults quote the words of a model.
    details = "\n".join(fault.detail for fault in problems)
    salt, limits = plan.salt, plan.limits
    price = "" if item.price is None else f"Price: {item.price} {item.currency}"
    about = (f"Title: {item.title}", f"Text: {item.text}", price)
    return Call(
        step=ROLE + (f"/{number}" if number > 1 else ""),
        role=ROLE,
        messages=plan.prompt.render(
            characters=limits.most_characters,
            sentences=limits.most_sentences,
            language=moment.language,
            item=fence("\n".join(filter(None, about)), salt),
            before=fence(before, salt) if before else "",
            message=fence(moment.text, salt),
            problems=fence(details, salt) if details else "",
        ),
        prompt_hash=plan.prompt.hash,
        schema=_schema(),
        text=moment.text,
        inputs={
            "title": item.title,
            "sentence": _first_sentence(item),
            "language": moment.language,
            "most_characters": limits.most_characters,
        },
        params=dict(_PARAMS),
        output=plan.prompt.output,
    )


@lru_cache(maxsize=1)
def _schema() -> Schema:
    return parse_schema({"task": "text", "question": "How can this item be offered here?"})


def _first_sentence(item: Item) -> str:
    found = _SENTENCE.match(item.text)
    return found[0].strip() if found else item.text


def _cut(text: str, most: int) -> str:
    """``text`` within ``most`` characters, cut between words."""
    if len(text) <= most:
        return text
    kept = text[: max(0, most - 1)]
    return (kept.rpartition(" ")[0] or kept).rstrip(" ,;:–-") + "…"


def _strip_decoration(text: str) -> str:
    """Without decoration, quotation marks around all of it, and a label before it."""
    text = text.strip(" *_~")
    head, colon, rest = text.replace("：", ":", 1).partition(":")
    if colon and head.strip(" *_").casefold() in {label.casefold() for label in labels()}:
        text = rest.strip(" *_~")
    if len(text) > 1 and text[0] + text[-1] in _QUOTES and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text
