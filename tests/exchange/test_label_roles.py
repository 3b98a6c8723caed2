"""The roles of labels in exports and imports."""

from typing import Any
from uuid import uuid4

import pytest

from apps.labels.models import Label
from tests.exchange.helpers import copied, fault, imported, ledger, lines
from tests.exchange.test_exports import LOSSLESS
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
LABELS = [
    {"annotator": role, "role": role, "value": "good", "action": "new", **row}
    for role, row in ROWS.items()
]


@pytest.mark.django_db
@pytest.mark.parametrize("name", LOSSLESS)
def test_every_role_survives_every_format(name: str) -> None:
    project, other = ProjectFactory.create(), ProjectFactory.create()
    imported(project, lines({"id": "1", "text": "Fine.", "labels": LABELS}))
    roles = {label["annotator"]: label["role"] for label in ledger(project)[0]["labels"]}
    assert roles == {role: role for role in Label.Role}
    copied(project, other, name)


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
        # Our own export of before there were roles: read as a vote, it might decide gold.
        {"kind": "crowd", "value": "good", "uid": str(uuid4()), "provenance": {"check": True}},
    ]
    for row in misfits:
        assert fault({"text": "Fine.", "labels": [{"annotator": "a", **row}]})[0] == (
            "labels[0].role"
        ), row
