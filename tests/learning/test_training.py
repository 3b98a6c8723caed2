"""A training from start to end: what it writes, and what it leaves alone."""

import pytest

from apps.accounts.roles import Role
from apps.common.jobs import waiting_jobs, work_on
from apps.common.models import Job
from apps.labels.models import ItemState, Kind, Label
from apps.labels.services import (
    DebateResult,
    NewGold,
    import_gold,
    record_debate_results,
    record_label,
)
from apps.learning.models import Score, TrainedModel
from apps.learning.selectors import suspects_of
from apps.learning.services import (
    due_projects,
    run_training,
    start_training,
    switch_learning,
    unswept_projects,
)
from apps.projects.selectors import current_schema
from apps.projects.services import set_schema
from labelhub.core.errors import Conflict
from labelhub.core.schema import parse_schema
from labelhub.core.schema.operations import Rename
from tests.factories.labels import draft, machine, person
from tests.factories.learning import BAD, GOOD, decide_items, open_texts, taught_project, train
from tests.factories.projects import MOODS, ProjectFactory, member
from tests.factories.schema_changes import changed
from tests.fakes.learner import NearLearner

pytestmark = pytest.mark.django_db
Status = TrainedModel.Status


def state(item_id: int) -> ItemState:
    """The item's state now."""
    return ItemState.objects.get(item=item_id)


def test_what_is_not_decided_is_labelled_scored_and_ordered() -> None:
    project, waiting = taught_project()
    model = train(project)
    assert (model.status, model.examples, model.applied, model.written) == (Status.DONE, 40, 4, 4)
    assert model.quality is not None
    assert model.quality["accuracy"]["value"] > 0.9
    labels = Label.objects.filter(item__in=waiting)
    assert [label.value for label in labels] == ["good", "bad", "good", "bad"]
    assert {label.annotator.kind for label in labels} == {Kind.MODEL}
    assert all(label.role == Label.Role.TRAINED and label.confidence for label in labels)
    scores = Score.objects.filter(item__in=waiting)
    assert all(score.gold_id is None and score.model_id == model.pk for score in scores)
    for item in waiting:
        learned = state(item.pk).model_uncertainty
        assert learned == pytest.approx(1 - scores.get(item=item).probability)


def test_gold_is_judged_unseen_and_gets_no_label() -> None:
    project, _ = taught_project()
    train(project)
    judged = Score.objects.filter(project=project, gold__isnull=False)
    assert judged.count() == 40
    assert all(score.gold_probability is not None for score in judged)
    assert not Label.objects.filter(item__state__gold__isnull=False).exists()


def test_a_label_of_the_model_is_nobodys_suggestion_and_decides_nothing() -> None:
    project, (first, *_) = taught_project()
    train(project)
    now = state(first.pk)
    assert (now.suggestion, now.gold, now.stage) == (None, None, ItemState.Stage.NEW)
    someone = person(project)
    record_label(draft(first, someone, "bad"))
    now = state(first.pk)
    assert now.suggestion is None
    assert now.gold is not None
    assert (now.gold.value, now.gold.decided_by) == ("bad", someone)


@pytest.mark.thorough
def test_another_opinion_supersedes_the_earlier_one() -> None:
    project, (first, *_) = taught_project(gold=40, waiting=1)
    train(project)
    # What was good is bad from now on, in many more words.
    decide_items(
        open_texts(project, [f"{GOOD} on stay {number}" for number in range(90)]), ["bad"] * 90
    )
    train(project)
    labels = list(Label.objects.filter(item=first).order_by("pk"))
    assert [label.value for label in labels] == ["good", "bad"]
    assert labels[1].supersedes == labels[0]


def test_doubt_is_about_the_debates_label_where_there_is_one() -> None:
    project, (agreed, contradicted, *_) = taught_project()
    llm = machine(project)
    suggested = {agreed: "good", contradicted: "good"}
    results = [
        DebateResult(item_id=item.pk, draft=draft(item, llm, value))
        for item, value in suggested.items()
    ]
    record_debate_results(project, results)
    train(project)
    sure, wrong = state(agreed.pk), state(contradicted.pk)
    assert sure.model_uncertainty is not None
    assert wrong.model_uncertainty is not None
    assert sure.model_uncertainty < 0.3
    assert wrong.model_uncertainty > 0.7
    assert wrong.priority > sure.priority
    assert wrong.suggestion is not None
    assert wrong.suggestion.annotator == llm


def test_of_what_is_audited_blind_the_order_tells_nothing() -> None:
    project, (audited, *_) = taught_project()
    result = DebateResult(
        item_id=audited.pk, draft=draft(audited, machine(project), "bad"), reasons=["audit"]
    )
    record_debate_results(project, [result])
    train(project)
    score = Score.objects.get(item=audited)
    assert score.value == "good"
    assert state(audited.pk).model_uncertainty == pytest.approx(1 - score.probability)


