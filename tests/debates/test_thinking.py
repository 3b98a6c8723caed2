"""Models that think before they answer: the room for it is learnt once, and kept."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from apps.debates.models import Debate, Run
from apps.debates.selectors import progress
from apps.debates.services import resume_run, run_slice
from apps.llm.models import ModelSpec
from tests.factories.debates import QUICK, project_with_items, started_run
from tests.factories.labels import queued_items
from tests.factories.llm import ModelSpecFactory
from tests.fakes.openai_server import FakeServer, completion

pytestmark = pytest.mark.django_db(transaction=True)


def model_at(server: FakeServer, **fields: Any) -> ModelSpec:
    """One of which nobody knows yet whether it thinks."""
    return ModelSpecFactory.create(
        provider__base_url=server.base_url, **{"thinking_tokens": None, **fields}
    )


def drive(run: Run, *, width: int = 4) -> Run:
    run_slice(run.pk, pace=replace(QUICK, width=width))
    run.refresh_from_db()
    return run


@pytest.mark.parametrize("thinks", [1400, 3000])
@pytest.mark.parametrize("shown", ["", "reasoning_content", "reasoning", "tags"])
def test_one_call_is_paid_twice_and_no_other(
    model_server: FakeServer, thinks: int, shown: str
) -> None:
    model_server.options.thinks, model_server.options.shows_thought = thinks, shown
    run = drive(started_run(project_with_items(6), model=model_at(model_server)))
    assert (run.status, progress(run).done) == (Run.Status.DONE, 6), run.message
    assert model_server.stats["outcomes"] == {"cut_off": 1, "ok": 6}
    # The next run knows from the start.
    queued_items(run.project, 2, text="Another text altogether.")
    again = drive(started_run(run.project, model=ModelSpec.objects.get()))
    assert progress(again).failed == 0
    assert model_server.stats["outcomes"]["cut_off"] == 1


def test_an_answer_cut_off_amid_its_words_is_asked_for_again_with_twice_the_room(
    model_server: FakeServer,
) -> None:
    model_server.options.faults = {"truncated": 1.0}
    drive(
        started_run(
            project_with_items(1),
            model=ModelSpecFactory.create(provider__base_url=model_server.base_url),
        )
    )
    assert [body["max_tokens"] for body in model_server.requests] == [1024, 2048]


def test_a_model_that_only_ever_thinks_pauses_the_run(model_server: FakeServer) -> None:
    """Each of its answers is paid for with the largest cap there is."""
    model_server.options.thinks = 10**6
    run = drive(started_run(project_with_items(80), model=model_at(model_server, name="brooder")))
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, "only_thinks")
    assert "Spent all 33,792 tokens on thinking. Raise 'Longest answer'" in run.message
    assert model_server.stats["outcomes"]["cut_off"] == 3 + 5
    # What was paid is counted, also of the call over which the run was paused.
    assert run.tokens_out == 1024 + 5120 + 21_504 + 5 * 33_792
    assert not Debate.objects.filter(status=Debate.Status.FAILED).exists()

    model_server.options.thinks = 0
    resume_run(run=run)
    assert drive(run).status == Run.Status.DONE


def test_a_text_over_which_a_model_never_ends_does_not_stop_the_others(
    model_server: FakeServer,
) -> None:
    numbers = iter(range(1000))

    def say(body: dict[str, Any]) -> tuple[int, Any]:
        cap = body["max_tokens"]
        # Four caps are tried over the first text.
        thought, finish = (cap, "length") if next(numbers) < 4 else (100, "stop")
        usage = {
            "prompt_tokens": 100,
            "completion_tokens": thought,
            "completion_tokens_details": {"reasoning_tokens": thought},
        }
        text = "" if finish == "length" else "Final Decision: good"
        return 200, completion(body["model"], text, finish_reason=finish, usage=usage)

    model_server.answer_with(say)
    model = model_at(model_server, structured="none")
    run = drive(started_run(project_with_items(40), model=model))
    assert (run.status, progress(run).unparsed) == (Run.Status.DONE, 1)
    caps = [body["max_tokens"] for body in model_server.requests]
    assert caps[4:24] == [33_792] * 20
    assert caps[-1] == 1024 + 256
    assert ModelSpec.objects.get().thinking_tokens == 256


def _amid_words(longest: int, answer: str) -> Any:
    def say(body: dict[str, Any]) -> tuple[int, Any]:
        cap = body["max_tokens"]
        if cap > longest:
            text = answer.format(cap=cap)
            return 400, {"error": {"message": text, "param": "max_tokens", "code": "invalid_value"}}
        return 200, completion(body["model"], "The text is about the", finish_reason="length")

    return say


@pytest.mark.parametrize(
    ("answer", "refused"),
    [
        ("max_tokens is too large: {cap}. This model supports at most 1024 completion tokens", 1),
        ("max_tokens is too large", 12),
    ],
)
def test_an_item_whose_larger_cap_is_refused_keeps_its_first_answer(
    model_server: FakeServer, answer: str, refused: int
) -> None:
    model_server.answer_with(_amid_words(1024, answer))
    model = model_at(model_server, thinking_tokens=0, structured="none")
    run = drive(started_run(project_with_items(12), "cot", model=model), width=1)
    assert (run.status, progress(run).unparsed) == (Run.Status.DONE, 12), run.message
    caps = Counter(body["max_tokens"] for body in model_server.requests)
    assert caps == {1024: 12, 2048: refused}
