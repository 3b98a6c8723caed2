"""Objects of answers: fields are attributes, times are times, people's own data stays as it is."""

import copy
import json
import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub_client import ClientError, FieldMissing, Record, UnexpectedAnswer
from labelhub_client.api import encode_json
from labelhub_client.records import OWN_DATA, make_records
from tests.cases import all_cases

LEAVES = st.none() | st.booleans() | st.integers() | st.text()
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)


def test_fields_are_attributes_at_every_depth() -> None:
    run = make_records({"id": 7, "roles": [{"model": "m"}], "progress": {"done": 3}})
    assert (run.id, run.roles[0].model, run.progress.done) == (7, "m", 3)
    assert run == Record(id=7, roles=[Record(model="m")], progress=Record(done=3))


def test_names_that_are_data_are_looked_up() -> None:
    scores = make_records({"not at all": {"value": 0.5}, "items": 3})
    assert (scores["not at all"].value, scores.items) == (0.5, 3)
    assert (list(scores), len(scores), "items" in scores) == (["not at all", "items"], 2, True)
    with pytest.raises(KeyError):
        scores["other"]


def test_a_field_that_is_missing_is_named() -> None:
    lease = make_records({"token": "t"})
    with pytest.raises(FieldMissing, match="no 'expires_at', but token") as raised:
        lease.expires_at  # noqa: B018 - that is the test
    assert isinstance(raised.value, UnexpectedAnswer | ClientError)
    assert not hasattr(lease, "expires_at")
    assert getattr(lease, "expires_at", None) is None


@all_cases(
    ("sent", "read"),
    [
        ("2026-11-22T10:00:00Z", datetime(2026, 11, 22, 10, tzinfo=UTC)),
        ("2026-11-22T11:00:00+01:00", datetime(2026, 11, 22, 10, tzinfo=UTC)),
        (None, None),
        (120, 120),
        ("language", "language"),
    ],
)
def test_times_are_times(sent: Any, read: Any) -> None:
    assert make_records({"dropped_at": sent}).dropped_at == read
    assert make_records({"text": sent}).text == sent


@all_cases("name", sorted(OWN_DATA))
def test_peoples_own_data_stays_as_it_is(name: str) -> None:
    own = {"created_at": "2026-11-22T10:00:00Z", "more": [{"id": 1}]}
    assert make_records([{name: own}]) == [Record(**{name: own})]


@given(data=JSON)
def test_any_json_is_read_and_can_be_sent_again(data: Any) -> None:
    assert json.loads(encode_json("This", make_records(data))) == data


@all_cases(
    "copied",
    [copy.deepcopy, lambda record: pickle.loads(pickle.dumps(record))],  # noqa: S301 - our own
)
def test_records_can_be_copied(copied: Callable[[Any], Any]) -> None:
    record = make_records({"item": {"id": 1}})
    assert copied(record) == record
