"""A study from the ledger to its figures: what is asked, what is kept, what is counted."""

from dataclasses import replace

import pytest
from django.db import IntegrityError

from apps.agreement import tasks
from apps.agreement.models import Prediction, Study
from apps.agreement.predictivity.results import result_of
from apps.agreement.predictivity.slices import run_study
from apps.agreement.predictivity.studies import (
    cancel_study,
    pause_study,
    resume_study,
    unfinished_studies,
)
from apps.debates.services import SliceEnd
from apps.debates.services.driving.threads import Database
from apps.debates.services.preview import UnknownPrice
from apps.labels.services import withdraw_label
from apps.llm.services import ensure_builtin
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.core.llm.errors import ModelError, WrongKey
from labelhub.core.llm.types import Call
from tests.agreement.predictivity_help import (
    OPTIONS,
    answered_item,
    asked_text,
    authors_project,
    decides,
    driven,
    last_shown,
    say,
    started,
    told,
)
from tests.factories.debates import QUICK, Script
from tests.factories.llm import ModelSpecFactory

pytestmark = pytest.mark.django_db(transaction=True)

CALM = "Final Decision: calm"
#: Three authors with four answers: without examples 12; 4 sources with 1 and with 2: 96.
WHOLE = 12 + 2 * 4 * 12
#: One call at a time, so that a test knows what is done when it stops.
SLOW = replace(QUICK, width=1, claim=1)


# End to end


@pytest.mark.thorough
def test_a_model_that_follows_the_examples_shows_whose_labels_tell_most() -> None:
    project = authors_project(users=8, others={"llm": "calm", "crowd": "cross"})
    for item in project.items.all():  # authors who always say the same of themselves
        mine = item.labels.get(annotator__kind="author")
        withdraw_label(label=mine, provenance={})
        say(item, "author", OPTIONS[int(str(item.meta["user_id"])[-1]) % 3], "again")
    study, script = started(project), decides(last_shown)
    assert driven(study, script) is SliceEnd.FINISHED
    assert study.status == Study.Status.DONE
    result = result_of(told(study))
    by_source = {
        each.source: each.accuracy["value"] or 0.0
        for each in result.scores.accuracies
        if each.examples is None
    }
    # Of eight users three are calm, three cross, two glad.
    assert by_source["author"] == 1.0
    assert (by_source["llm"], by_source["crowd"]) == (3 / 8, 3 / 8)
    assert 0 < by_source["chance"] < 0.7
    gap = next(each for each in result.scores.differences if each.source == "llm")
    assert gap.difference["value"] == pytest.approx(5 / 8)
    assert gap.p_holm is not None
    assert gap.p_holm < 0.05
    assert result.headline == "Labels by others tell less about an author than the author's own."
    assert "With an LLM's labels it is right 62.5 points less often (" in result.detail


@pytest.mark.thorough
def test_the_offline_model_is_driven_end_to_end_and_marked() -> None:
    project = authors_project()
    study = started(project, ensure_builtin())
    assert run_study(study.pk, pace=QUICK) is SliceEnd.FINISHED
    told_as = result_of(told(study)).to_json()
    assert told_as["status"] == "done"
    assert told_as["offline"] is True
    assert "not an LLM" in told_as["note"]
    assert told_as["predictions"] == WHOLE
    assert told_as["cost_usd"] == 0


@pytest.mark.thorough
def test_a_model_that_the_examples_do_not_help_proves_nothing() -> None:
    study = started(authors_project(users=8))
    driven(study, Script(CALM))
    result = result_of(told(study))
    assert result.headline.startswith("Not even the authors' own labels measurably help")
    assert "too little varies to tell a difference" in result.detail


@pytest.mark.thorough
def test_labels_of_the_offline_model_are_marked_in_words() -> None:
    project = authors_project(users=8, others={})
    for item in project.items.all():
        say(item, "llm", "cross", "matcher", offline=True)
    study = started(project)
    driven(study, decides(last_shown))
    result = result_of(told(study))
    assert "With labels of the offline model, which is not an LLM," in result.detail
    assert result.to_json()["offline_labels"] is True


def test_a_prediction_keeps_all_that_was_asked_answered_and_paid() -> None:
    project = authors_project(users=1, answers=2)
    study, script = started(project, examples=(1,), sources=("author",)), Script(CALM)
    driven(study, script)
    row = Prediction.objects.order_by("pk")[0]
    assert (row.status, row.answered, row.expected) == ("answered", "calm", "calm")
    assert (row.right, row.options, len(row.shown)) == (True, 3, 1)
    assert (len(row.asked), row.tokens_in, row.tokens_out) == (64, 100, 20)
    assert row.cost_nanousd == 100 * 150 + 20 * 600
    assert row.text == CALM
    assert row.model_answered.endswith("-2026")
    assert (study.calls, study.cost_nanousd) == (2, 2 * row.cost_nanousd)
    assert len({each.asked for each in Prediction.objects.all()}) == 2


