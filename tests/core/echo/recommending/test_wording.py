"""Wording an offer: what is asked of a model, what becomes of its answer, and the label."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.recommending.wording import (
    CHARACTERS,
    LABELS,
    Offer,
    OfferMoment,
    offer_fault,
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
BIG = ware(
    "k",
    "Boils 1.5 litres on anything that burns. Made by Brennwerk.",
    title="Camping kettle",
    link="https://shop.example/k",
    price="22.00",
    currency="USD",
    tags="tea",
)
MESSAGE = "My sister Ada in Leeds wants hot tea on her trip over the hills next month."
MOMENT = OfferMoment("I want tea on the way.", "en", (("author", "Hello"),))
GOOD = "Offer: For tea on the way, a camping kettle that boils a litre."


def worded(reply: Reply | str, moment: OfferMoment = MOMENT, **more: Any) -> tuple[Offer, Call]:
    """The offer after this reply, and the call that was made."""
    run = word_offer(KETTLE, moment, PROMPT, "s", **more)
    (call,) = next(run)
    with pytest.raises(StopIteration) as end:
        run.send([Reply(reply) if isinstance(reply, str) else reply])
    offer: Offer = end.value.value
    return offer, call


def test_a_good_answer_is_taken() -> None:
    offer, call = worded(GOOD)
    assert offer.text == "For tea on the way, a camping kettle that boils a litre."
    assert (offer.source, offer.label) == ("model", "Recommendation")
    assert (call.step, call.role, call.output) == ("offer", "offer", Output.OFFER)
    assert call.prompt_hash == PROMPT.hash


@all_cases(
    "reply",
    [
        "Offer: A kettle that boils 3 litres.",
        Reply(GOOD, cut_off=True),
        *(Reply(status=status) for status in Status if status is not Status.OK),
    ],
)
def test_the_template_takes_the_place_of_what_may_not_be_shown(reply: Reply | str) -> None:
    offer, _ = worded(reply)
    assert offer.text == "Camping kettle: Boils a litre."
    assert offer.source == "template"


def test_personal_data_is_not_shown() -> None:
    assert worded(GOOD, leaks=lambda text: "tea" in text)[0].source == "template"


@given(st.text(max_size=200), st.text(max_size=80), st.sampled_from(["en", "de", "ja", "", "q-q"]))
def test_no_answer_breaks_or_bends_it(reply: str, message: str, language: str) -> None:
    offer, _ = worded(reply, OfferMoment(message, language))
    assert offer.label in LABELS.values()
    assert 0 < len(offer.text) <= 240
    assert "http" not in offer.text


@pytest.mark.parametrize("language", ["en", "de-CH", "es", "fr", "ja", "ar", "", "xx"])
async def test_the_offline_model_words_every_item_of_the_demo(language: str) -> None:
    for item in demo_index().items:
        run = word_offer(item, OfferMoment("tea " + item.id, language), PROMPT, "s")
        (call,) = next(run)
        completion = await OfflineModel().complete(call)
        assert completion == await OfflineModel().complete(call)
        with pytest.raises(StopIteration) as end:
            run.send([read_completion(call, completion)])
        assert end.value.value.source == "model"


def test_a_model_may_decline() -> None:
    (call,) = next(word_offer(KETTLE, MOMENT, PROMPT, "s"))
    declined = read_completion(call, Completion("I'm sorry, but I can't write that."))
    assert declined.status is Status.REFUSED


@all_cases(
    "text",
    [
        "For tea on the way: a camping kettle that boils 1.5 litres on anything that burns.",
        "A kettle for 22.00 USD, see https://shop.example/k.",
        "Für Tee unterwegs: ein Kessel, der auf jedem Feuer kocht, für 22 Dollar.",
        "Para el té en el camino: una tetera que hierve 1,5 litros.",
        "Pour le thé en route : une bouilloire qui va sur tout feu.",
        "旅先のお茶に、どんな火でも使えるCamping kettleです。",
        "للشاي في الطريق: إبريق يغلي على أي نار.",
    ],
)
def test_honest_words_pass(text: str) -> None:
    assert offer_fault(text, BIG, MESSAGE) == ""


@all_cases(
    ("text", "fault"),
    [
        ("", "length"),
        ("x" * 241, "length"),
        ("A kettle. It boils. It is small.", "length"),
        ("A kettle\u202e for tea.", "markup"),
        ("A <b>kettle</b> for tea.", "markup"),
        ("A [kettle](x) for tea.", "markup"),
        ("A kettle, see https://evil.example/k.", "address"),
        ("A kettle, see www.evil.example.", "address"),
        ("A kettle at evil.com for tea.", "address"),
        ("A kettle, write to a@b.example.", "address"),
        ("A kettle, see /demo/other for more.", "address"),
        ("A kettle for $19.", "price"),
        ("A kettle for 22 €.", "price"),
        ("A kettle for 40 dollars.", "figure"),
        ("A kettle, 99 cents.", "figure"),
        ("A kettle that boils 3 litres.", "figure"),
        ("A kettle, new since 1.5.2026.", "figure"),
        ("A kettle, guaranteed to last.", "claim"),
        ("Der günstigste Kessel, nur heute.", "claim"),
        ("This is not an ad: a kettle for tea.", "claim"),
        ("今だけのやかんです。", "claim"),
        ("A kettle, as she wants hot tea on her trip over the hills next month.", "quote"),
    ],
)
def test_what_may_not_be_said(text: str, fault: str) -> None:
    assert offer_fault(text, BIG, MESSAGE) == fault


@given(st.text(max_size=300))
def test_any_words_are_judged(text: str) -> None:
    fault = offer_fault(text, BIG, MESSAGE)
    assert fault == "length" or 0 < len(text.strip()) <= CHARACTERS
    assert fault or not set(text) & set("<>{}\0\u202e\ud800")
