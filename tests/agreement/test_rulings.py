"""A ruling settles an item and is no vote: what people said on their own counts in agreement."""

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.accounts.models import User
from apps.agreement.evaluation import find_source
from apps.agreement.report.label_matrix import read_label_matrix
from apps.agreement.report.repeats import self_agreement
from apps.agreement.report.slices import Slice
from apps.exchange.exporters.base import Source, independent_labels, quotes_of
from apps.exchange.exporters.ledger import ledger_chunks
from apps.labels.models import Annotator, Label
from apps.labels.services import annotator_for_user, record_label, withdraw_label
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from apps.reviews.adjudication.services import Ruling, adjudicate
from apps.reviews.quality.comparison import read_shared_labels
from apps.reviews.queue.undo import return_to_queue, undo_last
from labelhub.core.schema.operations import Rename
from tests.agreement.test_label_matrix import told
from tests.cases import present
from tests.factories.labels import draft, queued_items
from tests.factories.reviews import answer, claim, expert, new_project, reviewer
from tests.factories.schema_changes import changed

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return new_project(overlap=2)


@pytest.fixture
def judge(project: Project) -> User:
    return expert(project)


@pytest.fixture
def item(project: Project, judge: User) -> Item:
    """The judge said good, and another reviewer bad."""
    (made,) = queued_items(project, 1)
    answer(claim(project, judge), judge, "good")
    other = reviewer(project)
    answer(claim(project, other), other, "bad")
    return made


def rule(item: Item, judge: User, value: str | None = "bad") -> None:
    ruling = Ruling(value=value, abstain=value is None)
    adjudicate(project=item.project, user=judge, item_id=item.pk, ruling=ruling)


def votes(project: Project, user: User) -> list[str | None]:
    """What counts of ``user`` in agreement."""
    name = Annotator.objects.get(project=project, user=user).name
    return told(read_label_matrix(project)).get(name, [])


@pytest.mark.parametrize("value", ["bad", "good", None])
def test_the_vote_before_a_ruling_counts_and_the_ruling_does_not(
    item: Item, judge: User, value: str | None
) -> None:
    rule(item, judge, value)

    assert votes(item.project, judge) == ["good"]


def test_a_ruling_that_was_given_twice_hides_no_vote(item: Item, judge: User) -> None:
    rule(item, judge)
    rule(item, judge, "good")

    assert votes(item.project, judge) == ["good"]


def test_a_ruling_by_somebody_who_had_not_voted_counts_for_nothing(item: Item) -> None:
    other = expert(item.project)

    rule(item, other)

    assert votes(item.project, other) == [None]


def test_an_undone_ruling_leaves_one_vote(item: Item, judge: User) -> None:
    rule(item, judge)
    undo_last(project=item.project, user=judge)
    assert votes(item.project, judge) == ["good"]

    rule(item, judge)

    assert votes(item.project, judge) == ["good"]
    assert len(read_label_matrix(item.project).ratings) == 2


def test_what_went_back_to_the_queue_counts_no_more(item: Item, judge: User) -> None:
    rule(item, judge)

    return_to_queue(project=item.project, item_ids=[item.pk], by=judge, reason="Again, please.")

    assert len(read_label_matrix(item.project).ratings) == 0


def test_swapped_names_of_labels_are_those_of_earlier_votes_too(item: Item, judge: User) -> None:
    rule(item, judge)

    changed(item.project, Rename("good", "bad"), Rename("bad", "good"))

    assert votes(item.project, judge) == ["bad"]


def test_a_ruling_is_no_second_answer_of_its_giver(item: Item, judge: User) -> None:
    rule(item, judge)
    sheet, schema = read_label_matrix(item.project), current_schema(item.project)
    assert self_agreement(item.project, sheet, Slice(), schema=schema) == {}


def test_people_are_compared_by_their_votes(item: Item, judge: User) -> None:
    rule(item, judge)

    (pair,) = read_shared_labels(item.project).pairs_of(judge.pk)

    assert pair.percent["value"] == 0


