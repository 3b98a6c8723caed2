"""Frames of the widget: each kind is read exactly, everything else is refused without harm."""

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.interview.frames import (
    KINDS,
    Agreed,
    Answer,
    BadField,
    BadFrame,
    Body,
    Dismiss,
    Early,
    Frame,
    Hello,
    Ident,
    Msg,
    NoFields,
    NotAFrame,
    Offered,
    Retry,
    Shown,
    TooLong,
    Undo,
    frame,
    frame_in_pieces,
    read_frame,
)
from tests.cases import all_cases

AGREED = {"v": 3, "hash": "ab12", "scope": ["chat", "questions"], "by": "host"}
HELLO = {"key": "pk_live_9f", "mode": "chat", "consent": AGREED}
MSG = {"text": "cheap flights\nto Rome 🛫", "mid": "m-1", "conv": "c_1", "role": "author"}
ANSWER = {"qid": "q1", "opt": "o2", "ms": 7_012, "kb": True}
GOOD: list[tuple[str, dict[str, Any], Body]] = [
    (
        "hello",
        HELLO,
        Hello(
            "pk_live_9f",
            "chat",
            Agreed(3, "ab12", ("questions", "chat"), "host"),
            **dict.fromkeys(["tok", "ident", "sid", "lang", "tz", "sdk"], ""),
            last=0,
        ),
    ),
    (
        "hello",
        HELLO
        | {"tok": "T.k-1", "ident": "a.b.c", "last": 41, "sid": "s1", "lang": "pt-BR"}
        | {"tz": "America/Argentina/Buenos_Aires", "sdk": "1", "caps": ["new"]},
        Hello(
            "pk_live_9f",
            "chat",
            Agreed(3, "ab12", ("questions", "chat"), "host"),
            "T.k-1",
            "a.b.c",
            41,
            "s1",
            "pt-BR",
            "America/Argentina/Buenos_Aires",
            "1",
        ),
    ),
    ("msg", MSG, Msg(MSG["text"], "m-1", "c_1", "author")),
    ("shown", {"qid": "q1", "lat": 260.7}, Shown("q1", 260)),
    ("early", {"qid": "q1", "ms": 1_200}, Early("q1", 1_200)),
    ("answer", ANSWER, Answer("q1", "o2", "", 7_012, kb=True)),
    ("answer", {"qid": "q1", "val": " blau ", "ms": 1}, Answer("q1", "", "blau", 1, kb=False)),
    ("dismiss", {"qid": "q1", "how": "skip"}, Dismiss("q1", "skip", "")),
    ("dismiss", {"qid": "q1", "how": "host"}, Dismiss("q1", "host", "")),
    ("dismiss", {"qid": "q1", "how": "nofit", "val": ""}, Dismiss("q1", "nofit", "")),
    ("dismiss", {"qid": "q1", "how": "nofit", "val": "価格"}, Dismiss("q1", "nofit", "価格")),
    ("undo", {"qid": "q1"}, Undo("q1")),
    ("retry", {"mid": "shop/m:1"}, Retry("shop/m:1")),
    ("offered", {"oid": "o1", "what": "click"}, Offered("o1", "click")),
    (
        "offered",
        {"oid": "o1", "what": "mattered", "feature": "use_for_2"},
        Offered("o1", "mattered", "use_for_2"),
    ),
    ("offered", {"oid": "o1", "what": "mattered", "feature": ""}, Offered("o1", "mattered")),
    ("ident", {"ident": "a.b.c"}, Ident("a.b.c")),
    (
        "consent",
        {"v": 4, "hash": "cd", "scope": ["chat"]},
        Agreed(4, "cd", ("chat",), "widget"),
    ),
    *((kind, {}, NoFields()) for kind in ("optout", "export", "erase", "ping")),
]


def wire(t: object, d: object, /, **changed: object) -> str:
    """A frame as a browser sends it; ``...`` leaves a part out."""
    whole = {"v": 1, "t": t, "id": "f-1", "ts": 1_763_689_000_123, "d": d} | changed
    return json.dumps({name: value for name, value in whole.items() if value is not ...})


def refused(raw: str | bytes) -> BadFrame:
    with pytest.raises(BadFrame) as caught:
        read_frame(raw)
    return caught.value


def test_kinds_and_fields_that_are_not_known_are_passed_over() -> None:
    assert read_frame(wire("impression", [1], id="i1")) == Frame("impression", "i1", None, 0)
    assert read_frame(wire("impression", {}, id={"odd": 1})).id == ""
    assert read_frame(wire("undo", {"qid": "q1", "new": [1]}, mood="fine")).d == Undo("q1")


