"""Read and write frames of the widget's protocol ``al.v1``.

A frame is one JSON object of at most 16 KB: ``{"v":1,"t":…,"id":…,"ts":…,"d":{…}}``. All fields are
untrusted: each kind of frame has typed fields, and a value of another shape is refused with a code
that the widget knows. Unknown kinds and fields are ignored, so that newer widgets may send them.

A field reader takes a JSON value and returns it checked. It raises ``ValueError`` with words that
follow the name of the field, such as "must be a text"; :func:`take` adds the name.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

from labelhub.core.errors import LabelhubError
from labelhub.core.strict_json import DECODER


class BadFrame(LabelhubError):
    """A frame that cannot be used.

    ``close``: the code to close the connection with, or None if a ``nack`` with the error's code
    and message is enough. ``id``: the frame's id for that ``nack``, "" if it is unreadable.
    """

    code = "bad_frame"
    close: ClassVar[int | None] = None

    def __init__(self, message: str, *, id: str = "") -> None:  # noqa: A002 - as the frame calls it
        super().__init__(message)
        self.id = id


class NotAFrame(BadFrame):
    """The frame is no JSON object with a kind ``t``."""

    close = 4400


class TooBig(BadFrame):
    """The frame has too many bytes."""

    code = "too_big"
    close = 4413


class UnsupportedVersion(BadFrame):
    """``v`` is not 1."""

    code = "unsupported_version"


class BadField(BadFrame):
    """A field is missing or has the wrong shape."""

    code = "bad_field"


class TooLong(BadField):
    """A message has too many characters."""

    code = "too_long"


MOST_TEXT, MOST_ID, MOST_WORD = 8_000, 64, 40
#: Milliseconds: more than a day is no measurement.
MOST_MS = 86_400_000
#: The largest integer that JavaScript counts exactly.
MOST_INT = 2**53 - 1

#: The default of a field that must be present.
REQUIRED: Final[Any] = object()

Value = TypeVar("Value")
Reader = Callable[[object], Value]

_SURROGATE = re.compile("[\ud800-\udfff]")
_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{MOST_ID}}}")


def take(
    d: Mapping[str, object], name: str, read: Reader[Value], default: Value = REQUIRED
) -> Value:
    """The field ``name``, read by ``read``; its ``default`` if it is missing or null.

    Raises:
        BadField: it is required and missing, or has the wrong shape.
    """
    value = d.get(name)
    if value is None:
        if default is REQUIRED:
            raise BadField(f"{name} is missing")
        return default
    try:
        return read(value)
    except ValueError as fault:
        raise BadField(f"{name} {fault}") from None


def identifier(value: object) -> str:
    """An id: 1 to 64 letters, digits, ``_`` and ``-``."""
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError(f"must be 1 to {MOST_ID} letters, digits, _ and -")
    return value


def reference(value: object) -> str:
    """A host's id of its own object: 1 to 64 printable characters, such as ``msg:17``."""
    if not isinstance(value, str) or not 1 <= len(value) <= MOST_ID:
        raise ValueError(f"must be 1 to {MOST_ID} characters")
    if not value.isprintable() or not value.strip():
        raise ValueError("has characters that are not printable")
    return value


def text(value: object) -> str:
    """Text without NUL and without halves of surrogate pairs, of any length."""
    if not isinstance(value, str):
        raise ValueError("must be a text")
    if "\0" in value or _SURROGATE.search(value):
        raise ValueError("has characters that cannot be stored")
    return value


def message(value: object) -> str:
    """A message of the author or the assistant: text of at most 8,000 code points."""
    read = text(value)
    if len(read) > MOST_TEXT:
        raise TooLong(f"text has more than {MOST_TEXT} characters")
    return read


def word(value: object) -> str:
    """One word of at most 40 code points, blanks around it removed."""
    read = text(value).strip()
    if len(read.split()) != 1 or len(read) > MOST_WORD:
        raise ValueError(f"must be one word of at most {MOST_WORD} characters")
    if any(unicodedata.category(char) == "Cc" for char in read):
        raise ValueError("has control characters")
    return read


