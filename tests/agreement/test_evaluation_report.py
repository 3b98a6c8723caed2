"""Predicted against gold from the ledger: whose labels count, and which items."""

from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from apps.accounts.roles import Role
from apps.agreement.evaluation import (
    compare_with_gold,
    evaluation_report,
    find_source,
    items_by_outcome,
    items_in_cell,
    run_words,
    source_choices,
)
from apps.labels.services import record_label
from apps.projects.models import Project
from apps.reviews.queue.answers import Answer
from apps.reviews.queue.submission import submit_label
from labelhub.core.errors import InvalidInput, NotFound
from tests.factories.agreement import compared_project, decide, propose, run_of
from tests.factories.labels import draft, machine, open_item, person, queued_items
from tests.factories.projects import ASPECTS, ProjectFactory, member
from tests.factories.reviews import new_project, reviewer, suggest

pytestmark = pytest.mark.django_db


@pytest.fixture
def aspects() -> Project:
    """A multi project of the labels Food and Service."""
    return ProjectFactory.create(definition=ASPECTS)


@pytest.fixture
def moods() -> Project:
    """A single project of good or bad."""
    return ProjectFactory.create()


def test_a_run_is_measured_by_hand_counted_numbers(aspects: Project) -> None:
    compared_project(
        aspects,
        [
            (["Food"], ["Food"]),
            (["Food", "Service"], ["Food"]),
            ([], ["Food"]),
            ([], []),
        ],
    )

    report = evaluation_report(aspects)

    food, service = report.evaluation.labels
    assert food.counts.to_json() == {
        "predicted_yes_gold_yes": 2,
        "predicted_yes_gold_no": 0,
        "predicted_no_gold_yes": 1,
        "predicted_no_gold_no": 1,
    }
    assert food.precision["value"] == 1.0
    assert food.recall["value"] == pytest.approx(2 / 3)
    assert food.f1["value"] == pytest.approx(4 / 5)
    assert food.accuracy["value"] == pytest.approx(3 / 4)
    assert service.precision["value"] == 0.0
    assert service.recall["value"] is None
    overall = report.evaluation.overall
    assert overall["exact_match"]["value"] == pytest.approx(2 / 4)
    assert overall["micro_precision"]["value"] == pytest.approx(2 / 3)
    assert overall["micro_recall"]["value"] == pytest.approx(2 / 3)
    assert overall["macro_f1"]["value"] == pytest.approx((4 / 5 + 0) / 2)
    assert overall["accuracy"]["value"] == pytest.approx(6 / 8)


def test_replicates_of_a_run_are_measured_apart(moods: Project) -> None:
    item = open_item(moods)
    decide(item, "good")
    run = run_of(moods, replicates=2)
    propose(run, item, "good")
    propose(run, item, "bad", replicate=2)

    values = [
        evaluation_report(moods, run_id=run.pk, replicate=number).evaluation.overall["accuracy"]
        for number in (1, 2)
    ]

    assert [value["value"] for value in values] == [1.0, 0.0]
    with pytest.raises(NotFound, match="replicate"):
        evaluation_report(moods, run_id=run.pk, replicate=3)


def test_gold_that_a_person_decided_is_told_apart_when_they_are_measured(moods: Project) -> None:
    somebody = person(moods)
    record_label(draft(open_item(moods), somebody, "good"))
    decide(open_item(moods), "bad")

    compared = evaluation_report(moods, annotator_id=somebody.pk).compared

    assert (compared.own_gold, compared.gold_total) == (1, 2)
    assert compared.gold_by_basis == {"review": 1, "imported": 1}


def test_every_cell_knows_its_items(aspects: Project) -> None:
    _, items = compared_project(
        aspects, [(["Food"], ["Food"]), (["Food"], []), ([], ["Food"]), ([], [])]
    )
    compared = compare_with_gold(aspects, find_source(aspects, run_id=None, annotator_id=None))

    found = [
        items_in_cell(compared, label="food", cell=cell)
        for cell in ("yes-yes", "yes-no", "no-yes", "no-no")
    ]

    assert found == [[item.pk] for item in items]
    with pytest.raises(InvalidInput, match="cell"):
        items_in_cell(compared, label="Food", cell="perhaps-no")
    with pytest.raises(InvalidInput, match="label"):
        items_in_cell(compared, label="Gone", cell="yes-no")
    with pytest.raises(InvalidInput, match="outcome"):
        items_by_outcome(compared, "so-so")


def test_a_report_takes_as_many_queries_as_one_item_needs(
    aspects: Project, django_assert_num_queries: Any
) -> None:
    compared_project(aspects, [(["Food"], ["Food"])] * 5)

    # the newest run, its first label, gold, the labels, the schema, the debates that ended
    with django_assert_num_queries(6):
        evaluation_report(aspects)


def test_what_somebody_rejected_without_a_label_is_named(
    client: Client,
) -> None:
    project = new_project()
    people = reviewer(project)
    first, second, third = queued_items(project, 3)
    for item in (first, second, third):
        suggest(item, "good")
    decide(first, "good")
    for item in (second, third):
        submit_label(project=project, user=people, item_id=item.pk, answer=Answer(reject=True))
    submit_label(project=project, user=people, item_id=third.pk, answer=Answer(value="bad"))

    words = "1 suggestion was rejected without a label; it is not in this figure."
    report = evaluation_report(project)
    assert (report.evaluation.n, report.compared.rejected) == (2, 1)
    assert report.to_json()["rejected"] == 1
    out = StringIO()
    call_command("evaluate", project.slug, stdout=out)
    assert words in out.getvalue()
    client.force_login(member(project, Role.MANAGER))
    address = reverse("evaluation", args=[project.slug])
    assert words in client.get(address).content.decode()


def test_labels_that_went_into_another_project_are_not_this_runs(moods: Project) -> None:
    run = run_of(moods)
    elsewhere = ProjectFactory.create()
    copied = draft(open_item(elsewhere), machine(elsewhere, "copy"), "good", run_uid=run.uid)
    record_label(copied)
    source = find_source(moods, run_id=run.pk, annotator_id=None)
    assert source is not None
    assert source.name != "copy"
    assert not source.labels().exists()
    assert "Runs" not in source_choices(moods)


def test_a_run_has_its_date_as_the_language_writes_it(moods: Project) -> None:
    run = run_of(moods)
    run.created_at = datetime(2026, 11, 28, 12, tzinfo=UTC)

    with override("de"):
        assert run_words(run).endswith("28. Nov. 2026")
