"""Driving a run: every call a stored turn, every end a result, whatever happens in between."""

import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from apps.accounts.models import User
from apps.debates.models import Debate, Run, Turn
from apps.debates.selectors import progress
from apps.debates.services import SliceEnd, pause_run, resume_run, run_slice, unfinished_runs
from apps.debates.services.driving.budget import worst_cost
from apps.debates.services.driving.call_executor import REMINDER
from apps.debates.services.driving.store import SliceStore
from apps.labels.models import ItemState, Label
from labelhub.core.errors import Conflict
from labelhub.core.llm.errors import ModelError, QuotaExhausted, WrongKey
from labelhub.core.llm.types import Call
from tests.factories.accounts import UserFactory
from tests.factories.debates import QUICK, Script, project_with_items, started_run
from tests.factories.labels import queued_items
from tests.factories.llm import ModelSpecFactory
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db(transaction=True)


def drive(run: Run, script: Script, **pace: Any) -> SliceEnd:
    end = run_slice(run.pk, pace=replace(QUICK, **pace), open_models=script.open)
    run.refresh_from_db()
    return end


def scripted_run(count: int, name: str = "single", **fields: Any) -> Run:
    return started_run(project_with_items(count), name, model=ModelSpecFactory.create(), **fields)


def test_a_run_on_the_offline_model_labels_every_item() -> None:
    project = project_with_items(7)
    run = started_run(project, "ecj")

    assert run_slice(run.pk, pace=QUICK) is SliceEnd.FINISHED

    run.refresh_from_db()
    assert run.status == Run.Status.DONE
    assert run.message == "7 of 7 labelled."
    assert Turn.objects.filter(debate__run=run).count() == 21
    labels = Label.objects.filter(run_uid=run.uid)
    assert labels.count() == 7
    assert all(label.annotator.offline for label in labels.select_related("annotator"))
    assert ItemState.objects.filter(project=project, stage=ItemState.Stage.SUGGESTED).count() == 7
    assert progress(run).done == 7


def test_a_turn_keeps_what_was_asked_answered_and_paid() -> None:
    run = scripted_run(1, params={"annotator": {"temperature": 0}})
    script = Script("It is nice.\0\nFinal Decision: good")
    drive(run, script)

    turn = Turn.objects.get()
    assert turn.step == turn.role == "annotator"
    assert turn.attempt == 1
    assert turn.messages == [
        {"role": message.role, "content": message.content} for message in script.calls[0].messages
    ]
    assert turn.params_asked == {
        "temperature": 0,
        "logprobs": True,
    }
    assert turn.params_effective == {"max_tokens": 1024}
    assert turn.text == "It is nice.\nFinal Decision: good"
    assert (turn.value, turn.status, turn.rung) == ("good", "ok", 3)
    assert turn.model_answered == f"{turn.model.name}-2026"
    assert turn.prompt.hash == script.calls[0].prompt_hash
    assert turn.cost_nanousd == 100 * 150 + 20 * 600
    assert (run.turns_count, run.tokens_in, run.tokens_out) == (1, 100, 20)
    assert run.cost_nanousd == turn.cost_nanousd
    label = Label.objects.get()
    assert label.cost_nanousd == turn.cost_nanousd
    assert label.provenance["prompts"] == {"annotator": turn.prompt.hash}
    assert Debate.objects.get().label == label


def test_an_answer_without_an_offered_label_labels_nothing_and_goes_to_people_first() -> None:
    run = scripted_run(3)
    drive(run, Script("Final Decision: splendid"))

    assert run.status == Run.Status.DONE
    assert set(Debate.objects.values_list("status", flat=True)) == {Debate.Status.UNPARSED}
    assert not Label.objects.exists()
    state = ItemState.objects.order_by("-priority")[0]
    assert state.reasons == ["unparsed"]
    assert state.priority >= 100


def test_an_answer_that_cannot_be_read_is_asked_for_once_more() -> None:
    run = scripted_run(1)
    script = Script(
        lambda call: "Hm." if REMINDER in call.messages[-1].content else "Well, it depends."
    )
    drive(run, script)
    assert list(Turn.objects.values_list("attempt", "status")) == [(1, "unparsed"), (2, "unparsed")]

    run = scripted_run(1)
    answers = iter(["Well, it depends.", "Final Decision: bad"])
    drive(run, Script(lambda _: next(answers)))
    turns = Turn.objects.filter(debate__run=run).values_list("attempt", "status")
    assert list(turns) == [(1, "unparsed"), (2, "ok")]
    assert Label.objects.get(run_uid=run.uid).value == "bad"


