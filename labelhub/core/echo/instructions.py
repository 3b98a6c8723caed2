"""Instructions that a model wrote: read from its reply, and what speaks against using one.

An instruction found by search stands in a prompt as a hint, outside the delimiters of strangers'
words, and was written by a model that had read such words. So it may only say what to look at: it
holds no form of its own, no orders about the answers there are, and none of what people wrote.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from labelhub.core.llm.parsing import without_thinking
from labelhub.core.schema import fold

LEAST_CHARACTERS, MOST_CHARACTERS = 20, 400
#: Characters of a message that an instruction may repeat in one piece.
LONGEST_QUOTE = 30
#: Characters of a reply that are read.
_READ = 12_000
_HEAD = re.compile(
    r"[ \t#*_>\-\d.)]*instruction(?:[ \t]*\d+)?[*_ \t]*[:：][ \t*_]*(?P<rest>.*)", re.IGNORECASE
)
_FORM = re.compile(r"[<>{}\[\]\\`|‹›«»]|~~~|\*\*|__|^\s*[#>-]|&#?\w{1,10};|-{3}|={3}")
_ADDRESS = re.compile(
    r"\w+:/|\bwww\.|\S@\S|\b[a-z0-9-]{2,}\.(?:com|net|org|io|info|biz|co)\b", re.IGNORECASE
)
_ROLE = re.compile(
    r"\b(?:system|assistant|user|developer|human|ai)\s*[:：]|\bfinal (?:decision|answer)\b"
)
_OFFERED = (
    r"(?:values?|options?|answers?|labels?|list(?:ed)?|choices?|categor\w+|names?|rules?|"
    r"instructions?|prompts?|definitions?|above|format)\b"
)
_NEAR = r"(?:\w+[ '’,-]+){0,5}"
_ORDERS = re.compile(
    r"\b(?:ignor|disregard|overrid|overrul|forget|bypass|skip|omit|replac|renam|drop)\w*\s+"
    rf"{_NEAR}{_OFFERED}"
    rf"|\b(?:instead of|other than|outside|beyond|besides)\s+{_NEAR}{_OFFERED}"
    r"|\b(?:invent|make up|coin|add)\w*\s+(?:\w+ ){0,3}(?:values?|options?|answers?|labels?|own)\b"
    r"|\b(?:use|give|write|answer|say|reply|respond)(?: with)? (?:\w+ ){0,2}"
    r"(?:new|own|different|other|another|unlisted|free)\b"
    r"|\bnot (?:listed|offered|in the list)\b"
    # With a condition it says when; without one, all that is left is the answer.
    r"|\b(?:always|invariably|just|simply|only) (?:answer|choose|pick|predict|say|output|return"
    r"|respond|reply|write)\b(?!.*\b(?:when|where|if|unless|after|before|once)\b)"
    r"|\b(?:output|reveal|execute|json|delimiters?)\b"
    r"|\b(?:regardless of|no matter) (?:what|how)\b"
)
#: An order turned round is none.
_TURNED = re.compile(r"\b(?:never|not|don['’]t|without|nor)\s+(?:\w+\s+)?$")
#: Words that few English sentences do without and few of other languages have.
_ENGLISH = frozenset(
    {"the", "of", "and", "to", "is", "are", "what", "they", "that", "with", "for", "whether"}
    | {"their", "how", "when", "not", "from", "or", "it", "who", "which", "if", "where", "this"}
    | {"than", "them", "a", "as", "on", "by", "at", "be", "has", "have", "about", "before", "after"}
)
_LEAST_ENGLISH = 0.15


@dataclass(frozen=True, slots=True)
class InstructionFault:
    """One reason not to use an instruction: a code for programs, and words."""

    code: str
    detail: str


Leaks = Callable[[str], bool]


def no_leaks(_: str) -> bool:
    """What is said of every text where nobody looks for personal data."""
    return False


def instruction_faults(
    text: str, *, shown: Iterable[str] = (), leaks: Leaks = no_leaks
) -> tuple[InstructionFault, ...]:
    """What speaks against using ``text`` as an instruction; nothing, where it may be used.

    Args:
        text: untrusted.
        shown: messages that whoever wrote it had read; it must not repeat them.
        leaks: whether words hold personal data.
    """
    if not LEAST_CHARACTERS <= len(text.strip()) <= MOST_CHARACTERS:
        fits = f"{LEAST_CHARACTERS} to {MOST_CHARACTERS} characters fit"
        return (InstructionFault("length", f"It has {len(text.strip()):,} characters; {fits}."),)
    return (*_form(text), *_orders(text), *_privacy(text, shown, leaks))


def read_instructions(reply_text: str) -> tuple[str, ...]:
    """The instructions in a reply, each on one line after "Instruction:", not checked yet.

    Those that read the same count once; other lines are left out.
    """
    found: dict[str, str] = {}
    for line in without_thinking(reply_text[:_READ]).splitlines():
        match = _HEAD.match(line)
        text = " ".join(match["rest"].split()).strip(" *_\"'“”") if match else ""
        if text:
            found.setdefault(instruction_key(text), unicodedata.normalize("NFC", text))
    return tuple(found.values())


def instruction_key(text: str) -> str:
    """Equal for instructions that read the same: case, blanks and marks do not matter."""
    return " ".join(re.findall(r"\w+", fold(text)))


def _form(text: str) -> Iterator[InstructionFault]:
    strange = next((c for c in text if unicodedata.category(c)[0] == "C"), "")
    if strange:
        yield InstructionFault("control_character", f"It holds U+{ord(strange):04X}.")
    if _FORM.search(text):
        yield InstructionFault("markup", "It holds markup, a delimiter or a placeholder.")
    if _ADDRESS.search(text):
        yield InstructionFault("address", "It holds a link or an address.")
    if not _is_english(text):
        yield InstructionFault("language", "It is not written in English.")


def _is_english(text: str) -> bool:
    """Whether it looks so: orders are looked for in English alone."""
    letters = [char for char in text if char.isalpha()]
    latin = all(unicodedata.normalize("NFKD", char)[0].isascii() for char in letters)
    said = re.findall(r"\w+", fold(text))
    common = sum(word in _ENGLISH for word in said)
    return latin and bool(said) and common >= _LEAST_ENGLISH * len(said)


def _orders(text: str) -> Iterator[InstructionFault]:
    said = fold(text).replace("’", "'")
    if found := _ROLE.search(said):
        yield InstructionFault("role", f'"{found[0]}": it takes a part in the conversation.')
    for order in _ORDERS.finditer(said):
        if not _TURNED.search(said[: order.start()]):
            yield InstructionFault("order", f'"{order[0]}": it is about more than where to look.')
            return


def _privacy(text: str, shown: Iterable[str], leaks: Leaks) -> Iterator[InstructionFault]:
    if leaks(text):
        yield InstructionFault("personal_data", "It holds something like personal data.")
    said, size = _plain(text), LONGEST_QUOTE + 1
    pieces = {said[at : at + size] for at in range(len(said) - size + 1)}
    for message in shown:
        written = _plain(message)
        if any(written[at : at + size] in pieces for at in range(len(written) - size + 1)):
            yield InstructionFault("quote", f"It repeats over {LONGEST_QUOTE} characters of one.")
            return


def _plain(text: str) -> str:
    return " ".join(fold(text).split())
