"""The comparison of an experiment's arms, from debates as the database has them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from apps.agreement.experiments.page import (
    main_finding,
    pair_rows,
)
from apps.agreement.experiments.report import (
    ArmReport,
    ExperimentReport,
    make_report,
    readings_of,
    report_of,
)
from apps.debates.models import Debate, Experiment, Run, RunRole, Turn
from apps.debates.selectors.experiments import arms_of, verified_items
from apps.labels.models import Gold
from apps.llm.models import ModelSpec
from apps.llm.services import ensure_builtin
from apps.projects.changes import comparable_versions
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from labelhub.core.debate import protocol
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import LabelDef
from labelhub.core.schema.operations import Add, Merge, Operation, Rename, Retire, Split
from tests.factories.agreement import decide
from tests.factories.labels import queued_items
from tests.factories.llm import PromptVersionFactory
from tests.factories.projects import ASPECTS, ProjectFactory
from tests.factories.schema_changes import begun, changed, taken_back

pytestmark = pytest.mark.django_db

STARS = {"task": "ordinal", "labels": [{"name": f"{n} of 3", "point": n} for n in (1, 2, 3)]}
UNPARSED, FAILED = "unparsed", "failed"


@dataclass
class Trial:
    """An experiment in the making: verified items, and arms that said what a test wants."""

    project: Project
    experiment: Experiment
    items: Sequence[Item]
    runs: list[Run] = field(default_factory=list)

    def arm(
        self,
        name: str,
        values: Sequence[Any],
        signals: Sequence[dict[str, Any]] = (),
        *,
        settings: dict[str, Any] | None = None,
        model: ModelSpec | None = None,
        replicates: int = 1,
        calls: int = 1,
        cost: int | None = 1000,
    ) -> Run:
        """A run that is over; ``values``: item by item, pass by pass."""
        info = protocol(name)
        complete = info.read_settings(settings or {})
        run = Run.objects.create(
            project=self.project,
            experiment=self.experiment,
            protocol=name,
            protocol_settings=complete,
            schema=current_schema(self.project),
            status=Run.Status.DONE,
            trial=True,
            replicates=replicates,
        )
        spec, prompt = model or ensure_builtin(), PromptVersionFactory.create()
        RunRole.objects.bulk_create(
            RunRole(run=run, role=role, model=spec, prompt=prompt, position=position)
            for position, role in enumerate(info.roles(complete))
        )
        debates = Debate.objects.bulk_create(
            Debate(
                run=run,
                item=self.items[index // replicates],
                replicate=index % replicates + 1,
                status=_status(value),
                value=None if value in (UNPARSED, FAILED) else value,
                signals=signals[index] if signals else {"first": value},
            )
            for index, value in enumerate(values)
        )
        Turn.objects.bulk_create(
            Turn(debate=debate, step=f"s{call}", role="r", model=spec, prompt=prompt, messages=[],
                 status="ok", cost_nanousd=cost, seconds=0.5)
            for debate in debates
            for call in range(calls)
        )  # fmt: skip
        self.runs.append(run)
        return run

    def report(self) -> ExperimentReport:
        return make_report(self.experiment, arms_of(self.experiment))


def _status(value: Any) -> str:
    return value if value in (UNPARSED, FAILED) else "done"


def trial_of(gold: Sequence[Any], definition: dict[str, Any] | None = None) -> Trial:
    """An experiment without arms on verified items."""
    project = ProjectFactory.create(definition=definition)
    items = queued_items(project, len(gold))
    for item, value in zip(items, gold, strict=True):
        decide(item, value)
    return Trial(project, Experiment.objects.create(project=project, title="T"), items)


def only(report: ExperimentReport) -> ArmReport:
    (arm,) = report.arms
    return arm


def test_counts_costs_and_calls_of_an_arm() -> None:
    trial = trial_of(["good"] * 4)
    trial.arm("ecj", ["good", "bad", UNPARSED, FAILED], calls=3)
    arm = only(trial.report())
    assert (arm.passes, arm.failed) == (3, 1)
    assert arm.scores.accuracy["value"] == pytest.approx(1 / 3)
    assert arm.scores.unparsed["value"] == pytest.approx(1 / 3)
    assert (arm.calls["value"], arm.cost["value"], arm.seconds["value"]) == (3, 3000, 1.5)
    assert arm.kinds["wrong"] == 2
    assert arm.to_json()["cost_usd"]["value"] == pytest.approx(3e-6)


def test_a_significantly_better_arm_is_named_with_its_price() -> None:
    trial = trial_of(["good"] * 20)
    trial.arm("single", ["good"] * 8 + ["bad"] * 12)
    trial.arm("ecj", ["good"] * 20, calls=3, cost=1000)
    report = trial.report()
    (pair,) = report.pairs
    assert (pair.b, pair.c, pair.winner) == (0, 12, 1)
    words = main_finding(report)
    assert words.startswith("B (Extractor, critic, judge (ECJ)) is significantly better than A")
    assert "right on 12 items that A gets wrong, wrong on 0" in words
    assert "3 times the calls" in words
    better, worse = (
        row["cells"][1 - index]["outcome"] for index, row in enumerate(pair_rows(report))
    )
    assert (better, worse) == ("worse", "better")


def test_changes_of_a_discussion_by_round_and_the_agreement_of_its_annotators() -> None:
    trial = trial_of(["good", "good", "bad"])
    rounds = [
        [{"A": "bad", "B": "bad", "C": "good"}, {"A": "good", "B": "good", "C": "good"}],
        [{"A": "good", "B": "good", "C": "good"}],
        [{"A": "bad", "B": "bad", "C": "good"}, {"A": "good", "B": "bad", "C": "good"}],
    ]
    signals = [
        {"first": first, "rounds": opinions, "votes": votes, "d_rate": rate, "first_d_rate": 1.0}
        for opinions, first, votes, rate in zip(
            rounds,
            ["bad", "good", "bad"],
            [[["good", 3]], [["good", 3]], [["good", 2], ["bad", 1]]],
            [1.0, 1.0, 0.3],
            strict=True,
        )
    ]
    trial.arm("discussion", ["good", "good", "good"], signals, calls=6)
    arm = only(trial.report())
    whole, first_round = arm.steps
    assert (whole.words, whole.whole) == ("Majority before → after the discussion", True)
    assert (whole.changes.wrong_right, whole.changes.right_wrong) == (1, 1)
    assert (first_round.words, first_round.changes.n) == ("Round 0 → 1", 2)
    assert arm.voices is not None
    parts = arm.voices.parts
    assert parts["all items"].percent["value"] == pytest.approx((1 + 1 + 1 / 3) / 3)
    assert parts["before the discussion"].percent["value"] == pytest.approx((1 / 3 + 1 + 1 / 3) / 3)
    assert arm.ambiguity == "by A: its own votes before the discussion"


def test_the_judges_of_a_courtroom_and_items_that_samples_call_ambiguous() -> None:
    trial = trial_of([1, 2], STARS)
    verdicts = [[1, 1, 1], [3, 2, 2]]
    signals = [
        {"first": 1, "verdicts": verdict, "votes": votes, "d_rate": 1.0}
        for verdict, votes in zip(verdicts, [[[1, 3]], [[2, 2], [3, 1]]], strict=True)
    ]
    trial.arm("courtroom", [1, 2], signals, calls=6)
    samples = [
        {"first": 1, "votes": [[1, 5]], "d_rate": 1.0},
        {"first": 2, "votes": [[2, 3], [3, 2]], "d_rate": 0.2},
    ]
    trial.arm("self_consistency", [1, 3], samples, settings={"samples": 5})
    report = trial.report()
    court, vote = report.arms
    assert [step.words for step in court.steps] == [
        "Hearing → verdict", "Judge 1 → 2", "Judge 2 → 3",
    ]  # fmt: skip
    assert court.steps[1].changes.wrong_right == 1
    assert report.ambiguous_items == 1
    assert (court.ambiguous["value"], court.normal["value"]) == (1.0, 1.0)
    assert (vote.ambiguous["value"], vote.normal["value"]) == (0.0, 1.0)
    assert court.ambiguity == vote.ambiguity == "by B: its 5 samples"
    assert court.voices is not None
    assert set(court.voices.parts) == {"all items", "ambiguous items", "normal items"}
    assert court.voices.parts["ambiguous items"].percent["value"] == pytest.approx(1 / 3)


def test_debates_worth_reading_lead_to_the_overruled_critic() -> None:
    trial = trial_of([["Food"], [], ["Service"]], ASPECTS)
    signals = [
        {"first": [], "flips": {"extractor": ["Food"], "critic": ["Food"]}},
        {"first": [], "flips": {"extractor": [], "critic": []}},
        {"first": ["Service"], "flips": {"extractor": ["Service"], "critic": []}},
    ]
    trial.arm("ecj", [["Food"], [], []], signals)
    arm = only(trial.report())
    assert {kind: arm.kinds[kind] for kind in ("overruled", "wrong-right", "right-wrong")} == {
        "overruled": 1, "wrong-right": 1, "right-wrong": 1,
    }  # fmt: skip
    (reading,) = readings_of(trial.experiment, arms_of(trial.experiment), "overruled")
    assert (reading.first, reading.last, reading.gold) == ([], ["Food"], ["Food"])
    with pytest.raises(InvalidInput, match="kind: must be one of overruled"):
        readings_of(trial.experiment, arms_of(trial.experiment), "odd")


def test_a_comparison_is_kept_until_something_changes(django_assert_num_queries: Any) -> None:
    trial = trial_of(["good", "bad"])
    trial.arm("single", ["good", "good"])
    arms = arms_of(trial.experiment)
    first = report_of(trial.experiment, arms)
    with django_assert_num_queries(2):
        assert report_of(trial.experiment, arms) == first
    again = {"run": trial.runs[0], "item": trial.items[1], "replicate": 2, "value": "bad"}
    Debate.objects.create(status="done", **again)
    assert only(report_of(trial.experiment, arms)).passes == 3
    later = queued_items(trial.project, 1)[0]
    decide(later, "good")
    with django_assert_num_queries(6):
        report_of(trial.experiment, arms)


def test_more_arms_take_no_more_queries(django_assert_num_queries: Any) -> None:
    trial = trial_of(["good", "bad"])
    for name in ("single", "cot", "single", "cot"):
        trial.arm(name, ["good", "bad"])
    arms = arms_of(trial.experiment)
    # gold, debates, turns, changes of labels
    with django_assert_num_queries(4):
        make_report(trial.experiment, arms)


RENAMED = {"good": "fine"}
SWAPPED = {"good": "bad", "bad": "good"}
THREE = {"task": "single", "labels": [{"name": name} for name in ("good", "bad", "poor")]}


@pytest.mark.parametrize("names", [RENAMED, SWAPPED])
def test_renamed_labels_change_no_result_of_old_debates(names: dict[str, str]) -> None:
    trial = trial_of(["good", "good", "bad"])
    rounds = [
        [{"A": "bad", "B": "good", "C": "bad"}, {"A": "good", "B": "good", "C": "good"}],
        [{"A": "good", "B": "good", "C": "good"}],
        [{"A": "bad", "B": "bad", "C": "good"}, {"A": "good", "B": "bad", "C": "good"}],
    ]
    votes = [[["good", 3]], [["good", 3]], [["good", 2], ["bad", 1]]]
    signals = [
        {"first": first, "rounds": opinions, "votes": counted, "d_rate": 1.0, "first_d_rate": 1.0}
        for first, opinions, counted in zip(["bad", "good", "bad"], rounds, votes, strict=True)
    ]
    trial.arm("discussion", ["good", "good", "good"], signals, calls=6)
    verdicts = [["good", "bad", "good"]] * 3
    hearings = [
        {"first": "bad", "verdicts": verdict, "votes": [["good", 2], ["bad", 1]], "d_rate": 0.3}
        for verdict in verdicts
    ]
    trial.arm("courtroom", ["good", "bad", "bad"], hearings, calls=6)
    before = trial.report().to_json()
    (read, *_) = readings_of(trial.experiment, arms_of(trial.experiment), "wrong-right")

    changed(trial.project, *(Rename(old, new) for old, new in names.items()))

    after = trial.report().to_json()
    for arm in before["arms"]:
        for label in arm["labels"]:
            label["label"] = names.get(label["label"], label["label"])
    assert after == before
    (again, *_) = readings_of(trial.experiment, arms_of(trial.experiment), "wrong-right")
    first = names.get(str(read.first), read.first)
    assert (again.first, again.last, again.gold) == (first, names["good"], names["good"])


def test_a_cached_comparison_has_the_new_name_of_a_label_without_gold() -> None:
    trial = trial_of(["good"])
    trial.arm("single", ["good"])
    arms = arms_of(trial.experiment)
    report_of(trial.experiment, arms)

    changed(trial.project, Rename("bad", "poor"))

    labels = only(report_of(trial.experiment, arms)).scores.labels
    assert [label.label for label in labels] == ["good", "poor"]


@pytest.mark.parametrize(
    ("operations", "accuracy"),
    [
        ([Merge(("bad", "poor"), "bad")], 1.0),
        ([Add(LabelDef("new")), Rename("bad", "worse")], 2 / 3),
        ([Add(LabelDef("new")), Merge(("bad", "poor"), "bad")], 2 / 3),
        ([Split("bad", (LabelDef("worse"), LabelDef("worst")))], 2 / 3),
    ],
)
def test_merged_labels_are_one_and_new_labels_end_a_comparison(
    operations: Sequence[Operation], accuracy: float
) -> None:
    trial = trial_of(["good", "bad", "bad"], THREE)
    trial.arm("single", ["good", "poor", "bad"])

    changed(trial.project, *operations)

    report = trial.report()
    assert (report.items, only(report).scores.accuracy["value"]) == (3, accuracy)


def test_a_comparison_outlasts_a_rename_that_is_taken_back() -> None:
    trial = trial_of(["good", "bad", "bad"])
    trial.arm("single", ["good", "good", "bad"])
    before = trial.report().to_json()

    taken_back(changed(trial.project, Rename("bad", "poor")))

    assert trial.report().to_json() == before


def test_a_decision_is_of_the_labels_that_it_could_choose() -> None:
    trial = trial_of(["good", "bad", "bad"])
    trial.arm("single", ["good", "good", "bad"])
    changed(trial.project, Add(LabelDef("new")), Rename("bad", "worse"))
    now = trial.project.schemas.latest("version")
    assert verified_items(trial.project, comparable_versions(now)).count() == 0

    carried = trial.items[1].golds.get(superseded_by=None)
    Gold.objects.create(
        item=carried.item, schema=now, value="new", basis=Gold.Basis.REVIEW, supersedes=carried
    )

    assert trial.report().items == 2
    assert verified_items(trial.project, comparable_versions(now)).count() == 1


def test_gold_that_a_change_has_yet_to_carry_over_counts_under_its_new_name() -> None:
    trial = trial_of(["good", "bad"])
    trial.arm("single", ["good", "bad"])

    begun(trial.project, Rename("bad", "poor"))

    assert only(trial.report()).scores.accuracy["value"] == 1.0


def test_an_item_just_at_the_bound_is_ambiguous_however_its_passes_add_up() -> None:
    trial = trial_of(["good"])
    signals = [
        {"first": "good", "votes": [["good", 10]], "d_rate": rate} for rate in (0.4, 0.8, 0.3)
    ]
    trial.arm("self_consistency", ["good"] * 3, signals, settings={"samples": 10}, replicates=3)
    assert trial.report().ambiguous_items == 1


def test_where_nothing_varies_the_number_of_items_still_says_how_sure_it_is() -> None:
    trial = trial_of(["good"] * 12)
    signals = [{"first": "good", "votes": [["good", 5]], "d_rate": 1.0}] * 24
    trial.arm("self_consistency", ["good"] * 24, signals, settings={"samples": 5}, replicates=2)
    arm = only(trial.report())
    assert arm.voices is not None
    for found in (arm.scores.accuracy, arm.normal, arm.voices.parts["all items"].percent):
        assert (found["value"], found["high"], found["n"]) == (1.0, 1.0, 12)
        assert found["low"] == pytest.approx(0.76, abs=0.01)
    assert arm.scores.unparsed["high"] == pytest.approx(0.24, abs=0.01)


def test_an_answer_with_a_label_that_was_retired_since_is_wrong_but_was_parsed() -> None:
    trial = trial_of(["good", "good"], THREE)
    trial.arm("single", ["good", "poor"])

    changed(trial.project, Retire("poor"))

    scores = only(trial.report()).scores
    assert (scores.accuracy["value"], scores.unparsed["value"]) == (0.5, 0.0)