def test_a_failed_call_is_a_turn_and_its_debate_can_be_tried_again() -> None:
    run = scripted_run(2)
    failing = Script(lambda _: ModelError("No answer in 5 attempts."))
    drive(run, failing)

    assert run.status == Run.Status.DONE
    assert "2 failed" in run.message
    assert set(Debate.objects.values_list("error", flat=True)) == {"No answer in 5 attempts."}
    assert Turn.objects.filter(status="failed", attempt=1).count() == 2

    resume_run(run=run)
    assert drive(run, Script()) is SliceEnd.FINISHED
    assert run.message == "2 of 2 labelled."
    assert Turn.objects.filter(status="ok", attempt=2).count() == 2
    assert run.turns_count == 4


@pytest.mark.thorough
def test_a_wrong_key_pauses_the_run_in_words() -> None:
    run = scripted_run(10)
    end = drive(run, Script(lambda _: WrongKey("Key refused by provider 'x'. Check the key.")))

    assert end is SliceEnd.STOPPED
    assert run.status == Run.Status.PAUSED
    assert run.pause_code == "wrong_key"
    assert "Check the key" in run.message
    waiting = Debate.objects.filter(status=Debate.Status.WAITING, lease_token__isnull=True)
    assert waiting.count() == 10

    resume_run(run=run)
    drive(run, Script())
    assert run.status == Run.Status.DONE


def test_an_exhausted_quota_says_when_the_run_goes_on() -> None:
    run = scripted_run(2)
    drive(run, Script(lambda _: QuotaExhausted("Used up.", data={"resume_after": 3600})))

    assert run.resume_at is not None
    assert timedelta(minutes=59) < run.resume_at - timezone.now() < timedelta(minutes=61)


@pytest.mark.thorough
def test_many_failures_in_a_row_pause_the_run() -> None:
    run = scripted_run(60)
    drive(run, Script(lambda _: ModelError("Nonsense.")))

    assert run.status == Run.Status.PAUSED
    assert run.pause_code == "too_many_failures"
    assert 50 <= Debate.objects.filter(status=Debate.Status.FAILED).count() < 60


@pytest.mark.thorough
@pytest.mark.parametrize(("bad", "resumed"), [(9, 0), (17, 1)])
def test_items_that_always_fail_do_not_keep_a_run_from_its_end(bad: int, resumed: int) -> None:
    project = ProjectFactory.create()
    queued_items(project, bad, text="BAD: no model will read this.")
    queued_items(project, 80 - bad)
    run = started_run(project, model=ModelSpecFactory.create())

    def answer(call: Call) -> ModelError | str:
        bad = "BAD" in call.messages[-1].content
        return ModelError("Nonsense.") if bad else "Final Decision: good"

    drive(run, Script(answer))
    for _ in range(resumed):
        assert "17 of the last 50 debates failed, the last one: Nonsense." in run.message
        drive(resume_run(run=run), Script(answer))
    assert (run.status, progress(run).failed) == (Run.Status.DONE, bad)


@pytest.mark.thorough
def test_a_pause_keeps_what_was_said_and_resuming_pays_for_nothing_twice() -> None:
    run = scripted_run(6, "ecj")

    def pause_midway(call: Call) -> str:
        if len(script.calls) == 7:
            # In a thread's own connection, as a view would.
            Run.objects.filter(pk=run.pk).update(status=Run.Status.PAUSED)
        return "Final Decision: good"

    script = Script(pause_midway, seconds=0.02)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        assert drive(run, script, width=1) is SliceEnd.STOPPED
    paid = len(script.calls)
    assert 7 <= paid < 18
    assert Turn.objects.count() == paid
    assert not Debate.objects.filter(lease_token__isnull=False).exists()

    resume_run(run=run)
    drive(run, script)
    assert run.status == Run.Status.DONE
    assert len(script.calls) == Turn.objects.count() == 18


def test_when_its_time_is_up_a_slice_leaves_the_rest_to_the_next() -> None:
    run = scripted_run(8)
    script = Script()
    assert drive(run, script, slice=-1.0) is SliceEnd.MORE
    assert run.status == Run.Status.RUNNING
    assert drive(run, script) is SliceEnd.FINISHED
    assert len(script.calls) == 8