def short(most: int, signs: str) -> Reader[str]:
    """A reader of texts of up to ``most`` of the ``signs`` (the inside of a character class)."""
    pattern = re.compile(rf"[{signs}]{{0,{most}}}")

    def read(value: object) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError(f"must be a text of at most {most} of the usual characters")
        return value

    return read


def one_of(*offered: str) -> Reader[str]:
    """A reader of one of the ``offered`` texts."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in offered:
            raise ValueError(f"must be one of {', '.join(offered)}")
        return value

    return read


def some_of(*offered: str) -> Reader[tuple[str, ...]]:
    """A reader of a list with at least one of the ``offered`` texts, none of them twice."""

    def read(value: object) -> tuple[str, ...]:
        named = value if isinstance(value, list) else []
        found = tuple(name for name in offered if name in named)
        if not found or len(found) != len(named):
            raise ValueError(f"must be a list of {', '.join(offered)}, none twice")
        return found

    return read


def whole(most: int = MOST_INT) -> Reader[int]:
    """A reader of numbers from 0 to ``most``; decimals are cut off."""

    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("must be a number")
        if not 0 <= value <= most:
            raise ValueError(f"must be a number from 0 to {most}")
        return int(value)

    return read


def truth(value: object) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def inner(value: object) -> Mapping[str, object]:
    """An object."""
    if not isinstance(value, dict):
        raise ValueError("must be an object")
    return value


_PRINTABLE = r"\x21-\x7e"
_KEY_SIGNS = r"A-Za-z0-9+/=_:.~\-"
_LANGUAGE = short(35, r"A-Za-z0-9_\-")
_ZONE = short(64, r"A-Za-z0-9_+/:\-")
_MS = whole(MOST_MS)
#: Milliseconds of the last year that a date can have.
_MOMENT = whole(253_402_300_799_000)


@dataclass(frozen=True, slots=True)
class Agreed:
    """Which consent text (version ``v``, ``hash``) was agreed to, for what, and which side
    asked. ``agreed_ms``: when, in milliseconds since 1970; 0 if not known."""

    v: int
    hash: str
    scope: tuple[str, ...]
    by: str
    agreed_ms: int = 0


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
    """An event of an offer: ``what`` is "shown", "click", "helpful", "unhelpful", "close" or
    "mattered", with the key of the ``feature`` that mattered most, "" for none."""

    oid: str
    what: str
    feature: str = ""


@dataclass(frozen=True, slots=True)
class Ident:
    """The host's token for its visitor, not verified yet."""

    ident: str


@dataclass(frozen=True, slots=True)
class NoFields:
    """Never ask me again ("optout"), show or delete my data ("export", "erase"), or still there
    ("ping")."""


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
    | Agreed
    | NoFields
)
_Fields: TypeAlias = Mapping[str, Any]