def test_what_was_decided_meanwhile_is_left_alone() -> None:
    project, (first, *_) = taught_project()

    class Slow(NearLearner):
        def say(self, *args: object) -> list:  # type: ignore[type-arg]
            record_label(draft(first, person(project), "bad"))
            return super().say(*args)  # type: ignore[arg-type]

    model = train(project, Slow())
    assert (model.applied, model.written) == (3, 3)
    assert not Score.objects.filter(item=first).exists()
    assert state(first.pk).model_uncertainty is None


def test_a_decision_that_was_changed_since_is_suspected_no_more() -> None:
    project = ProjectFactory.create()
    items = open_texts(
        project, [f"{(GOOD, BAD)[number % 2]} on visit {number}" for number in range(40)]
    )
    someone = person(project)
    values = ["bad" if number == 6 else ("good", "bad")[number % 2] for number in range(40)]
    first = [
        record_label(draft(item, someone, value)) for item, value in zip(items, values, strict=True)
    ]
    switch_learning(project=project, on=True, actor=None)
    train(project)
    manager = member(project, Role.MANAGER)
    found = suspects_of(project, manager)
    assert [(score.item, score.value) for score in found] == [(items[6], "good")]
    record_label(draft(items[6], someone, "good", supersedes_id=first[6].pk))
    assert not suspects_of(project, manager).exists()


@pytest.mark.thorough
def test_killed_at_any_point_it_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.learning.services.ITEMS_AT_ONCE", 2)
    project, waiting = taught_project(waiting=6)
    model = start_training(project=project)
    for deaths in (0, 2):  # before it learns; after two chunks
        run_training(model.pk, open_learner=NearLearner(dies_after=deaths))
        model.refresh_from_db()
        assert model.unfinished
        Job.objects.update(lease_until=None)
    assert Label.objects.filter(item__in=waiting).count() == 2
    last = NearLearner()
    run_training(model.pk, open_learner=last)
    model.refresh_from_db()
    assert (model.status, model.applied, model.written) == (Status.DONE, 6, 6)
    assert last.asked == ["fit", "say", "say"]
    assert Label.objects.filter(item__in=waiting).count() == 6


def test_two_starts_are_one_training() -> None:
    project, _ = taught_project()
    first = start_training(project=project)
    assert start_training(project=project) == first
    assert waiting_jobs("learning.train") == [first.pk]


def test_switched_off_it_ends_and_the_queue_forgets_it() -> None:
    project, waiting = taught_project()
    train(project)
    before = {item.pk: state(item.pk).priority for item in waiting}
    decide_items(
        open_texts(project, [f"{BAD} in room {number}" for number in range(20)]), ["bad"] * 20
    )
    second = start_training(project=project)
    switch_learning(project=project, on=False, actor=None)
    run_training(second.pk, open_learner=NearLearner())
    second.refresh_from_db()
    assert second.status == Status.CANCELLED
    assert unswept_projects() == [project.pk]
    work_on("learning.clear_ranks", project.pk)
    assert unswept_projects() == []
    after = {item.pk: state(item.pk) for item in waiting}
    assert [state.model_uncertainty for state in after.values()] == [None] * 4
    assert all(state.priority < before[pk] for pk, state in after.items())
    with pytest.raises(Conflict, match="switched off"):
        start_training(project=project)


def test_what_a_machine_decided_teaches_nothing() -> None:
    project, (first, second, *_) = taught_project()
    schema = current_schema(project)
    decision = {"schema": schema, "value": "bad", "decided_by": machine(project)}
    import_gold(project, [NewGold(item_id=item.pk, **decision) for item in (first, second)])  # type: ignore[arg-type]
    assert train(project).examples == 40


@pytest.mark.thorough
def test_a_new_version_of_the_schema_is_learnt_though_gold_has_not_grown() -> None:
    project, _ = taught_project()
    train(project)
    assert due_projects() == []
    more = {**MOODS, "labels": [*MOODS["labels"], {"name": "mixed"}]}
    set_schema(project=project, schema=parse_schema(more), actor=None)
    assert [due.pk for due, _ in due_projects()] == [project.pk]
    model = train(project)
    assert model.quality is not None
    assert [row["name"] for row in model.quality["labels"]] == ["good", "bad", "mixed"]


def test_what_was_learnt_before_labels_changed_is_said_no_more() -> None:
    project, waiting = taught_project()

    class Slow(NearLearner):
        def say(self, *args: object) -> list:  # type: ignore[type-arg]
            changed(project, Rename("good", "bad"), Rename("bad", "good"))
            return super().say(*args)  # type: ignore[arg-type]

    model = train(project, Slow())
    assert (model.status, model.applied) == (Status.CANCELLED, 0)
    assert "labels were changed" in model.message
    assert not Label.objects.filter(item__in=waiting).exists()
    assert [due.pk for due, _ in due_projects()] == [project.pk]
    again = train(project)
    assert (again.status, again.schema) == (Status.DONE, current_schema(project))
    labels = Label.objects.current().filter(item__in=waiting)
    assert [label.value for label in labels] == ["bad", "good", "bad", "good"]