def test_a_slow_database_holds_the_calls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    run, script = scripted_run(60), Script()
    write, unwritten = SliceStore.write, []

    def write_slowly(store: SliceStore, *args: Any) -> str:
        time.sleep(0.05)
        unwritten.append(len(script.calls) - Turn.objects.count())
        return write(store, *args)

    monkeypatch.setattr(SliceStore, "write", write_slowly)
    assert drive(run, script, width=4, claim=60, flush_rows=8) is SliceEnd.FINISHED
    # One batch on its way, one that waits, each with what was in flight when it was full.
    assert max(unwritten) <= 2 * (8 + 4)


@pytest.mark.thorough
def test_a_call_that_takes_longer_than_a_slice_is_not_thrown_away() -> None:
    run, script = scripted_run(1), Script(seconds=1.0)
    drive(run, script, slice=0.1, grace=0.1)
    assert Turn.objects.filter(status="ok").count() == len(script.calls) == 1


@pytest.mark.thorough
def test_a_worker_that_dies_leaves_its_debates_to_others_once_the_lease_is_over() -> None:
    run = scripted_run(4, "ecj")
    script = Script("Final Decision: good")

    class Killed(BaseException):
        pass

    def die(call: Call) -> str:
        if len(script.calls) == 8:
            raise Killed
        return "Final Decision: good"

    script = Script(die)
    with pytest.raises(Killed):
        drive(run, script, width=1)
    stored = Turn.objects.count()
    Debate.objects.filter(status=Debate.Status.WAITING).update(
        lease_token=run.uid, lease_until=timezone.now() + timedelta(seconds=30)
    )
    assert drive(run, Script()) is SliceEnd.BUSY

    Debate.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    second = Script()
    assert drive(run, second) is SliceEnd.FINISHED
    assert len(second.calls) == 12 - stored
    assert Turn.objects.count() == 12


def test_a_result_is_not_written_once_the_lease_is_lost() -> None:
    run = scripted_run(1)

    def lose_lease(call: Call) -> str:
        Debate.objects.update(lease_token=run.uid)
        return "Final Decision: good"

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        # Seen at the end, or by a beat before.
        assert drive(run, Script(lose_lease)) in {SliceEnd.BUSY, SliceEnd.STOPPED}
    assert Debate.objects.get().status == Debate.Status.WAITING
    assert not Label.objects.exists()
    assert Turn.objects.count() == 1


def test_replicates_are_independent_and_labelled_by_annotators_of_their_own() -> None:
    run = scripted_run(3, replicates=2)
    drive(run, Script())

    assert Debate.objects.count() == 6
    current = Label.objects.current().filter(run_uid=run.uid)
    assert current.count() == 6
    assert len(set(current.values_list("annotator__name", flat=True))) == 2


def test_a_run_stops_before_it_would_cost_more_than_its_budget() -> None:
    one_call = 27_000
    trial = Script()
    drive(scripted_run(1), trial)
    run = scripted_run(5)
    budget = worst_cost(run.roles.get().model, trial.calls[0]) + 2 * one_call
    Run.objects.filter(pk=run.pk).update(budget_nanousd=budget)
    script = Script()
    drive(run, script)

    assert run.status == Run.Status.PAUSED
    assert run.pause_code == "budget"
    assert run.cost_nanousd == len(script.calls) * one_call <= budget
    assert 0 < len(script.calls) < 5


def test_an_item_that_breaks_the_protocol_does_not_stop_the_others() -> None:
    project = ProjectFactory.create()
    queued_items(project, 2)
    queued_items(project, 1, context=[{"nonsense": 1}])
    run = started_run(project, model=ModelSpecFactory.create())
    drive(run, Script())

    assert run.message.startswith("2 of 3 labelled, 1 failed")


def broken(*_: Any) -> None:
    raise ZeroDivisionError