@all_cases(
    "raw",
    [
        "",
        "ping",
        "null",
        "[]",
        '"ping"',
        "{",
        '{"t":"ping"} {}',
        wire(..., {}),
        wire(None, {}),
        wire(7, {}),
        wire("", {}),
        wire("x" * 33, {}),
        wire("\ud800", {}),
        '{"v":1,"t":"ping","t":"erase","id":"f","d":{}}',
        '{"v":1,"t":"undo","id":"f","d":{"qid":"a","qid":"b"}}',
        '{"v":1,"t":"ping","id":"f","ts":NaN}',
        '{"v":1,"t":"ping","id":"f","ts":-Infinity}',
        wire("ping", {"x": [[[[[[[1]]]]]]]}),
        "[" * 16_000,
        '{"t":' * 3_000,
        '{"v":1,"t":"ping","ts":' + "9" * 5_000 + "}",
        b"\xff\xfe",
        b'{"v":1,"t":"ping","id":"\xed\xa0\x80"}',
        "\ufeff" + wire("ping", {}),
    ],
)
def test_what_is_no_frame_ends_the_connection(raw: str | bytes) -> None:
    fault = refused(raw)
    assert isinstance(fault, NotAFrame)
    assert (fault.code, fault.close) == ("bad_frame", 4400)


@all_cases(
    ("t", "d", "word"),
    [
        ("hello", HELLO | {"key": "pk live"}, "key"),
        ("hello", HELLO | {"key": ""}, "key"),
        ("hello", HELLO | {"mode": "both"}, "mode"),
        ("hello", {"key": "k", "mode": "chat"}, "consent"),
        ("hello", HELLO | {"consent": [3]}, "consent"),
        ("hello", HELLO | {"consent": AGREED | {"v": -1}}, "v must"),
        ("hello", HELLO | {"consent": AGREED | {"hash": "x" * 129}}, "hash"),
        ("hello", HELLO | {"consent": AGREED | {"scope": []}}, "scope"),
        ("hello", HELLO | {"consent": AGREED | {"scope": ["chat", "chat"]}}, "scope"),
        ("hello", HELLO | {"consent": AGREED | {"scope": ["chat", {}]}}, "scope"),
        ("hello", HELLO | {"consent": AGREED | {"scope": "chat"}}, "scope"),
        ("hello", HELLO | {"consent": AGREED | {"by": "me"}}, "by"),
        ("hello", HELLO | {"tok": "x" * 257}, "tok"),
        ("hello", HELLO | {"ident": 7}, "ident"),
        ("hello", HELLO | {"last": -1}, "last"),
        ("hello", HELLO | {"last": 2**53}, "last"),
        ("hello", HELLO | {"last": 10**400}, "last"),
        ("hello", HELLO | {"last": True}, "last"),
        ("hello", HELLO | {"lang": "<script>"}, "lang"),
        ("hello", HELLO | {"tz": "x" * 65}, "tz"),
        ("hello", HELLO | {"sdk": "1\n"}, "sdk"),
        ("msg", MSG | {"text": 7}, "text"),
        ("msg", MSG | {"text": "a\0b"}, "text"),
        ("msg", MSG | {"text": "a\ud83db"}, "text"),
        ("msg", MSG | {"mid": "a" * 65}, "mid"),
        ("msg", MSG | {"mid": "m\u2028"}, "mid"),
        ("msg", MSG | {"mid": "m1\n"}, "mid"),
        ("msg", MSG | {"conv": None}, "conv"),
        ("msg", MSG | {"role": "system"}, "role"),
        ("answer", ANSWER | {"val": "blue"}, "opt or val"),
        ("answer", {"qid": "q1", "ms": 1}, "opt or val"),
        ("answer", {"qid": "q1", "opt": "o1"}, "ms"),
        ("answer", ANSWER | {"ms": "7000"}, "ms"),
        ("answer", ANSWER | {"ms": -1}, "ms"),
        ("answer", ANSWER | {"ms": 86_400_001}, "ms"),
        ("answer", ANSWER | {"kb": 1}, "kb"),
        ("answer", {"qid": "q1", "val": "two words", "ms": 1}, "val"),
        ("answer", {"qid": "q1", "val": "  ", "ms": 1}, "val"),
        ("answer", {"qid": "q1", "val": "x" * 41, "ms": 1}, "val"),
        ("answer", {"qid": "q1", "val": "a\u0007b", "ms": 1}, "val"),
        ("dismiss", {"qid": "q1", "how": "bored"}, "how"),
        ("dismiss", {"qid": "q1", "how": ["skip"]}, "how"),
        ("dismiss", {"qid": "q1", "how": "skip", "val": "blue"}, "val"),
        ("undo", {}, "qid"),
        ("undo", {"qid": {"$ne": 1}}, "qid"),
        ("offered", {"oid": "o1", "what": "bought"}, "what"),
        ("offered", {"oid": "o1", "what": "mattered"}, "feature"),
        ("offered", {"oid": "o1", "what": "mattered", "feature": "<b>"}, "feature"),
        ("offered", {"oid": "o1", "what": "mattered", "feature": "x" * 41}, "feature"),
        ("offered", {"oid": "o1", "what": "mattered", "feature": ["budget"]}, "feature"),
        ("offered", {"oid": "o1", "what": "click", "feature": "budget"}, "feature"),
        ("ident", {}, "ident"),
        ("undo", [], "d must"),
        ("undo", "qid", "d must"),
    ],
)
def test_a_field_that_is_not_as_it_must_be_is_named_in_a_nack(t: str, d: object, word: str) -> None:
    fault = refused(wire(t, d))
    assert isinstance(fault, BadField)
    assert (fault.code, fault.close, fault.id) == ("bad_field", None, "f-1")
    assert word in fault.message


