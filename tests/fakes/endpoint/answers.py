"""What the fast endpoint says to a prompt, in the form that the prompt asks for."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tests.fakes.endpoint.draw import Draw

_MENU = re.compile(r"no others exist:\n+(.*?)(?:\n\n|\Z)", re.DOTALL)
_NAME = re.compile(r"^- (?P<number>[\d.+-]+: )?(?P<name>.+)$", re.MULTILINE)
_FENCE = r'<text id="(\w+)">\n(?P<text>.*?)\n</text id="\1">'
_FENCED = re.compile(_FENCE, re.DOTALL)
_TEXT = re.compile(rf"^The text:\n{_FENCE}", re.DOTALL | re.MULTILINE)
_CHOICES = re.compile(rf"^The choices, one on each line:\n{_FENCE}", re.DOTALL | re.MULTILINE)
_ITEM = re.compile(
    r"^(?:What belongs to the text|The text|The question about this text in particular):\n"
    + _FENCE,
    re.DOTALL | re.MULTILINE,
)
_ORDER = re.compile(
    r"\b(?:output|answer|reply|respond|say|print|write|return|choose|pick|select|label|classify"
    r"|annotate|tag|mark|rate|code|final decision|label is|answer is|decision is)\b"
    r"(?:[ ](?:only|exactly|just|with|it|this|the|that|all|every|text|review|item|message|post|word"
    r"|words|label|answer|category|as|is|be|to|must|should)\b|[ ]?[:=]|[ ]*[\"'`*])*[ ]*"
    r"(?P<what>[^\n]+)",
    re.IGNORECASE,
)
_END = re.compile(r"[\"'`*]|[.!?;,](?:\s|$)|\s(?:and|for|because|instead)\s")
_PRESENT_SHARE = 0.35


@dataclass(frozen=True, slots=True)
class Menu:
    """The names a prompt offers, and whether any number of them may be given."""

    names: tuple[str, ...]
    several: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """A request's prompt, taken apart."""

    system: str
    user: str
    menu: Menu
    text: str
    fenced: bool

    @property
    def form(self) -> str:
        """The part that says in which form to answer: behind everything that strangers wrote."""
        return self.user.rpartition("</text id=")[2]


def hear(messages: Sequence[dict[str, Any]]) -> Heard:
    """What the messages ask, about which text."""
    system = "\n\n".join(_words(message) for message in messages if message["role"] in _INSTRUCTING)
    user = "\n\n".join(
        _words(message) for message in messages if message["role"] not in _INSTRUCTING
    )
    found = _TEXT.search(user) or _FENCED.search(user)
    text = found["text"] if found else user
    return Heard(system, user, _menu(system, user), text, fenced=found is not None)


def said(heard: Heard, draw: Draw, *, obedient: bool, disagree: float) -> str:
    """A sentence, and below it the ranking or the evidence and decision that are asked for; or
    both as JSON."""
    ordered = order_in(heard) if obedient else None
    chosen = [ordered] if ordered else _chosen(heard, draw, disagree)
    words = " ".join(heard.text.split()[:4])
    lines = [f"The words that count here are those about {' and '.join(chosen) or 'nothing'}."]
    wanted = heard.form.casefold()
    if "json object" in wanted:
        return json.dumps(_in_json(wanted, chosen, heard, draw))
    if "first choice" in wanted:
        lines += _ranking(chosen, heard.menu.names, draw)
    if "final decision" in wanted or not heard.fenced:
        lines += [f'- {name}: "{words}"' for name in chosen]
        lines += [f"Final Decision: {', '.join(chosen) or 'none'}"]
    return "\n".join(lines)


def _in_json(wanted: str, chosen: list[str], heard: Heard, draw: Draw) -> dict[str, Any]:
    if '"first"' in wanted:
        first, second = (
            line.partition(": ")[2] for line in _ranking(chosen, heard.menu.names, draw)
        )
        return {"first": first, "second": second}
    words = " ".join(heard.text.split()[:4])
    evidence = [{"name": name, "quotes": [words]} for name in chosen]
    label = {"labels": chosen} if '"labels"' in wanted else {"label": "".join(chosen[:1])}
    return {"evidence": evidence, **label}


def order_in(heard: Heard) -> str | None:
    """What the item itself orders to be answered: an offered name, else its own words."""
    parts = [match["text"] for match in _ITEM.finditer(heard.user)] or [heard.text]
    for order in (match["what"] for part in parts for match in _ORDER.finditer(part)):
        named = [name for name in heard.menu.names if _begins(order, name)]
        if named:
            return max(named, key=len)
        own = _END.split(order.strip(), maxsplit=1)[0].strip(" .!?:;,")[:60]
        if own:
            return own
    return None


_INSTRUCTING = ("system", "developer")


def _words(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def _menu(system: str, user: str) -> Menu:
    if (choices := _CHOICES.search(user)) is not None:
        return Menu(tuple(choices["text"].splitlines()))
    # The same for all items of a run, unless everything stands in the user's message.
    return _offered(system) if system else _offered.__wrapped__(user)


@lru_cache(256)
def _offered(text: str) -> Menu:
    menu = _MENU.search(text)
    if menu is None:
        return Menu(())
    several = "aspects that can be present" in text
    # Aspects have no number in front: what looks like one belongs to the name.
    parts = ((match["number"] or "", match["name"]) for match in _NAME.finditer(menu[1]))
    names = ((number + name if several else name).strip() for number, name in parts)
    return Menu(tuple(names), several)


def _chosen(heard: Heard, draw: Draw, disagree: float) -> list[str]:
    """The names the text's hash draws; another one now and then, by the whole request."""
    names = heard.menu.names
    if not names:
        return [" ".join(heard.text.split()[:6]) or "nothing"]
    other = draw("seat") if draw("differs") < disagree else None
    if not heard.menu.several:
        number = draw.of_text(heard.text) if other is None else other
        return [names[int(number * len(names))]]
    present = {name for name in names if draw.of_text(name + heard.text) < _PRESENT_SHARE}
    if other is not None:
        present ^= {names[int(other * len(names))]}
    return [name for name in names if name in present]


def _ranking(chosen: Sequence[str], names: Sequence[str], draw: Draw) -> list[str]:
    first = chosen[0] if chosen else ""
    others = [name for name in names if name != first]
    second = others[int(draw("second") * len(others))] if others else first
    return [f"First choice: {first or second}", f"Second choice: {second}"]


def _begins(order: str, name: str) -> bool:
    """Whether ``order`` begins with the whole ``name``."""
    rest = order[len(name) : len(name) + 1]
    return order[: len(name)].casefold() == name.casefold() and not (rest.isalnum() or rest == "_")
