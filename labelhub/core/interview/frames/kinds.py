"""The frames a browser may send: for each kind its fields, typed, and how they are read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from labelhub.core.interview.frames.errors import BadField
from labelhub.core.interview.frames.fields import (
    MOST_MS,
    identifier,
    inner,
    message,
    one_of,
    reference,
    short,
    some_of,
    take,
    text,
    truth,
    whole,
    word,
)

_PRINTABLE = r"\x21-\x7e"
_KEY_SIGNS = r"A-Za-z0-9+/=_:.~\-"
_LANGUAGE = short(35, r"A-Za-z0-9_\-")
_ZONE = short(64, r"A-Za-z0-9_+/:\-")
_MS = whole(MOST_MS)
#: Milliseconds of the last year that a date can have.
_MOMENT = whole(253_402_300_799_000)


@dataclass(frozen=True, slots=True)
class Agreed:
    """Which consent text (version ``v``, ``hash``) was agreed to, for what, and who asked; ``at``
    (milliseconds) is when, 0 where nobody says."""

    v: int
    hash: str
    scope: tuple[str, ...]
    by: str
    at: int = 0


@dataclass(frozen=True, slots=True)
class Hello:
    """The first frame. ``tok``, ``ident`` and ``sid`` are "" for a visitor not known before."""

    key: str
    mode: str
    consent: Agreed
    tok: str
    ident: str
    last: int
    sid: str
    lang: str
    tz: str
    sdk: str


@dataclass(frozen=True, slots=True)
class Msg:
    """Something the author (or the host's assistant, by ``role``) wrote."""

    text: str
    mid: str
    conv: str
    role: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A question is on the screen, ``lat`` milliseconds after it came."""

    qid: str
    lat: int


@dataclass(frozen=True, slots=True)
class Early:
    """An option was clicked before it could be chosen, ``ms`` after the question was shown."""

    qid: str
    ms: int


@dataclass(frozen=True, slots=True)
class Answer:
    """Either ``opt`` (an option's id) or ``val`` (one word), the other one ""; ``ms`` visible."""

    qid: str
    opt: str
    val: str
    ms: int
    kb: bool


@dataclass(frozen=True, slots=True)
class Dismiss:
    """No answer; with ``how`` "nofit", ``val`` may be the word that was missing. With "host" the
    page has closed the question by itself."""

    qid: str
    how: str
    val: str


@dataclass(frozen=True, slots=True)
class Undo:
    """Take the last answer to this question back."""

    qid: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Have the assistant answer this message once more."""

    mid: str


@dataclass(frozen=True, slots=True)
class Offered:
    """What became of an offer: ``what`` is "shown", "click", "helpful", "unhelpful" or "close"."""

    oid: str
    what: str


@dataclass(frozen=True, slots=True)
class Ident:
    """The host's token for its visitor, not verified yet."""

    ident: str


@dataclass(frozen=True, slots=True)
class Consent:
    """A newer consent text was agreed to."""

    agreed: Agreed


@dataclass(frozen=True, slots=True)
class Optout:
    """Do not ask me again."""


@dataclass(frozen=True, slots=True)
class Export:
    """Show my data."""


@dataclass(frozen=True, slots=True)
class Erase:
    """Delete my data."""


@dataclass(frozen=True, slots=True)
class Ping:
    """Still there."""


Body: TypeAlias = (
    Hello
    | Msg
    | Shown
    | Early
    | Answer
    | Dismiss
    | Undo
    | Retry
    | Offered
    | Ident
    | Consent
    | Optout
    | Export
    | Erase
    | Ping
)
_Fields: TypeAlias = Mapping[str, Any]


def _agreed(d: _Fields) -> Agreed:
    return Agreed(
        v=take(d, "v", whole()),
        hash=take(d, "hash", short(128, _KEY_SIGNS)),
        scope=take(d, "scope", some_of("questions", "chat")),
        by=take(d, "by", one_of("widget", "host"), "widget"),
        at=take(d, "at", _MOMENT, 0),
    )


def _hello(d: _Fields) -> Hello:
    return Hello(
        key=take(d, "key", identifier),
        mode=take(d, "mode", one_of("companion", "chat")),
        consent=_agreed(take(d, "consent", inner)),
        tok=take(d, "tok", short(256, _KEY_SIGNS), ""),
        ident=take(d, "ident", text, ""),
        last=take(d, "last", whole(), 0),
        sid=take(d, "sid", identifier, ""),
        lang=take(d, "lang", _LANGUAGE, ""),
        tz=take(d, "tz", _ZONE, ""),
        sdk=take(d, "sdk", short(32, _PRINTABLE), ""),
    )


def _msg(d: _Fields) -> Msg:
    return Msg(
        text=take(d, "text", message),
        mid=take(d, "mid", reference),
        conv=take(d, "conv", reference),
        role=take(d, "role", one_of("author", "assistant")),
    )


def _answer(d: _Fields) -> Answer:
    opt, val = take(d, "opt", identifier, ""), take(d, "val", word, "")
    if bool(opt) == bool(val):
        raise BadField("an answer has either opt or val")
    ms, kb = take(d, "ms", _MS), take(d, "kb", truth, default=False)
    return Answer(take(d, "qid", identifier), opt, val, ms, kb)


def _dismiss(d: _Fields) -> Dismiss:
    how = take(d, "how", one_of("skip", "close", "esc", "host", "timeout", "nofit"))
    # The word of "none of these fit" need not be given.
    val = take(d, "val", word, "") if d.get("val") != "" else ""
    if val and how != "nofit":
        raise BadField("val goes with how nofit only")
    return Dismiss(take(d, "qid", identifier), how, val)


#: How the fields of each kind ``t`` are read; raises BadField.
KINDS: Mapping[str, Callable[[_Fields], Body]] = {
    "hello": _hello,
    "msg": _msg,
    "shown": lambda d: Shown(take(d, "qid", identifier), take(d, "lat", _MS, 0)),
    "early": lambda d: Early(take(d, "qid", identifier), take(d, "ms", _MS, 0)),
    "answer": _answer,
    "dismiss": _dismiss,
    "undo": lambda d: Undo(take(d, "qid", identifier)),
    "retry": lambda d: Retry(take(d, "mid", reference)),
    "offered": lambda d: Offered(
        take(d, "oid", identifier),
        take(d, "what", one_of("shown", "click", "helpful", "unhelpful", "close")),
    ),
    "ident": lambda d: Ident(take(d, "ident", text)),
    "consent": lambda d: Consent(_agreed(d)),
    "optout": lambda _: Optout(),
    "export": lambda _: Export(),
    "erase": lambda _: Erase(),
    "ping": lambda _: Ping(),
}
