"""docs/widget-protocol.md lists every frame that a widget may send, with its fields."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from labelhub.core.interview.frames import KINDS, Offered, Shown
from tests.cases import all_cases

GUIDE = (Path(__file__).parents[2] / "docs" / "widget-protocol.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \|(.*)\|$", re.MULTILINE)
ROWS = dict(ROW.findall(GUIDE))


@all_cases("kind", KINDS)
def test_every_kind_of_frame_has_its_row(kind: str) -> None:
    assert kind in ROWS


@pytest.mark.parametrize(("kind", "body"), [("offered", Offered), ("shown", Shown)])
def test_the_fields_are_as_listed(kind: str, body: type) -> None:
    named = " ".join(field.name for field in fields(body))
    assert f"`{named}`" in ROWS[kind]


def test_what_becomes_of_an_offer_is_listed() -> None:
    (fates,) = re.findall(r"`oid what feature`: `([\w ]+)`", ROWS["offered"])
    for what in fates.split():
        named = {"feature": "budget"} if what == "mattered" else {}
        read = KINDS["offered"]({"oid": "o-1", "what": what, **named})
        assert read == Offered("o-1", what, **named)
    assert fates.split() == ["shown", "click", "helpful", "unhelpful", "close", "mattered"]
