"""In which order items wait, and what a machine that is sure brings before an expert."""

from importlib import import_module

import pytest
from django.apps import apps as django_apps
from django.db import connection

from apps.labels.models import ItemState
from apps.labels.services import NewGold, import_gold, replan
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from apps.reviews.queue.plan import change_review_plan
from tests.factories.labels import queued_items
from tests.factories.reviews import answer, claim, expert, new_project, reviewer, suggest

pytestmark = pytest.mark.django_db


def order(project: Project) -> list[int]:
    waiting = ItemState.objects.awaiting_review().filter(project=project)
    return list(waiting.values_list("item", flat=True))


def test_the_doubtful_come_first() -> None:
    project = new_project()
    sure, new, doubtful = queued_items(project, 3)
    suggest(sure, "good")
    suggest(doubtful, "good", reasons=["dissent"])

    assert order(project) == [doubtful.pk, new.pk, sure.pk]


def test_the_oldest_first_whatever_the_doubt() -> None:
    project = new_project(queue_order="oldest")
    items = queued_items(project, 3)
    suggest(items[2], "good", reasons=["dissent"])

    assert order(project) == [item.pk for item in items]


def test_a_random_order_is_the_same_whenever_it_is_asked() -> None:
    project = new_project(queue_order="random")
    items = queued_items(project, 30)
    first = order(project)
    assert first != sorted(first)

    replan(project)
    suggest(items[4], "good", reasons=["dissent"])

    assert order(project) == first


def test_another_order_moves_what_waits() -> None:
    project = new_project(queue_order="random")
    queued_items(project, 30)

    change_review_plan(project=project, queue_order="oldest")

    assert order(project) == sorted(order(project))


def test_what_the_trained_model_is_unsure_of_comes_before_its_like() -> None:
    project = new_project()
    items = queued_items(project, 2)
    ItemState.objects.filter(item=items[1]).update(model_uncertainty=0.9)

    replan(project)

    assert order(project) == [items[1].pk, items[0].pk]


@pytest.mark.parametrize("by", ["uncertainty", "random", "oldest"])
def test_items_with_gold_come_after_all_others(by: str) -> None:
    project = new_project(queue_order=by)
    items = queued_items(project, 12)
    decided = items[::2]
    for item in decided:
        suggest(item, "good", reasons=["dissent"])

    schema = current_schema(project)
    import_gold(
        project, [NewGold(item_id=item.pk, schema=schema, value="good") for item in decided]
    )

    last = {item.pk for item in decided}
    assert set(order(project)[6:]) == last
    ItemState.objects.filter(item=items[0]).update(promoted=True)
    replan(project)
    assert order(project)[0] == items[0].pk  # unless a manager puts them first


def test_items_that_waited_with_gold_before_move_last() -> None:
    project = new_project()
    decided, waiting = queued_items(project, 2)
    schema = current_schema(project)
    import_gold(project, [NewGold(item_id=decided.pk, schema=schema, value="good")])
    now = ItemState.objects.get(item=decided).priority
    ItemState.objects.filter(item=decided).update(priority=now + 195)  # as it was before
    ItemState.objects.filter(item=waiting).update(priority=10)
    assert order(project) == [decided.pk, waiting.pk]

    migration = import_module("apps.labels.migrations.0005_items_with_gold_last")
    migration.put_last(django_apps, connection.schema_editor())

    assert order(project) == [waiting.pk, decided.pk]
    assert ItemState.objects.get(item=decided).priority == now


class TestDisputes:
    @pytest.fixture
    def project(self) -> Project:
        return new_project(dispute_above=0.9)

    def disputed(self, project: Project, item: Item, uncertainty: float = 0.05) -> ItemState:
        """The item after a reviewer decided against what a debate is that unsure of."""
        suggest(item, "good")
        ItemState.objects.filter(item=item).update(signals={"uncertainty": uncertainty})
        person = reviewer(project)
        answer(claim(project, person), person, "bad")
        return ItemState.objects.select_related("gold").get(item=item)

    def test_it_goes_to_an_expert_and_the_decision_stands_meanwhile(self, project: Project) -> None:
        (item,) = queued_items(project, 1)

        state = self.disputed(project, item)

        assert (state.disputed, state.queued, state.audience) == (True, True, "expert")
        assert (state.stage, state.gold and state.gold.value) == ("decided", "bad")

    @pytest.mark.parametrize("value", ["good", "bad"])
    def test_the_expert_has_the_last_word(self, project: Project, value: str) -> None:
        (item,) = queued_items(project, 1)
        self.disputed(project, item)
        settles = expert(project)

        answer(claim(project, settles), settles, value)

        state = ItemState.objects.select_related("gold").get(item=item)
        assert state.gold is not None
        assert (state.gold.value, state.gold.basis) == (value, "adjudication")
        assert (state.disputed, state.queued, state.is_gold_question) == (False, False, True)

    def test_a_machine_that_is_less_sure_disputes_nothing(self, project: Project) -> None:
        (item,) = queued_items(project, 1)

        assert not self.disputed(project, item, uncertainty=0.3).disputed

    def test_nor_does_any_where_it_is_not_wanted(self) -> None:
        project = new_project()
        (item,) = queued_items(project, 1)

        assert not self.disputed(project, item).disputed
