"""What cannot be told leaves by files and webhooks, and comes back, as what it is."""

import json
from typing import Any

import pytest

from apps.exchange.models import Delivery
from apps.exchange.webhooks import event_feed, services
from apps.exchange.webhooks.payloads import body_of
from apps.labels.models import Gold, ItemState
from apps.projects.models import Item, Project
from apps.reviews.adjudication.services import undo_adjudication
from labelhub.core.schema.operations import Rename
from tests.exchange.helpers import copied, exported, ledger
from tests.factories.exchange import derived, webhook_of
from tests.factories.reviews import expert, new_project
from tests.factories.schema_changes import changed
from tests.reviews.test_adjudication import disputed, in_conflict, rule
from tests.reviews.test_unclear import SETTLED, cannot_tell, stands

pytestmark = pytest.mark.django_db
ONLY = ["adjudication.decided"]


@pytest.fixture
def project() -> Project:
    return new_project(overlap=2)


def data_of(delivery: Delivery) -> dict[str, Any]:
    data = json.loads(body_of(delivery.webhook, delivery))["data"]
    assert isinstance(data, dict)
    return data


class TestFiles:
    @pytest.mark.parametrize(("made", "golds"), [(in_conflict, 0), (disputed, 2)])
    def test_everything_comes_back_as_it_was(self, project: Project, made: Any, golds: int) -> None:
        cannot_tell(made(project), expert(project), rationale="Two readings.")
        other = new_project(overlap=2)

        copied(project, other, "jsonl")

        assert stands(Item.objects.get(project=other)) == SETTLED
        assert ledger(other)[0]["labels"][-1]["abstained"] is True
        assert Gold.objects.filter(item__project=other).count() == golds

    def test_gold_alone_has_no_row_of_it(self, project: Project) -> None:
        cannot_tell(in_conflict(project), expert(project))
        rule(in_conflict(project), expert(project), "bad")

        assert len(exported(project, "jsonl", only="gold").splitlines()) == 1


class TestWebhooks:
    def test_it_is_an_adjudication_without_gold(self, project: Project) -> None:
        webhook, all_of_it = webhook_of(project, events=ONLY), webhook_of(project)
        item, judge = in_conflict(project), expert(project)
        label = cannot_tell(item, judge).label

        (delivery,) = derived(webhook)

        body = data_of(delivery)
        assert body["gold"] is None
        assert body["decided_by"] == {"kind": "expert", "name": judge.username}
        assert (body["label"]["uid"], body["label"]["abstained"]) == (str(label.uid), True)
        assert body["item"]["id"] == item.external_id
        events = [delivery.event for delivery in derived(all_of_it)]
        assert sorted(events) == ["adjudication.decided", *["label.created"] * 3]

    def test_a_decision_about_it_afterwards_is_another_one(self, project: Project) -> None:
        webhook = webhook_of(project, events=ONLY)
        item, judge = in_conflict(project), expert(project)
        cannot_tell(item, judge)
        rule(item, judge, "bad")

        found = derived(webhook)

        assert len({delivery.uid for delivery in found}) == 2
        golds = [data_of(delivery)["gold"] for delivery in found]
        assert {gold and gold["value"] for gold in golds} == {None, "bad"}

    def test_a_label_and_gold_of_one_number_are_two_events(self, project: Project) -> None:
        webhook = webhook_of(project, events=ONLY)
        label = cannot_tell(in_conflict(project), expert(project)).label
        gold = rule(in_conflict(project), expert(project), "bad").gold
        assert gold is not None
        Gold.objects.bulk_create(
            [Gold(pk=label.pk, item=in_conflict(project), schema=gold.schema, value="bad",
                  basis=Gold.Basis.ADJUDICATION)]
        )  # fmt: skip

        assert len({delivery.uid for delivery in derived(webhook)}) == 3

    def test_it_is_told_once_however_often_it_is_carried_over_or_replayed(
        self, project: Project
    ) -> None:
        webhook = webhook_of(project, events=ONLY)
        cannot_tell(in_conflict(project), expert(project))
        (first,) = derived(webhook)
        changed(project, Rename("bad", "poor"))
        assert derived(webhook) == [first]
        Delivery.objects.update(status="delivered")

        since = services.replay_since(webhook=webhook, since=first.event_at)
        while event_feed.continue_replay(since):
            since.refresh_from_db()

        (again,) = webhook.deliveries.all()
        assert (again.uid, again.replays) == (first.uid, 1)

    def test_what_an_expert_takes_back_is_the_withdrawal_of_a_label(self, project: Project) -> None:
        item, judge = in_conflict(project), expert(project)
        webhook = webhook_of(project)
        cannot_tell(item, judge)
        undo_adjudication(project=project, user=judge)

        assert [delivery.event for delivery in derived(webhook)][-1] == "label.created"
        assert ItemState.objects.get(item=item).stage == ItemState.Stage.CONFLICT
