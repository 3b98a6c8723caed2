"""The demo's library desk: one minute on its agreement page tells whom to trust for what."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from apps.accounts.services import create_user
from apps.dashboards.services import DATA, DESK_SLUG, prepare_demo_agreement
from apps.debates.models import Run
from apps.labels.models import Annotator, Gold, ItemState, Kind, Label
from apps.projects.models import ImportBatch, Project

MESSAGES = DATA / "desk_messages.jsonl"


def rows() -> list[dict[str, Any]]:
    """The messages as the file has them."""
    return [json.loads(line) for line in MESSAGES.read_text(encoding="utf-8").splitlines()]


def counts() -> tuple[int, ...]:
    """Rows of everything that making the project twice could double."""
    tables = (Project, ImportBatch, Annotator, Run, Label, Gold, ItemState)
    return tuple(table.objects.count() for table in tables)


def report(*options: str) -> dict[str, Any]:
    """What the command says of the project."""
    out = StringIO()
    call_command("agreement", DESK_SLUG, "--json", *options, stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def by_author(found: dict[str, Any], figure: str = "accuracy") -> dict[str, float]:
    """A figure of each kind, measured by the author."""
    return {kind: figures[figure]["value"] for kind, figures in found["against_author"].items()}


@pytest.mark.thorough
@pytest.mark.django_db(transaction=True)  # threads drive the runs and see only what is committed
def test_the_project_is_made_once_and_experts_know_best_what_authors_meant() -> None:
    manager = create_user(username="manager").user
    desk = prepare_demo_agreement(manager)
    made = counts()
    assert prepare_demo_agreement(manager) == desk
    assert counts() == made
    batch = ImportBatch.objects.get(project=desk)
    assert (batch.created, batch.failed, batch.conflicts) == (len(rows()), 0, 0)
    assert "written for this demo" in desk.description

    found = report()
    messages = desk.items.count()
    assert {kind: source["annotators"] for kind, source in found["sources"].items()} == {
        "llm": 2, "crowd": 5, "expert": 2, "author": 100,
    }  # fmt: skip
    assert found["sources"]["llm"]["labels"] == 2 * messages
    assert found["sources"]["author"]["labels"] == messages
    assert found["sources"]["crowd"]["abstentions"] > 0
    machines = Annotator.objects.filter(project=desk, kind=Kind.LLM)
    assert all(machine.offline for machine in machines)
    by_machines = Label.objects.filter(annotator__in=machines).values_list("item_id", "value")
    assert len(set(by_machines)) > messages  # the two do not always say the same
    assert set(found["alt_test"]) == {
        "Single annotator: Text matcher (demo)",
        "Self-refine: Text matcher (demo)",
    }
    assert not any(test["passes"] for test in found["alt_test"].values())

    right = by_author(found)
    # Seen: 0.87, 0.70 and 0.60; the most frequent answer alone is right in 0.25.
    assert 0.82 < right["expert"] < 0.92
    assert 0.65 < right["crowd"] < 0.76
    assert 0.45 < right["llm"] < 0.65
