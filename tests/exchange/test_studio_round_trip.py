"""Label Studio → here → Label Studio, and here → Label Studio → here: nothing is lost."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.accounts.roles import ReviewerKind
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import annotator_for, record_label, withdraw_label
from apps.projects.models import Item, Project
from apps.reviews.queue.submission import skip_item
from labelhub.core.schema import schema_from_studio
from tests.exchange.helpers import counts, exported, imported, ledger, lines
from tests.exchange.studio_checks import check_import
from tests.exchange.studio_tasks import CONFIGS, DEFINITIONS, config_of, tasks
from tests.factories.accounts import UserFactory
from tests.factories.labels import draft, person
from tests.factories.projects import MembershipFactory, ProjectFactory

pytestmark = pytest.mark.django_db
FORMATS = ["jsonl", "labelstudio", "parquet"]


def through(given_tasks: list[dict[str, Any]], project: Project) -> list[dict[str, Any]]:
    """The tasks after an import and an export, without what we add for ourselves."""
    content = json.dumps(given_tasks).encode()
    # In free text the first words of a file are taken for the answer unless its name is told.
    batch = imported(project, content, "tasks.json", columns={"answer": "mood"})
    assert (counts(batch), batch.errors) == ((len(given_tasks), 0, 0, 0), [])
    made: list[dict[str, Any]] = json.loads(exported(project, "labelstudio"))
    for task in made:
        assert task["meta"].pop("labelhub")["text"] == task["data"]["review"]
    return made


@pytest.mark.thorough
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), task=st.sampled_from(sorted(CONFIGS)))
def test_what_came_from_label_studio_goes_back_as_it_came(data: st.DataObject, task: str) -> None:
    project = ProjectFactory.create(definition=DEFINITIONS[task])
    several = data.draw(st.lists(tasks(task), min_size=1, max_size=3))
    given_tasks = [{**task, "id": 50 + index} for index, task in enumerate(several)]
    assert schema_from_studio(config_of(task)).task.name == task
    assert through(given_tasks, project) == given_tasks
    people = Counter(len(task["annotations"]) + len(task["drafts"]) for task in given_tasks)
    labels = Label.objects.filter(item__project=project)
    found = labels.exclude(annotator__kind="model").count()
    assert found == sum(number * often for number, often in people.items())
    skips = sum(task["cancelled_annotations"] for task in given_tasks)
    assert labels.filter(role="skip").count() == skips


@pytest.mark.thorough
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), task=st.sampled_from(sorted(CONFIGS)), name=st.sampled_from(FORMATS))
def test_and_comes_back_to_us_through_any_format(data: st.DataObject, task: str, name: str) -> None:
    project = ProjectFactory.create(definition=DEFINITIONS[task])
    other = ProjectFactory.create(definition=DEFINITIONS[task])
    through([{**data.draw(tasks(task)), "id": 5}], project)
    suffix = {"labelstudio": "json"}.get(name, name)
    batch = imported(other, exported(project, name), f"x.{suffix}")
    assert (counts(batch), batch.errors) == ((1, 0, 0, 0), [])
    assert ledger(other) == ledger(project)
    again = imported(project, exported(project, name), f"x.{suffix}")
    assert (counts(again), again.errors) == ((0, 1, 0, 0), [])


def worked_on(definition: dict[str, Any], values: list[Any], options: list[str]) -> Project:
    """A project in which labels of all sorts were given here."""
    project = ProjectFactory.create(definition=definition, overlap=2)
    row = {"text": "Room 👍 was fine, really.", "options": options}
    context = [{"role": "user", "text": "Hello"}]
    imported(project, lines({"id": "a", **row, "context": context}, {"id": "b", **row}))
    item, two = Item.objects.filter(project=project).order_by("pk")
    model, anna = annotator_for(project, kind="llm", name="m"), person(project)
    provenance = {"comment": "=1+1 \u202e", "options_shown": options[::-1],
            "spans": [{"label": "good", "start": 0, "end": 6}]}  # fmt: skip
    proposed = record_label(draft(item, model, values[0], action="proposed", confidence=0.5))
    first = record_label(
        draft(item, anna, values[1], action="fixed", proposed_from_id=proposed.pk, seconds=2.0,
              rationale="Because.", confidence=0.75, provenance=provenance,
              evidence={"good": ["Room 👍"], "bad": ["fine", "not there"]})
    )  # fmt: skip
    record_label(
        draft(item, anna, values[0], supersedes_id=first.pk, provenance=provenance,
              evidence={"good": ["Room 👍"]}, rationale="On second thoughts.")
    )  # fmt: skip
    record_label(draft(item, person(project), None, abstained=True, rationale="Who knows?"))
    withdraw_label(label=record_label(draft(two, anna, values[0])))
    reviewer = MembershipFactory.create(project=project, user=UserFactory.create()).user
    skip_item(project=project, user=reviewer, item_id=two.pk, reason="Not my language")
    return project


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("definition", "values", "options"),
    [
        (DEFINITIONS["single"], ["good", "bad"], []),
        (DEFINITIONS["multi"], [["good"], []], []),
        ({"task": "ordinal", "labels": ["bad", "good"]}, [1, 2], []),
        (DEFINITIONS["text"], ["a", "=b\n'"], []),
        ({"task": "per_item"}, ["x, y", "=z"], ["x, y", "=z"]),
    ],
)
def test_our_export_passes_their_checks_and_makes_the_same_ledger(
    definition: dict[str, Any], values: list[Any], options: list[str]
) -> None:
    project = worked_on(definition, values, options)
    other = ProjectFactory.create(definition=definition, overlap=2)
    content, config = exported(project, "labelstudio"), exported(project, "labelstudio-config")
    check_import(json.loads(content), config)
    batch = imported(other, content, "x.json")
    assert (counts(batch), batch.errors) == ((2, 0, 0, 0), [])
    assert ledger(other) == ledger(project)
    assert ledger(other)[1]["labels"][-1]["provenance"] == {"comment": "Not my language"}
    assert ledger(other)[1]["labels"][-1]["role"] == "skip"
    assert json.loads(content)[1]["cancelled_annotations"] == 1
    skipped = ItemState.objects.get(item__project=other, item__external_id="b")
    assert (skipped.labels_by_people, skipped.queued) == (0, True)


def test_what_was_annotated_there_since_comes_back_beside_ours() -> None:
    project = worked_on(DEFINITIONS["single"], ["good", "bad"], [])
    tasks_ = json.loads(exported(project, "labelstudio"))
    theirs = tasks_[0]["annotations"][0]
    ours = {**theirs, "import_id": theirs["id"], "id": 9000, "completed_by": 1}
    edited = {
        **ours,
        "id": 9001,
        "result": [{**theirs["result"][0], "value": {"choices": ["bad"]}}],
    }
    fresh = {**edited, "id": 9002, "import_id": None, "completed_by": {"email": "n@example.org"}}
    tasks_[0] |= {"annotations": [ours, edited, fresh], "predictions": [1], "id": 77}
    other = ProjectFactory.create(definition=DEFINITIONS["single"], overlap=2)
    batch = imported(other, json.dumps(tasks_).encode(), "back.json")
    assert (counts(batch), batch.errors) == ((2, 0, 0, 0), [])
    before, after = ledger(project)[0]["labels"], ledger(other)[0]["labels"]
    added = [label for label in after if label not in before]
    assert [(label["annotator"], label["value"]) for label in added] == [
        ("Label Studio user 1", "bad"),
        ("n@example.org", "bad"),
    ]
    assert added[0]["proposed_from"] == theirs["unique_id"]
    assert len(after) == len(before) + 2


def test_gold_decided_here_moves_the_mark() -> None:
    project = ProjectFactory.create(definition=DEFINITIONS["single"])
    result = {"from_name": "mood", "to_name": "body", "type": "choices"}
    marked = [
        {"id": number, "completed_by": number, "ground_truth": False, "was_cancelled": False,
         "result": [{**result, "value": {"choices": [name]}}]}
        for number, name in enumerate(["good", "bad"])
    ]  # fmt: skip
    task = {"id": 1, "data": {"review": "a"}, "annotations": marked}
    imported(project, json.dumps([task]).encode(), "tasks.json")
    item = Item.objects.get(project=project)
    record_label(draft(item, person(project, ReviewerKind.EXPERT), "bad"))
    assert Gold.objects.current().get(item=item).value == "bad"
    (made,) = json.loads(exported(project, "labelstudio"))
    assert [annotation["ground_truth"] for annotation in made["annotations"]] == [False, True, True]