def test_an_annotator_is_evaluated_by_their_votes(item: Item, judge: User) -> None:
    rule(item, judge)
    annotator = Annotator.objects.get(project=item.project, user=judge)

    source = find_source(item.project, run_id=None, annotator_id=annotator.pk)

    assert [label.value for label in present(source).labels()] == ["good"]


def test_items_of_an_evaluation_show_a_vote_before_a_ruling_under_todays_names(
    item: Item, judge: User, client: Client
) -> None:
    rule(item, judge)
    changed(item.project, Rename("good", "fine"))
    annotator = Annotator.objects.get(project=item.project, user=judge)
    client.force_login(judge)

    address = reverse("evaluation_items", args=[item.project.slug])
    answer = client.get(f"{address}?annotator={annotator.pk}&predicted=fine&gold=bad")

    assert [row["label"].value for row in answer.context["rows"]] == ["fine"]


def test_equal_votes_on_a_divided_item_are_one_whatever_came_after_them(client: Client) -> None:
    names = {"task": "single", "labels": [{"name": "süß"}, {"name": "sauer"}]}
    project = new_project(overlap=4, definition=names)
    judge = expert(project)
    (item,) = queued_items(project, 1)
    for user, value in zip(
        (judge, *(reviewer(project) for _ in range(3))),
        ("süß", "süß", "sauer", "sauer"),
        strict=True,
    ):
        answer(claim(project, user), user, value)
    rule(item, judge, "sauer")
    changed(project, Rename("süß", "süßer"))
    client.force_login(judge)

    page = client.get(reverse("agreement", args=[project.slug]), {"part": "report"})

    (row,) = page.context["divided"]
    assert sorted(row["labels"]) == [("sauer", 2), ("süßer", 2)]


def test_what_a_vote_before_a_ruling_quotes_is_exported_under_todays_names(
    project: Project, judge: User
) -> None:
    (made,), annotator = queued_items(project, 1), annotator_for_user(project, judge)
    marked = {"spans": [{"label": "good", "start": 0, "end": 2}]}
    vote = record_label(
        draft(made, annotator, "good", evidence={"good": ["no place"]}, provenance=marked)
    )
    record_label(draft(made, annotator, "bad", role="adjudication", supersedes_id=vote.pk))

    changed(project, Rename("good", "fine"))

    (rows,) = ledger_chunks(project, Item.objects.filter(pk=made.pk))
    (label,) = independent_labels(rows[0], Source(project, Item.objects.all()))
    assert [quote.label for quote in quotes_of(label, made.text)] == ["fine", "fine"]


@given(st.lists(st.sampled_from(["good", "bad", None, "ruled good", "unclear", "withdrawn"])))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_last_vote_before_any_rulings_counts_once(
    project: Project, acts: list[str | None]
) -> None:
    """The same rows count in reports and in exported tables."""
    (made,), annotator = queued_items(project, 1), annotator_for_user(project, expert(project))
    standing: Label | None = None
    vote: list[str | None] = []
    for act in acts:
        if act == "withdrawn":
            if standing is not None:
                withdraw_label(label=standing)
            standing, vote = None, []
            continue
        role = {"ruled good": "adjudication", "unclear": "unclear"}.get(act or "", "vote")
        value = {"ruled good": "good", "unclear": None}.get(act or "", act)
        standing = record_label(
            draft(
                made,
                annotator,
                value,
                role=role,
                abstained=value is None,
                supersedes_id=standing and standing.pk,
            )
        )
        vote = [value] if role == "vote" else vote

    counted = Label.objects.independent().filter(item=made)
    (rows,) = ledger_chunks(project, Item.objects.filter(pk=made.pk))
    exported = independent_labels(rows[0], Source(project, Item.objects.all()))
    assert [label.value for label in counted] == vote
    assert [label["value"] for label in exported] == vote