STORE = "apps.debates.services.driving.store.SliceStore"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "place",
    [f"{STORE}.claim", f"{STORE}.write", "apps.debates.services.driving.worker.run_spec_of"],
)
def test_a_fault_of_the_server_rests_the_run_in_words(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    run = scripted_run(2)
    with monkeypatch.context() as patch:
        patch.setattr(place, broken)
        assert drive(run, Script()) is SliceEnd.STOPPED
    assert (run.status, run.pause_code, run.faults) == (Run.Status.PAUSED, "fault", 1)
    assert "see its log" in run.message
    Run.objects.update(resume_at=timezone.now())
    assert unfinished_runs() == [run.pk]
    assert drive(run, Script()) is SliceEnd.FINISHED
    assert run.faults == 0


def test_after_several_faults_in_a_row_it_rests_until_somebody_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = scripted_run(2)
    monkeypatch.setattr(f"{STORE}.claim", broken)
    rests = []
    for _ in range(4):
        drive(run, Script())
        rests.append(run.resume_at and round((run.resume_at - timezone.now()).total_seconds() / 60))
        Run.objects.update(status=Run.Status.QUEUED)
    assert rests == [1, 5, 15, None]
    assert "Fix the cause, then resume." in run.message


@pytest.mark.thorough
def test_a_fault_at_the_end_of_its_time_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    run = scripted_run(3)
    monkeypatch.setattr(f"{STORE}.write", broken)
    assert drive(run, Script(seconds=0.5), slice=0.1, width=1) is SliceEnd.STOPPED
    assert run.pause_code == "fault"


def test_a_database_that_will_not_let_go_is_a_fault_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*_: Any) -> None:
        raise OperationalError("disk I/O error")

    run = scripted_run(2)
    monkeypatch.setattr(f"{STORE}.claim", broken)
    monkeypatch.setattr(f"{STORE}.release", stuck)
    drive(run, Script())
    assert run.pause_code == "fault"


def test_what_rests_can_be_kept_paused() -> None:
    run = scripted_run(2)
    drive(run, Script(lambda _: QuotaExhausted("Used up.", data={"resume_after": 3600})))
    pause_run(run=run)
    assert (run.pause_code, run.resume_at) == ("user", None)
    with pytest.raises(Conflict):
        pause_run(run=run)


def test_a_deleted_run_ends_its_slice_quietly() -> None:
    run = scripted_run(3)

    def delete(call: Call) -> str:
        Run.objects.filter(pk=run.pk).delete()
        return "Final Decision: good"

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        end = run_slice(run.pk, pace=replace(QUICK, width=1), open_models=Script(delete).open)
    assert end is SliceEnd.STOPPED


def test_a_paused_run_is_not_driven() -> None:
    run = scripted_run(2)
    pause_run(run=run)
    script = Script()
    assert drive(run, script) is SliceEnd.STOPPED
    assert script.calls == []


def run_by(user: User, count: int, **fields: Any) -> Run:
    run = scripted_run(count, **fields)
    Run.objects.filter(pk=run.pk).update(created_by=user)
    return run


def told(user: User) -> list[tuple[str, str]]:
    return list(user.notifications.order_by("pk").values_list("outcome", "message"))


def test_the_person_who_started_it_is_told_once_of_each_end() -> None:
    boss = UserFactory.create()
    run = run_by(boss, 2)
    drive(run, Script("Final Decision: good"))
    drive(run, Script("Final Decision: good"))
    assert told(boss) == [("done", "2 of 2 labelled.")]
    Debate.objects.update(status=Debate.Status.FAILED)
    resume_run(run=run)
    drive(run, Script("Final Decision: good"))
    assert told(boss) == [("done", "2 of 2 labelled.")] * 2


def test_a_stop_that_needs_a_person_is_told_and_a_pause_that_ends_by_itself_is_not() -> None:
    boss = UserFactory.create()
    broke = run_by(boss, 1, budget_nanousd=1)
    drive(broke, Script("Final Decision: good"))
    assert (broke.status, broke.pause_code) == (Run.Status.PAUSED, "budget")
    wrong = run_by(boss, 1)
    drive(wrong, Script(lambda _: WrongKey("The key is refused.")))
    waiting = run_by(boss, 1)
    drive(waiting, Script(lambda _: QuotaExhausted("Used up.", data={"resume_after": 3600})))
    assert waiting.resume_at is not None
    pause_run(run=waiting)
    assert [outcome for outcome, _ in told(boss)] == ["stopped", "failed"]


def test_parts_of_experiments_and_trials_are_not_told() -> None:
    boss = UserFactory.create()
    run = run_by(boss, 1)
    Run.objects.update(trial=True)
    drive(run, Script("Final Decision: good"))
    assert told(boss) == []