def test_only_the_labels_differ_between_sources_and_none_is_named() -> None:
    project = authors_project(users=1, answers=2)
    script = Script(CALM)
    driven(started(project, examples=(1,), sources=("llm", "crowd")), script)
    texts = [asked_text(call) for call in script.calls]
    by_llm, by_crowd = (next(t for t in texts if f"\n{said}\n</text" in t.split("Now the")[0])
                        for said in ("calm", "cross"))  # fmt: skip
    assert len(by_llm.splitlines()) == len(by_crowd.splitlines())
    assert not any(word in text for text in texts for word in ("crowd", "LLM", "annotator"))


def test_an_answer_off_the_menu_is_unparsed_counted_and_never_guessed() -> None:
    project = authors_project(users=2, answers=2)
    study = started(project, examples=(1,), sources=("author",))
    driven(study, Script("Final Decision: calmly"))
    assert set(study.predictions.values_list("status", "answered", "right")) == {
        ("unparsed", "", False)
    }
    assert set(study.predictions.values_list("off_menu", flat=True)) == {"calmly"}
    scores = result_of(told(study)).scores
    assert (scores.predictions, scores.unparsed) == (4, 4)
    assert scores.accuracies[0].accuracy["value"] == 0
    assert "4 of them without a usable answer" in study.message


# Money


@pytest.mark.thorough
def test_a_budget_is_never_passed_and_the_study_goes_on_with_more() -> None:
    project, model = authors_project(), ModelSpecFactory.create(max_output_tokens=50)
    first, script = 400_000, Script(CALM)
    study = started(project, model, budget_nanousd=first)
    assert driven(study, script) is SliceEnd.STOPPED
    assert (study.status, study.pause_code) == ("paused", "budget")
    assert 0 < study.cost_nanousd <= first
    assert study.calls == len(script.calls) < WHOLE
    asked = len(script.calls)
    again = started(project, model, budget_nanousd=10**9)
    assert (again.pk, again.status) == (study.pk, "queued")
    driven(again, script)
    assert again.status == "done"
    assert len(script.calls) == WHOLE
    assert again.calls == WHOLE > asked


@pytest.mark.thorough
def test_a_budget_needs_a_known_price_and_more_than_is_spent() -> None:
    project, model = authors_project(), ModelSpecFactory.create(price_in=None)
    with pytest.raises(UnknownPrice):
        started(project, model, budget_nanousd=10**9)
    priced = ModelSpecFactory.create()
    driven(started(project, priced), Script(CALM))
    with pytest.raises(InvalidInput, match="is spent already"):
        started(project, priced, budget_nanousd=1)


def test_calls_of_unknown_price_make_the_cost_unknown() -> None:
    project, model = authors_project(users=1, answers=2), ModelSpecFactory.create(price_in=None)
    study = started(project, model)
    driven(study, Script(CALM))
    assert result_of(told(study)).to_json()["cost_usd"] is None


# Going on


class Killed(BaseException):
    """The process ends here: nothing after it is run."""


@pytest.mark.thorough
def test_what_was_written_before_a_kill_is_never_asked_again() -> None:
    project, model = authors_project(), ModelSpecFactory.create()
    study = started(project, model)
    asked: list[Call] = []

    def dies(call: Call) -> str:
        asked.append(call)
        if len(asked) > 20:
            raise Killed
        return CALM

    with pytest.raises(Killed):
        driven(study, Script(dies, seconds=0.005), SLOW)
    kept = set(study.predictions.exclude(status="waiting").values_list("pk", flat=True))
    assert 0 < len(kept) <= 20
    # As after kill -9: the lease is still there, and nobody renews it.
    Study.objects.filter(pk=study.pk).update(lease_until=study.created_at, dispatched_until=None)
    assert unfinished_studies() == [study.pk]
    rest = Script("Final Decision: glad")
    assert driven(study, rest) is SliceEnd.FINISHED
    assert len(rest.calls) == WHOLE - len(kept)
    old = study.predictions.filter(pk__in=kept).values_list("answered", flat=True)
    assert set(old) == {"calm"}


def test_of_two_workers_only_one_drives() -> None:
    study = started(authors_project())
    Study.objects.filter(pk=study.pk).update(lease_until="2999-01-01T00:00:00Z")
    script = Script(CALM)
    assert driven(study, script) is SliceEnd.BUSY
    assert unfinished_studies() == []
    assert script.calls == []


