"""What a project has for a study, what is missing, and what a study would take."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.agreement.models import Study
from apps.agreement.predictivity.planning import estimate, plan_study
from apps.agreement.predictivity.reading import read_answers
from apps.labels.services import withdraw_label
from labelhub.core.errors import InvalidInput
from tests.agreement.predictivity_help import (
    answered_item,
    authors_project,
    driven,
    plan_of,
    say,
    started,
)
from tests.factories.debates import Script
from tests.factories.labels import open_item
from tests.factories.llm import ModelSpecFactory
from tests.factories.projects import ASPECTS, MOODS, ProjectFactory

pytestmark = pytest.mark.django_db(transaction=True)

#: Three authors with four answers: without examples 12; 4 sources with 1 and with 2: 96.
WHOLE = 12 + 2 * 4 * 12


# Reading the ledger


def test_the_author_of_an_item_is_told_by_its_meta_data_or_by_who_answered() -> None:
    project = authors_project(users=1, answers=2)
    for at in range(2):
        answered_item(project, "zoe", "calm", meta={}, text=f"plain {at}")
    rows = read_answers(project).rows
    assert {row.user.split()[0] for row in rows} == {"user", "annotator"}
    assert len({row.user for row in rows}) == 2
    assert [row.conversation for row in rows][-1] == ""


def test_labels_of_the_offline_model_stand_for_an_llm_only_where_there_is_none() -> None:
    project = authors_project(others={"crowd": "calm"})
    item = project.items.order_by("pk")[0]
    say(item, "llm", "glad", "matcher", offline=True)
    found = read_answers(project)
    assert (found.offline, found.labelled["llm"]) == (True, 1)
    say(item, "llm", "cross", "real")
    found = read_answers(project)
    assert found.offline is False
    assert found.rows[0].labels["llm"] == ("cross",)


def test_usual_sources_are_those_that_have_labelled_half_of_the_items() -> None:
    project = authors_project()
    for item in project.items.order_by("pk")[:5]:
        say(item, "expert", "glad")
    assert read_answers(project).usual_sources == ("llm", "crowd", "author", "chance")
    say(project.items.order_by("pk")[5], "expert", "glad")
    assert "expert" in read_answers(project).usual_sources


def test_an_answer_taken_back_is_no_answer() -> None:
    project = authors_project(users=1, answers=2)
    label = project.items.order_by("pk")[0].labels.get(annotator__kind="author")
    withdraw_label(label=label, provenance={})
    assert len(read_answers(project).rows) == 1


def test_points_of_a_scale_and_fixed_labels_are_read_by_their_names() -> None:
    project = ProjectFactory.create(definition=MOODS)
    for answer in ("good", "bad"):
        answered_item(project, "ann", answer, options=[], question="")
    rows = read_answers(project).rows
    assert [(row.answer, row.options) for row in rows] == [
        ("good", ("good", "bad")),
        ("bad", ("good", "bad")),
    ]


def test_a_question_without_one_right_answer_is_refused_in_words() -> None:
    with pytest.raises(InvalidInput, match="a set of labels"):
        read_answers(ProjectFactory.create(definition=ASPECTS))


# Planning


def test_the_plan_says_what_is_missing() -> None:
    with pytest.raises(InvalidInput, match="No author has answered yet"):
        plan_study(ProjectFactory.create(), plan_of(ProjectFactory.create()))
    lonely = authors_project(users=2, answers=1)
    with pytest.raises(InvalidInput, match="two answers of one conversation"):
        plan_study(lonely, plan_of(lonely))
    project = authors_project(users=1, answers=2)
    with pytest.raises(InvalidInput, match="sources: no answered item has a label by expert"):
        plan_study(project, plan_of(project, sources=("author", "expert")))
    say(project.items.order_by("pk")[0], "expert", "calm")
    assert plan_study(project, plan_of(project, sources=("expert",), examples=(1,))).tasks
    with pytest.raises(InvalidInput, match="Choose fewer sources"):
        plan_study(project, plan_of(project, sources=("expert", "author"), examples=(2,)))


@pytest.mark.thorough
def test_the_estimate_comes_before_anything_is_paid_and_shrinks_with_what_is_done() -> None:
    project, model = authors_project(), ModelSpecFactory.create()
    before = estimate(plan_study(project, plan_of(project, model)))
    assert (before.users, before.items, before.tasks, before.calls) == (3, 12, WHOLE, WHOLE)
    assert before.cost_nanousd is not None
    assert before.worst_nanousd is not None
    assert before.cost_nanousd < before.worst_nanousd
    assert Study.objects.count() == 0
    driven(started(project, model), Script("Final Decision: calm"))
    after = estimate(plan_study(project, plan_of(project, model)))
    assert (after.tasks, after.calls, after.cost_nanousd) == (WHOLE, 0, 0)


def test_a_study_that_goes_on_keeps_its_budget_unless_told_otherwise() -> None:
    project, model = authors_project(), ModelSpecFactory.create()
    first = started(project, model, budget_nanousd=10**9)
    again = started(project, model)
    assert (again.pk, again.budget_nanousd) == (first.pk, 10**9)
    assert started(project, model, unlimited=True).budget_nanousd is None
    with pytest.raises(InvalidInput, match="not both"):
        started(project, model, budget_nanousd=1, unlimited=True)


def test_only_labels_of_answered_items_are_read() -> None:
    project = authors_project(users=1, answers=2)
    for _ in range(5):
        say(open_item(project, options=["calm", "cross"], question="?"), "llm", "calm")
    with CaptureQueriesContext(connection) as asked:
        answers = read_answers(project)
    assert answers.labelled == {"llm": 2, "crowd": 2}
    others = [each["sql"] for each in asked if "'llm'" in each["sql"]]
    assert all("IN (SELECT" in sql for sql in others)
