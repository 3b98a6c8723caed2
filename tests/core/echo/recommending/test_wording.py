"""Wording an offer: what is asked of a model, what becomes of its answer, and the label."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.recommending.offer_faults import labels
from labelhub.core.echo.recommending.wording import (
    Offer,
    OfferMoment,
    OfferPlan,
    Wording,
    word_offer,
)
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Completion, Output, Reply, Status
from labelhub.core.prompts import PromptLibrary
from tests.cases import all_cases
from tests.core.echo.recommending.wares import demo_index, ware

PROMPT = PromptLibrary(Path(__file__).parents[4] / "prompts").get("echo", "offer")
KETTLE = ware("k", "Boils a litre. Light.", title="Camping kettle", price=22, currency="USD")
MOMENT = OfferMoment("I want tea on the way.", "en", (("author", "Hello"),))
GOOD = "Offer: For tea on the way, a camping kettle that boils a litre."
BAD = "Offer: Guaranteed the cheapest kettle."


def plan(**more: Any) -> OfferPlan:
    return OfferPlan(prompt=PROMPT, salt="s", **more)


def worded(
    *replies: Reply | str, moment: OfferMoment = MOMENT, given: OfferPlan | None = None
) -> tuple[Offer, list[Call]]:
    """The offer after these replies, and the calls that were made."""
    run, calls, left = word_offer(KETTLE, moment, given or plan()), [], list(replies)
    try:
        (call,) = next(run)
        while True:
            calls.append(call)
            reply = left.pop(0)
            (call,) = run.send([Reply(reply) if isinstance(reply, str) else reply])
    except StopIteration as end:
        assert not left
        offer: Offer = end.value
        return offer, calls


def finished(run: Wording, reply: str) -> Offer:
    """The offer where a model always answers the same."""
    try:
        next(run)
        while True:
            run.send([Reply(reply)])
    except StopIteration as end:
        offer: Offer = end.value
        return offer


def test_a_good_answer_is_taken() -> None:
    offer, (call,) = worded(GOOD)
    assert offer.text == "For tea on the way, a camping kettle that boils a litre."
    assert (offer.source, offer.label) == ("model", "Recommendation")
    assert (call.step, call.role, call.output) == ("offer", "offer", Output.OFFER)
    assert call.prompt_hash == PROMPT.hash


def test_after_two_faulty_answers_the_template_is_taken() -> None:
    offer, calls = worded(BAD, "Offer: I like it.")
    assert offer.text == "Camping kettle: Boils a litre."
    assert offer.source == "template"
    assert "it claims what nobody can hold it to" in calls[1].messages[-1].content


@all_cases("status", [status for status in Status if status is not Status.OK])
def test_a_call_that_failed_is_not_made_again(status: Status) -> None:
    offer, calls = worded(Reply(status=status))
    assert (offer.source, len(calls)) == ("template", 1)


def test_an_answer_that_was_cut_off_is_not_shown() -> None:
    _, calls = worded(Reply(GOOD, cut_off=True), GOOD)
    assert "It is not finished." in calls[1].messages[-1].content


@given(st.text(max_size=200), st.text(max_size=80), st.sampled_from(["en", "de", "ja", "", "q-q"]))
def test_no_answer_breaks_or_bends_it(reply: str, message: str, language: str) -> None:
    offer = finished(word_offer(KETTLE, OfferMoment(message, language), plan()), reply)
    assert offer.label in labels()
    assert 0 < len(offer.text) <= 240
    assert "http" not in offer.text


@pytest.mark.parametrize("language", ["en", "de-CH", "es", "fr", "ja", "ar", "", "xx"])
async def test_the_offline_model_words_every_item_of_the_demo(language: str) -> None:
    for item in demo_index().items:
        run = word_offer(item, OfferMoment("tea " + item.id, language), plan())
        (call,) = next(run)
        completion = await OfflineModel().complete(call)
        assert completion == await OfflineModel().complete(call)
        with pytest.raises(StopIteration) as end:
            run.send([read_completion(call, completion)])
        assert end.value.value.source == "model"


def test_a_model_may_decline() -> None:
    (call,) = next(word_offer(KETTLE, MOMENT, plan()))
    declined = read_completion(call, Completion("I'm sorry, but I can't write that."))
    assert declined.status is Status.REFUSED