def test_a_second_start_of_the_same_plan_is_the_same_study() -> None:
    project, model = authors_project(), ModelSpecFactory.create()
    one, other = started(project, model), started(project, model)
    assert one.pk == other.pk
    assert other.predictions.count() == WHOLE
    assert started(project, model, examples=(1,)).pk != one.pk
    cancel_study(study=one)
    assert started(project, model).pk != one.pk


def test_a_done_study_takes_up_what_the_ledger_has_grown_by() -> None:
    project, model = authors_project(users=1, answers=2), ModelSpecFactory.create()
    plan = {"examples": (1,), "sources": ("author",)}
    driven(started(project, model, **plan), Script(CALM))
    again = started(project, model, **plan)
    assert (again.status, again.predictions.count()) == ("done", 2)
    answered_item(project, "user 0", "glad")
    grown, script = started(project, model, **plan), Script(CALM)
    assert (grown.pk, grown.status) == (again.pk, "queued")
    driven(grown, script)
    assert len(script.calls) == 1


def test_a_task_exists_once() -> None:
    study = started(authors_project(users=1, answers=2))
    row = study.predictions.order_by("pk")[0]
    with pytest.raises(IntegrityError):
        Prediction.objects.create(
            study=study, item=row.item, source=row.source, examples=row.examples
        )


@pytest.mark.thorough
def test_pausing_stops_and_resuming_goes_on() -> None:
    study, script = started(authors_project()), Script(CALM)
    pause_study(study=study)
    assert driven(study, script) is SliceEnd.STOPPED
    assert script.calls == []
    with pytest.raises(Conflict, match="is paused and cannot be paused"):
        pause_study(study=study)
    resume_study(study=study)
    driven(study, script)
    assert study.status == "done"
    with pytest.raises(Conflict, match="is done and cannot be resumed"):
        resume_study(study=study)


def test_a_pause_by_somebody_else_stops_the_worker_between_two_calls() -> None:
    study = started(authors_project())
    script = Script(CALM, seconds=0.01)

    def pausing(call: Call) -> str:
        if len(script.calls) == 5:
            with Database("somebody") as elsewhere:
                elsewhere._thread.submit(pause_study, study=study).result()
        return CALM

    script._answer = pausing
    assert driven(study, script, SLOW) is SliceEnd.STOPPED
    assert study.status == "paused"
    assert study.calls == len(script.calls) < WHOLE


def test_failed_calls_are_no_predictions_and_are_asked_again_on_resume() -> None:
    study = started(authors_project(users=2, answers=2), examples=(1,), sources=("author",))
    driven(study, Script(lambda _: ModelError("It broke.", data={"attempts": [{"seconds": 1}]})))
    assert (study.status, set(study.predictions.values_list("status", flat=True))) == (
        "done",
        {"failed"},
    )
    assert "4 failed (resume the study" in study.message
    assert result_of(told(study)).scores.predictions == 0
    resume_study(study=study)
    driven(study, Script(CALM))
    assert set(study.predictions.values_list("status", flat=True)) == {"answered"}
    assert study.calls == 8
    assert study.predictions.order_by("pk")[0].attempts == [{"seconds": 1}]


def test_a_wrong_key_pauses_the_study_at_once() -> None:
    study, script = started(authors_project()), Script(lambda _: WrongKey("The key is wrong."))
    driven(study, script, SLOW)
    assert (study.status, study.pause_code, study.message) == (
        "paused",
        "wrong_key",
        "The key is wrong.",
    )
    assert len(script.calls) == 1


def test_an_answer_taken_back_meanwhile_is_not_shown_to_the_model() -> None:
    project = authors_project(users=1, answers=3, others={"llm": "calm"})
    study = started(project, examples=(1, 2), sources=("author",))
    item = project.items.order_by("pk")[0]
    withdraw_label(label=item.labels.get(annotator__kind="author"), provenance={})
    script = Script(CALM)
    driven(study, script)
    assert not any(item.text in asked_text(call) for call in script.calls)
    assert study.predictions.filter(item=item).exclude(status="void").count() == 0
    assert "left out (an answer was taken back)" in study.message


def test_a_task_of_the_worker_drives_the_study_to_its_end() -> None:
    study = started(authors_project(users=1, answers=2), ensure_builtin())
    tasks.run_study_task(study.pk)
    study.refresh_from_db()
    assert study.status == "done"


def test_unfinished_studies_are_handed_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(tasks.run_study_task, "delay", sent.append)
    study = started(authors_project())
    assert tasks.resume_unfinished() == 1
    assert tasks.resume_unfinished() == 0
    tasks.launch_study(study.pk)
    assert sent == [study.pk]
