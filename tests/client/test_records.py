"""Records of JSON: any extra field is passed over, any fault is named, nothing else is raised."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.client import UnexpectedAnswer
from labelhub.client.endpoints import ENDPOINTS
from labelhub.client.records import Annotator, ItemStanding, Lease, Run, read

KINDS = sorted(
    {endpoint.answer for endpoint in ENDPOINTS.values() if endpoint.answer},
    key=lambda kind: kind.__name__,
)
#: Few and plain: what is tested is the shape, not the leaves.
JSON: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 3, -0.5, "", "a\u2028", [], [{}], {}, {"a": [1, None]}]
)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    Any: JSON,
    str: st.sampled_from(["", "word", "\0\ud800"]),
    int: st.integers(),
    float: st.floats(allow_nan=False) | st.integers(),
    bool: st.booleans(),
    datetime: st.sampled_from(["2026-11-22T10:00:00Z", "2026-11-22T10:00:00.123456+01:00"]),
}
NAMES = st.sampled_from(["new", "", "a-b", "value_"])


def sent(hint: Any) -> st.SearchStrategy[Any]:
    """What a server may send for a type hint."""
    if isinstance(hint, type) and is_dataclass(hint):
        hints = get_type_hints(hint)
        named = {item.name: sent(hints[item.name]) for item in fields(hint)}
        extra = st.dictionaries(NAMES, JSON, max_size=2)
        return st.builds(lambda own, more: own | more, st.fixed_dictionaries(named), extra)
    inner = get_args(hint)
    if get_origin(hint) is UnionType:
        (kept,) = (option for option in inner if option is not NoneType)
        return st.none() | sent(kept)
    if get_origin(hint) is tuple:
        return st.lists(sent(inner[0]), max_size=2)
    if get_origin(hint) is Mapping:
        return st.dictionaries(NAMES, sent(inner[1]), max_size=2)
    return PLAIN[hint]


@pytest.mark.thorough
@given(kind=st.sampled_from(KINDS), data=st.data())
def test_what_a_server_sends_is_read_whatever_else_it_sends(kind: Any, data: st.DataObject) -> None:
    body = data.draw(sent(kind))
    record = read(kind, body)
    assert isinstance(record, kind)
    for item in fields(kind):
        if get_type_hints(kind)[item.name] in (str, int, bool):
            assert getattr(record, item.name) == body[item.name]


@given(kind=st.sampled_from(KINDS), body=JSON)
def test_what_is_something_else_is_told(kind: Any, body: Any) -> None:
    needed = [item for item in fields(kind) if item.default is MISSING]
    needed = [item for item in needed if item.default_factory is MISSING]
    if needed or not isinstance(body, dict):
        with pytest.raises(UnexpectedAnswer, match=kind.__name__):
            read(kind, body)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "7"}, r"Annotator\.id should be int, but is str"),
        ({"id": True}, r"Annotator\.id should be int, but is bool"),
        ({"name": None}, r"Annotator\.name should be str, but is NoneType"),
        ({"offline": 1}, r"Annotator\.offline should be bool"),
    ],
)
def test_a_fault_is_named_by_its_place(change: dict[str, Any], words: str) -> None:
    body = {"id": 7, "name": "n", "kind": "llm", "offline": False}
    assert read(Annotator, body).id == 7
    with pytest.raises(UnexpectedAnswer, match=words):
        read(Annotator, body | change)


@pytest.mark.parametrize("moment", ["soon", 3, None, "2026-13-01T00:00:00Z"])
def test_an_instant_must_be_one(moment: Any) -> None:
    with pytest.raises(UnexpectedAnswer, match=r"Lease\.expires_at"):
        read(Lease, {"token": "t", "expires_at": moment})


def test_records_cannot_be_changed() -> None:
    lease = read(Lease, {"token": "t", "expires_at": "2026-11-22T10:00:00Z"})
    with pytest.raises(AttributeError):
        lease.token = "other"  # type: ignore[misc]  # that is the test
    with pytest.raises(TypeError):
        Lease("t", lease.expires_at)  # type: ignore[call-arg]  # by name only


def test_what_is_inherited_is_read_too() -> None:
    assert {item.name for item in fields(ItemStanding)} >= {"id", "text", "stage", "gold"}
    assert {item.name for item in fields(Run)} >= {"id", "status", "progress"}
