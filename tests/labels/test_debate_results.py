"""What debates conclude: labels by machines, and who comes first in the queue."""

import pytest

from apps.labels.models import ItemState, Label
from apps.labels.services import DebateResult, record_debate_results
from tests.factories.labels import draft, machine, open_item, queued_items
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db


def test_a_confident_label_is_a_suggestion_and_waits_behind_the_doubtful() -> None:
    project = ProjectFactory.create()
    sure, unsure, silent, untouched = queued_items(project, 4)
    llm = machine(project)
    record_debate_results(
        project,
        [
            DebateResult(item_id=sure.pk, draft=draft(sure, llm, "good", action="proposed")),
            DebateResult(
                item_id=unsure.pk,
                draft=draft(unsure, llm, "bad", action="proposed"),
                reasons=["critic_differs"],
                uncertainty=0.5,
                signals={"flips": 1},
            ),
            DebateResult(item_id=silent.pk, draft=None, reasons=["unparsed"], uncertainty=1.0),
        ],
    )
    order = list(
        ItemState.objects.filter(project=project)
        .awaiting_review()
        .values_list("item_id", flat=True)
    )
    assert order == [silent.pk, unsure.pk, untouched.pk, sure.pk]
    state = ItemState.objects.get(item=unsure)
    assert state.suggestion is not None
    assert (state.stage, state.suggestion.value, state.signals) == (
        "suggested",
        "bad",
        {"flips": 1, "uncertainty": 0.5},
    )
    assert ItemState.objects.get(item=silent).suggestion is None


def test_a_later_run_of_the_same_annotator_supersedes_its_earlier_label() -> None:
    project = ProjectFactory.create()
    item, llm = open_item(project), machine(project)
    for value in ("good", "bad"):
        record_debate_results(
            project,
            [DebateResult(item_id=item.pk, draft=draft(item, llm, value, action="proposed"))],
        )
    current = Label.objects.current().get()
    assert (current.value, Label.objects.count()) == ("bad", 2)
    assert ItemState.objects.get(item=item).suggestion == current


def test_where_only_doubt_is_reviewed_the_confident_item_does_not_wait() -> None:
    project = ProjectFactory.create(review_scope="doubtful")
    item = open_item(project)
    record_debate_results(
        project, [DebateResult(item_id=item.pk, draft=draft(item, machine(project), "good"))]
    )
    assert not ItemState.objects.get(item=item).queued


def test_a_batch_takes_a_fixed_number_of_queries(django_assert_max_num_queries: object) -> None:
    project = ProjectFactory.create()
    items, llm = queued_items(project, 30), machine(project)
    results = [DebateResult(item_id=item.pk, draft=draft(item, llm, "good")) for item in items]
    with django_assert_max_num_queries(14):  # type: ignore[operator]
        record_debate_results(project, results)