def test_a_message_is_as_long_as_eight_thousand_characters() -> None:
    assert read_frame(wire("msg", MSG | {"text": "x" * 8_000})).id == "f-1"
    fault = refused(wire("msg", MSG | {"text": "x" * 8_001}))
    assert isinstance(fault, TooLong)
    assert (fault.code, fault.close, fault.id) == ("too_long", None, "f-1")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["chat", "author", "nofit", "q1", "1"]),
    lambda part: (
        st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=5), part, max_size=4)
    ),
    max_leaves=12,
)
NAMES = [
    *("key", "mode", "consent", "tok", "ident", "last", "sid", "lang", "tz", "sdk", "v", "hash"),
    *("scope", "by", "text", "mid", "conv", "role", "qid", "lat", "ms", "opt", "val", "kb", "how"),
]


def only_bad_frames(raw: str | bytes) -> None:
    """Also what is read, or told of a fault, can be stored and sent on."""
    result: list[Any]
    try:
        found = read_frame(raw)
        result = [found.t, found.id, found.ts, found.d and asdict(found.d)]
    except BadFrame as fault:
        result = [fault.code, fault.message, fault.id, {None: 0, 4400: 1, 4413: 2}[fault.close]]
    json.dumps(result, ensure_ascii=False, allow_nan=False).encode()


@given(st.sampled_from(GOOD), st.sampled_from([*NAMES, "v", "t", "id", "ts", "d"]), JSON)
def test_no_good_frame_with_one_part_changed_does_harm(
    good: tuple[str, dict[str, Any], Body], name: str, value: object
) -> None:
    t, d, _ = good
    only_bad_frames(wire(t, d | {name: value}))
    only_bad_frames(wire(t, d, **{name: value}))


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=500),
    st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True),
    st.sampled_from(["author", "assistant"]),
)
def test_a_message_comes_back_as_it_was_sent(text: str, mid: str, role: str) -> None:
    sent = Msg(text, mid, mid, role)
    assert read_frame(wire("msg", asdict(sent), id=mid)) == Frame(
        "msg", mid, sent, 1_763_689_000_123
    )


@given(st.dictionaries(st.text(), st.text() | st.integers()), st.integers(0, 10**9))
def test_what_we_write_is_read_back(d: dict[str, Any], seq: int) -> None:
    read = json.loads(frame("reply", d, re="x", seq=seq).encode())
    assert read == {"v": 1, "t": "reply", "seq": seq, "re": "x", "d": d}


@given(st.dictionaries(st.text(), st.text() | st.lists(st.integers() | st.none())))
def test_a_frame_in_pieces_is_the_same_frame(d: dict[str, Any]) -> None:
    assert "".join(frame_in_pieces("data", d, re="f-1")) == frame("data", d, re="f-1")


@all_cases(("t", "d", "body"), GOOD)
def test_each_kind_is_read_into_its_own_type(t: str, d: dict[str, Any], body: Body) -> None:
    expected = Frame(t, "f-1", body, 1_763_689_000_123)
    assert read_frame(wire(t, d)) == expected
    assert read_frame(wire(t, d).encode()) == expected


@pytest.mark.thorough
@given(st.sampled_from(sorted(KINDS)), st.dictionaries(st.sampled_from(NAMES), JSON))
def test_no_fields_do_harm(t: str, d: dict[str, object]) -> None:
    only_bad_frames(wire(t, d))


def test_a_frame_of_ours_is_compact_and_has_only_what_it_needs() -> None:
    assert frame("pong", {}) == '{"v":1,"t":"pong","d":{}}'
    assert frame("ack", {"undo_ms": 5_000}, re="f-1") == (
        '{"v":1,"t":"ack","re":"f-1","d":{"undo_ms":5000}}'
    )
    assert frame("retract", {"why": "é"}, seq=0) == '{"v":1,"t":"retract","seq":0,"d":{"why":"é"}}'


@given(st.binary(max_size=200) | st.text(max_size=200) | JSON.map(json.dumps))
def test_no_bytes_or_text_or_json_does_harm(raw: bytes | str) -> None:
    only_bad_frames(raw)