def _agreed(d: _Fields) -> Agreed:
    return Agreed(
        v=take(d, "v", whole()),
        hash=take(d, "hash", short(128, _KEY_SIGNS)),
        scope=take(d, "scope", some_of("questions", "chat")),
        by=take(d, "by", one_of("widget", "host"), "widget"),
        agreed_ms=take(d, "at", _MOMENT, 0),
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


def _offered(d: _Fields) -> Offered:
    whats = ("shown", "click", "helpful", "unhelpful", "close", "mattered")
    what, key = take(d, "what", one_of(*whats)), short(MOST_WORD, "a-z0-9_")
    if what == "mattered":
        return Offered(take(d, "oid", identifier), what, take(d, "feature", key))
    if d.get("feature"):
        raise BadField("feature goes with what mattered only")
    return Offered(take(d, "oid", identifier), what)


#: Kind ``t`` → the reader of its fields, which may raise BadField.
KINDS: Mapping[str, Callable[[_Fields], Body]] = {
    "hello": _hello,
    "msg": _msg,
    "shown": lambda d: Shown(take(d, "qid", identifier), take(d, "lat", _MS, 0)),
    "early": lambda d: Early(take(d, "qid", identifier), take(d, "ms", _MS, 0)),
    "answer": _answer,
    "dismiss": _dismiss,
    "undo": lambda d: Undo(take(d, "qid", identifier)),
    "retry": lambda d: Retry(take(d, "mid", reference)),
    "offered": _offered,
    "ident": lambda d: Ident(take(d, "ident", text)),
    "consent": _agreed,
    **dict.fromkeys(("optout", "export", "erase", "ping"), lambda _: NoFields()),
}


VERSION = 1
MOST_BYTES = 16_384
#: Objects and lists within each other; our own frames need three.
MOST_DEEP = 8

_KIND = re.compile(r"[A-Za-z0-9_.-]{1,32}")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of kind ``t``; ``d`` is None for an unknown kind, which is ignored.

    ``id``: from the sender, the same if the frame is sent twice. ``ts``: the sender's clock in
    milliseconds since 1970, 0 if missing; untrusted like the rest.
    """

    t: str
    id: str
    d: Body | None
    ts: int


def read_frame(raw: str | bytes) -> Frame:
    """The frame in ``raw``.

    Raises:
        BadFrame: it is no frame or a malformed one; see ``close`` and ``id`` of the error.
    """
    found = _decode_object(raw)
    kind = found.get("t")
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise NotAFrame("A frame needs its kind t.")
    frame_id = _readable_id(found)
    try:
        return _read_body(kind, found)
    except BadFrame as fault:
        fault.id = frame_id
        raise


def _read_body(kind: str, found: Mapping[str, Any]) -> Frame:
    version = found.get("v")
    if type(version) is not int or version != VERSION:
        raise UnsupportedVersion(f"Only version {VERSION} is spoken here.")
    read = KINDS.get(kind)
    if read is None:
        return Frame(kind, _readable_id(found), None, 0)
    return Frame(
        t=kind,
        id=take(found, "id", identifier),
        d=read(take(found, "d", inner, {})),
        ts=take(found, "ts", whole(), 0),
    )


def _readable_id(found: Mapping[str, Any]) -> str:
    try:
        return take(found, "id", identifier, "")
    except BadField:
        return ""


def _decode_object(raw: str | bytes) -> Mapping[str, Any]:
    # Characters first: no need to encode a text that is far too long.
    if len(raw) > MOST_BYTES or (
        isinstance(raw, str) and len(raw.encode("utf-8", "surrogatepass")) > MOST_BYTES
    ):
        raise TooBig(f"A frame has at most {MOST_BYTES} bytes.")
    try:
        found = DECODER.decode(raw if isinstance(raw, str) else raw.decode())
    # Including integers of thousands of digits and too deeply nested brackets.
    except (ValueError, RecursionError):
        raise NotAFrame("A frame is one JSON object in UTF-8.") from None
    if not isinstance(found, dict) or _deeper_than(found, MOST_DEEP):
        raise NotAFrame(f"A frame is one JSON object, nested at most {MOST_DEEP} deep.")
    return found


def _deeper_than(value: dict[str, Any], most: int) -> bool:
    layer: list[Any] = [value]
    for _ in range(most):
        nested = [outer for outer in layer if isinstance(outer, dict | list)]
        lists = (outer.values() if isinstance(outer, dict) else outer for outer in nested)
        layer = [inner for outer in lists for inner in outer]
        if not layer:
            return False
    return True


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def frame(t: str, d: Mapping[str, Any], *, re: str = "", seq: int | None = None) -> str:
    """One frame as compact JSON.

    Args:
        t: its kind.
        d: its fields, JSON-ready.
        re: the id of the frame (or message) that it answers; left out if "".
        seq: its number in the session's stream; left out for frames that are not sent again.

    Half a surrogate pair, which a model may write, becomes U+FFFD: no socket would take it.
    """
    return _storable(_ENCODER.encode(_envelope(t, d, re, seq)))


def frame_in_pieces(t: str, d: Mapping[str, Any], *, re: str = "") -> Iterator[str]:
    """The same piece by piece, for frames of megabytes: other threads may run between pieces."""
    return map(_storable, _ENCODER.iterencode(_envelope(t, d, re, None)))


def _envelope(t: str, d: Mapping[str, Any], re: str, seq: int | None) -> dict[str, Any]:
    written: dict[str, Any] = {"v": 1, "t": t}
    if seq is not None:
        written["seq"] = seq
    if re:
        written["re"] = re
    return written | {"d": d}


def _storable(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)
