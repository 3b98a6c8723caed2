"""From stored decisions and events to figures: hand-counted logs."""

import json
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.renderers import JSONRenderer

from apps.authors.models import Author
from apps.authors.services.trust import set_ruling
from apps.echo.models import Echo, Experiment
from apps.echo.reporting.click_through import experiment_mark, make_report
from apps.echo.reporting.funnel import offer_funnel
from apps.echo.services.experiments import arm_of, create_experiment
from labelhub.core.echo.experiments.assignment import Arm
from tests.factories.authors import author_of
from tests.factories.echo import echo_of
from tests.factories.offers import decision_of, event_of, placed

pytestmark = pytest.mark.django_db

#: A Monday.
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def experiment(echo: Echo) -> Experiment:
    return experiment_of(echo)


def experiment_of(echo: Echo, policy: str = "keyword", **fields: Any) -> Experiment:
    arms = [Arm("new", 0.5, "echo"), Arm("old", 0.5, policy)]
    made = create_experiment(echo, name="Spring", arms=arms, control="old", **fields)
    Experiment.objects.filter(pk=made.pk).update(started_at=START)
    made.refresh_from_db()
    return made


def only(report: dict[str, Any]) -> dict[str, Any]:
    (arm,) = report["arms"]
    return dict(arm)


