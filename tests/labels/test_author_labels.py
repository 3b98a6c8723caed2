"""What authors say of their own texts decides them: nobody else knows what they meant."""

from typing import Any

import pytest

from apps.labels.models import Annotator, Gold, Kind, Label
from apps.labels.services import annotator_for, record_label, withdraw_label
from apps.projects.models import Item, Project
from tests.cases import all_cases
from tests.factories.labels import draft, open_item, person
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db

PER_ITEM = {"task": "per_item", "question": "", "labels": []}


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(definition=PER_ITEM)


def question(project: Project, options: tuple[str, ...] = ("Hopeful", "Worried")) -> Item:
    return open_item(project, question="How did you feel?", options=list(options))


def author(project: Project, name: str = "author-1") -> Annotator:
    return annotator_for(project, kind=Kind.AUTHOR, name=name)


def say(item: Item, by: Annotator, value: Any, **fields: Any) -> Label:
    return record_label(draft(item, by, value, **fields))


def gold(item: Item) -> list[tuple[Any, str, list[str]]]:
    """Value, basis and evidence of its decision, if there is one."""
    rows = Gold.objects.current().filter(item=item)
    return list(rows.values_list("value", "basis", "evidence"))


def test_an_authors_answer_is_gold(project: Project) -> None:
    item = question(project)
    label = say(item, author(project), "Worried")
    assert gold(item) == [("Worried", Gold.Basis.AUTHOR, [str(label.uid)])]


def test_what_an_author_takes_back_leaves_the_decision_to_others(project: Project) -> None:
    item = question(project)
    other = say(item, person(project), "Hopeful")
    withdraw_label(label=say(item, author(project), "Worried"))
    assert gold(item) == [("Hopeful", Gold.Basis.REVIEW, [str(other.uid)])]


@all_cases(
    "fields",
    [{"role": Label.Role.ADVISORY}, {"action": Label.Action.IMPORTED}],
    ids=["advisory", "imported"],
)
def test_some_answers_are_told_and_decide_nothing(project: Project, fields: dict[str, Any]) -> None:
    item = question(project)
    say(item, author(project), "Worried", **fields)
    assert gold(item) == []


def test_that_nothing_fits_decides_nothing(project: Project) -> None:
    item = question(project)
    say(item, author(project), None, abstained=True)
    assert gold(item) == []


def test_an_answered_question_still_waits_for_other_people(project: Project) -> None:
    item = question(project)
    say(item, author(project), "Worried")
    item.state.refresh_from_db()
    assert item.state.queued
