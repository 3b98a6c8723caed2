"""Items of a per-item project that bring a question and no options: a word is asked for."""

import pytest

from apps.debates.models import Debate
from apps.debates.services import RunPlan, run_slice, start_run
from apps.debates.services.plans import selected_items
from apps.labels.models import Label
from apps.projects.models import Project
from tests.factories.debates import add_items, plan_for, started_run
from tests.factories.projects import ProjectFactory

# Runs are driven by threads of their own: they see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)

PER_ITEM = {"task": "per_item", "question": ""}


@pytest.fixture
def project() -> Project:
    project = ProjectFactory.create(definition=PER_ITEM)
    add_items(project, 1, question="How did it feel?", options=["Calm", "Annoyed"])
    add_items(project, 1, question="What mattered most, in a word?")
    return project


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["single", "cot", "ecj", "self_refine"])
def test_protocols_that_answer_in_words_label_both(project: Project, name: str) -> None:
    run_slice(started_run(project, name).pk)
    labels = Label.objects.order_by("item_id")
    assert labels[0].value in ("Calm", "Annoyed")
    assert isinstance(labels[1].value, str)
    assert labels[1].value


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["vote", "courtroom", "self_consistency", "discussion"])
def test_protocols_that_choose_leave_questions_for_words_out(project: Project, name: str) -> None:
    plan: RunPlan = plan_for(name)
    run = start_run(project=project, actor=None, plan=plan)
    assert [item.options for item in selected_items(project, plan)] == [["Calm", "Annoyed"]]
    run_slice(run.pk)
    assert Debate.objects.filter(run=run).count() == 1