def arm_named(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(arm for arm in report["arms"] if arm["name"] == name)


def test_every_click_counts_and_a_reload_is_no_new_impression(echo: Echo, author: Author) -> None:
    made = decision_of(echo, author, START, events=["shown", "shown", "clicked", "clicked"])
    event_of(made, "clicked", START + DAY)
    decision_of(echo, author, START + timedelta(hours=1))
    figures = only(make_report(echo))["figures"]
    assert (figures["impressions"], figures["clicks"], figures["clicked"]) == (2, 3, 1)
    assert figures["click_through"]["value"] == 1.5
    assert figures["clicked_share"]["value"] == 0.5


def test_whom_the_site_does_not_believe_is_left_out_and_counted(echo: Echo, author: Author) -> None:
    decision_of(echo, author, START, events=["clicked"] * 50)
    decision_of(echo, author_of(echo.site), START)
    set_ruling(author, trusted=False, reason="clicks everything")
    report = make_report(echo)
    assert (only(report)["figures"]["clicks"], report["doubted"]) == (0, 1)
    set_ruling(author, trusted=True, reason="was a test")
    assert only(make_report(echo))["figures"]["clicks"] == 50


def test_parts_are_told_by_day_weekday_and_vertical(echo: Echo, author: Author) -> None:
    decision_of(echo, author, START, events=["clicked"])
    decision_of(echo, author, START + timedelta(hours=30), vertical="light")
    arm = only(make_report(echo))
    assert [(day, part["clicks"]) for day, part in arm["days"].items()] == [
        ("2026-03-02", 1),
        ("2026-03-03", 0),
    ]
    assert {day: part["impressions"] for day, part in arm["weekdays"].items()} == {0: 1, 1: 1}
    assert {name: part["clicks"] for name, part in arm["verticals"].items()} == {
        "sleeping": 1,
        "light": 0,
    }


class TestArms:
    def test_who_saw_nothing_is_in_the_arm_all_the_same(
        self, echo: Echo, experiment: Experiment
    ) -> None:
        for number in range(4):
            author = author_of(echo.site)
            fields = placed(experiment, author, "new")
            decision_of(echo, author, START, shown=number == 0, events=["clicked"][:1], **fields)
        arm = arm_named(make_report(echo, experiment), "new")
        assert (arm["figures"]["units"], arm["figures"]["impressions"]) == (4, 1)

    def test_an_arm_is_compared_with_the_control_by_what_was_assigned(
        self, echo: Echo, experiment: Experiment
    ) -> None:
        """New: 4 clicks on 8 messages, half of them shown; old: 1 click on 8, all shown."""
        for number in range(8):
            new, old = author_of(echo.site), author_of(echo.site)
            fields = placed(experiment, new, "new") | {"shown": number < 4}
            decision_of(echo, new, START, events=["clicked"] * (number < 4), **fields)
            events = ["clicked"] * (number == 0)
            decision_of(echo, old, START, events=events, **placed(experiment, old, "old"))
        (compared,) = make_report(echo, experiment)["comparisons"]
        assert compared["assigned"]["ratio"]["value"] == pytest.approx(4)
        assert compared["assigned"]["difference"]["value"] == pytest.approx(3 / 8)
        assert compared["shown"]["ratio"]["value"] == pytest.approx(8)

    def test_who_was_assigned_counts_also_when_the_site_does_not_believe_them(
        self, echo: Echo, experiment: Experiment, author: Author
    ) -> None:
        decision_of(echo, author, START, events=["clicked"], **placed(experiment, author, "new"))
        before = make_report(echo, experiment)
        set_ruling(author, trusted=False, reason="clicks everything")
        after = make_report(echo, experiment)
        assert (after["arms"], after["comparisons"]) == (before["arms"], before["comparisons"])
        assert (before["doubted"], after["doubted"]) == (0, 1)

    def test_what_was_not_decided_in_time_counts_in_its_authors_arm(
        self, echo: Echo, experiment: Experiment, author: Author
    ) -> None:
        late: dict[str, Any] = {"policy": "", "why": "", "status": "expired", "shown": False}
        decision_of(echo, author, START + DAY, **late)
        decision_of(echo, author, START - DAY, **late)
        own = arm_of(experiment, author.uid.hex).name
        report = make_report(echo, experiment)
        assert arm_named(report, own)["figures"]["eligible"] == 1
        assert report["undecided"] == 1

    def test_of_arms_that_took_turns_by_time_the_decisions_count(
        self, echo: Echo, experiment: Experiment, author: Author
    ) -> None:
        """As older versions could; their report stays."""
        Experiment.objects.update(design=experiment.design | {"windows": [["", ""]]})
        experiment.refresh_from_db()
        placed_at: dict[str, Any] = {"experiment": experiment, "arm": "new", "unit": "0"}
        decision_of(echo, author, START, events=["clicked"], **placed_at)
        report = make_report(echo, experiment)
        assert report["assigned_by"] == "window"
        assert arm_named(report, "new")["figures"]["clicks"] == 1


def test_the_migration_ends_running_experiments_by_time_alone(
    echo: Echo, experiment: Experiment
) -> None:
    by_time = experiment_of(echo_of())
    Experiment.objects.filter(pk=by_time.pk).update(design=by_time.design | {"windows": [["", ""]]})
    import_module("apps.echo.migrations.0008_experiments_by_author").end_turns(apps, None)
    ended = set(Experiment.objects.filter(ended_at__isnull=False))
    assert (ended, {by_time, experiment} - ended) == ({by_time}, {experiment})


class TestLooks:
    def fill(self, echo: Echo, experiment: Experiment, days: int = 3) -> None:
        """Each day twenty new authors in each arm; of the new arm all click, of the old one two."""
        for day in range(days):
            for number in range(20):
                for arm, clicking in (("new", 20), ("old", 2)):
                    author = author_of(echo.site, consent=False)
                    events = ["clicked"] * (number < clicking)
                    fields = placed(experiment, author, arm)
                    decision_of(echo, author, START + day * DAY, events=events, **fields)

    def test_there_is_one_for_each_day_and_a_proven_difference_stays_proven(
        self, echo: Echo, experiment: Experiment
    ) -> None:
        self.fill(echo, experiment)
        (compared,) = make_report(echo, experiment)["comparisons"]
        assert [look["day"] for look in compared["looks"]] == [
            (START + day * DAY).date() for day in range(3)
        ]
        assert [look["look"]["ratio"]["value"] for look in compared["looks"]] == pytest.approx(
            [10] * 3
        )
        chances = [look["look"]["p"] for look in compared["looks"]]
        assert chances == sorted(chances, reverse=True)
        assert compared["looks"][-1]["look"]["may_stop"]

    def test_the_same_log_gives_the_same_looks_and_later_clicks_change_no_past_one(
        self, echo: Echo, experiment: Experiment
    ) -> None:
        self.fill(echo, experiment, days=2)
        before = make_report(echo, experiment)["comparisons"][0]["looks"]
        assert make_report(echo, experiment)["comparisons"][0]["looks"] == before
        event_of(experiment.decisions.filter(arm="old")[0], "clicked", START + 5 * DAY)
        after = make_report(echo, experiment)["comparisons"][0]["looks"]
        assert after[:2] == before
        assert len(after) == 3


class TestFunnel:
    def test_every_message_is_in_one_place(self, echo: Echo, author: Author) -> None:
        undecided: dict[str, Any] = {"policy": "", "why": "", "shown": False}
        decision_of(echo, author, START, status="pending", **undecided)
        decision_of(echo, author, START, status="expired", **undecided)
        decision_of(echo, author, START, shown=False)
        decision_of(echo, author, START, shown=False, why="too_soon")
        decision_of(echo, author, START, shown=False, why="too_soon")
        offered: dict[str, Any] = {"shown": False, "item_ref": "tent", "why": "good_match"}
        decision_of(echo, author, START, status="waiting", **offered)
        decision_of(echo, author, START, status="expired", **offered)
        decision_of(echo, author, START, status="sent", sent_at=START, **offered)
        events = ["clicked", "clicked", "helpful"]
        decision_of(echo, author, START, events=events, cost_nanousd=7)
        events = ["dismissed", "not_helpful", "named"]
        decision_of(echo, author, START, events=events, cost_nanousd=5)
        assert offer_funnel(echo) == {
            "eligible": 10,
            "pending": 1,
            "undecided": 1,
            "nothing": {"too_soon": 2, "no_match": 1},
            "offered": 5,
            "late": 1,
            "waiting": 1,
            "sent": 3,
            "shown": 2,
            "clicked": 1,
            "clicks": 2,
            "helpful": 1,
            "not_helpful": 1,
            "closed": 1,
            "named": 1,
            "cost_nanousd": 12,
        }


def test_the_mark_of_an_experiment_changes_with_what_its_report_counts(
    echo: Echo, experiment: Experiment, author: Author
) -> None:
    marks = [experiment_mark(experiment)]
    made = decision_of(echo, author, START, **placed(experiment, author, "new"))
    marks.append(experiment_mark(experiment))
    event_of(made, "clicked", START)
    marks.append(experiment_mark(experiment))
    set_ruling(author, trusted=False, reason="clicks everything")
    marks.append(experiment_mark(experiment))
    assert len(set(marks)) == 4
    decision_of(echo, author, START - DAY)
    event_of(made, "helpful", START)
    assert experiment_mark(experiment) == marks[-1]


class TestOneReport:
    def test_it_is_json(self, echo: Echo, experiment: Experiment, author: Author) -> None:
        decision_of(echo, author, START, events=["clicked"], **placed(experiment, author, "new"))
        report = json.loads(JSONRenderer().render(make_report(echo, experiment)))
        assert list(report["arms"][0]["days"]) == ["2026-03-02"]
        assert report["comparisons"][0]["looks"][0]["look"]["may_stop"] is False

    def test_the_number_of_queries_does_not_grow(self, echo: Echo, experiment: Experiment) -> None:
        counts = []
        for _ in range(2):
            for number in range(5):
                author = author_of(echo.site, consent=False)
                fields = placed(experiment, author, "new")
                decision_of(echo, author, START + number * DAY, events=["clicked"], **fields)
            with CaptureQueriesContext(
                connection,
            ) as queries:
                make_report(echo, experiment)
                make_report(echo)
                offer_funnel(echo)
            counts.append(len(queries))
        assert counts[0] == counts[1] <= 9
