"""How labels count goes out and comes back; files of before there were roles say it otherwise."""

from typing import Any

import pytest

from apps.exchange.exporters import FORMATS
from apps.labels.models import Label
from tests.exchange.helpers import exported, imported, ledger, lines
from tests.exchange.test_exports import LOSSLESS
from tests.exchange.test_shapes import fault
from tests.factories.projects import ProjectFactory

NOBODY = {"value": None, "withdrawn": True, "action": "withdrawn"}
#: Role → an annotator's kind and what else the label says.
ROWS: dict[str, dict[str, Any]] = {
    "vote": {"kind": "crowd"},
    "extra": {"kind": "crowd"},
    "gold_question": {"kind": "expert"},
    "adjudication": {"kind": "expert"},
    "unclear": {"kind": "expert", "value": None, "abstained": True},
    "advisory": {"kind": "author"},
    "trained": {"kind": "model", "action": "proposed"},
    "skip": {"kind": "crowd", **NOBODY},
    "draft": {"kind": "crowd", **NOBODY},
    "empty": {"kind": "llm", **NOBODY},
}
#: What told it before.
OLD: dict[str, dict[str, Any]] = {
    "vote": {},
    "extra": {"unasked": True},
    "gold_question": {"check": True},
    "adjudication": {"adjudicates": True},
    "unclear": {"adjudicates": True, "unclear": True},
    "advisory": {"advisory": True},
    "trained": {"learned": 2},
    "skip": {"aside": "skip"},
    "draft": {"aside": "draft"},
    "empty": {"aside": "empty"},
}
#: What only describes is in the provenance as before.
NEW: dict[str, dict[str, Any]] = {"trained": {"model_version": 2}}


def labels(*, old: bool) -> list[dict[str, Any]]:
    """One of every role, each by an annotator of its own."""
    return [
        {
            "annotator": role,
            "value": "good",
            "action": "new",
            "provenance": {"comment": "Hm.", **(OLD if old else NEW).get(role, {})},
            **({} if old else {"role": role}),
            **row,
        }
        for role, row in ROWS.items()
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("name", LOSSLESS)
def test_every_role_survives_every_format(name: str) -> None:
    project, other = ProjectFactory.create(), ProjectFactory.create()
    imported(project, lines({"id": "1", "text": "Fine.", "labels": labels(old=False)}))
    roles = {label["annotator"]: label["role"] for label in ledger(project)[0]["labels"]}
    assert roles == {role: role for role in Label.Role}
    batch = imported(other, exported(project, name), f"x{FORMATS[name].suffix}")
    assert batch.errors == []
    assert ledger(other) == ledger(project)


@pytest.mark.django_db
def test_files_of_before_make_the_same_ledger() -> None:
    project, old = ProjectFactory.create(), ProjectFactory.create()
    for where, is_old in ((project, False), (old, True)):
        imported(where, lines({"id": "1", "text": "Fine.", "labels": labels(old=is_old)}))
    seen, meant = ledger(old)[0]["labels"], ledger(project)[0]["labels"]
    fields = ("annotator", "role", "value", "abstained", "withdrawn", "provenance")
    assert [[label[name] for name in fields] for label in seen] == [
        [label[name] for name in fields] for label in meant
    ]


def test_a_role_that_does_not_fit_is_told() -> None:
    misfits: list[dict[str, Any]] = [
        {"kind": "crowd", "value": "good", "role": "boss"},
        {"kind": "crowd", "value": "good", "role": ["vote"]},
        {"kind": "crowd", "value": "good", "role": "adjudication"},
        {"kind": "expert", "value": "good", "role": "unclear"},
        {"kind": "author", "value": "good", "role": "trained"},
        {"kind": "crowd", "value": "good", "role": "skip"},
        {"kind": "expert", "withdrawn": True, "role": "gold_question"},
        {"kind": "crowd", "withdrawn": True, "supersedes": True, "role": "empty"},
    ]
    for row in misfits:
        assert fault({"text": "Fine.", "labels": [{"annotator": "a", **row}]})[0] == (
            "labels[0].role"
        ), row
