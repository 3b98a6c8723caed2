"""What may not be said in an offer, and that honest words pass."""

from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.recommending.offer_faults import OfferLimits, offer_faults
from tests.cases import all_cases
from tests.core.echo.recommending.wares import ware

KETTLE = ware(
    "k",
    "Boils 1.5 litres on anything that burns. Made by Brennwerk.",
    title="Camping kettle",
    link="https://shop.example/k",
    price="22.00",
    currency="USD",
    tags="tea",
)
MESSAGE = "My sister Ada in Leeds wants hot tea on her trip over the hills next month."


def codes(text: str, language: str = "en", limits: OfferLimits | None = None) -> list[str]:
    found = offer_faults(
        text,
        KETTLE,
        message_text=MESSAGE,
        language=language,
        limits=limits or OfferLimits(),
    )
    return [fault.code for fault in found]


@all_cases(
    ("text", "language"),
    [
        (
            "For tea on the way: a camping kettle that boils 1.5 litres on anything that burns.",
            "en",
        ),
        ("The Camping kettle by Brennwerk costs $22. It boils on anything that burns.", "en"),
        ("A kettle for 22.00 USD, see https://shop.example/k.", "en"),
        ("Für Tee unterwegs: ein Kessel, der auf jedem Feuer kocht, für 22 Dollar.", "de"),
        ("Para el té en el camino: una tetera que hierve 1,5 litros.", "es"),
        ("Pour le thé en route : une bouilloire qui va sur tout feu.", "fr"),
        ("旅先のお茶に、どんな火でも使えるCamping kettleです。", "ja"),
        ("للشاي في الطريق: إبريق يغلي على أي نار.", "ar"),
    ],
)
def test_honest_words_pass(text: str, language: str) -> None:
    assert codes(text, language) == []


@all_cases(
    ("text", "code"),
    [
        ("", "empty"),
        ("x" * 241, "too_long"),
        ("A kettle. It boils. It is small.", "too_long"),
        ("A kettle\u202e for tea.", "control_character"),
        ("A <b>kettle</b> for tea.", "markup"),
        ("A [kettle](x) for tea.", "markup"),
        ("A kettle, see https://evil.example/k.", "address"),
        ("A kettle, see www.evil.example.", "address"),
        ("A kettle at evil.com for tea.", "address"),
        ("A kettle, write to a@b.example.", "address"),
        ("A kettle, see /demo/other for more.", "address"),
        ("A kettle for $19.", "price"),
        ("A kettle for 22 €.", "price"),
        ("A kettle for 40 dollars.", "price"),
        ("A kettle, 99 cents.", "price"),
        ("A kettle that boils 3 litres.", "figure"),
        ("A kettle as good as one by Acme.", "name"),
        ("A kettle that beats the TeaMaster.", "name"),
        ("A kettle for your sister Ada.", "name"),
        ("A kettle, guaranteed to last.", "claim"),
        ("The cheapest kettle there is.", "claim"),
        ("A kettle, only today.", "urgency"),
        ("A kettle, while stocks last.", "urgency"),
        ("I suggest this kettle for tea.", "speaker"),
        ("As your assistant said, a kettle.", "speaker"),
        ("This is not an ad: a kettle for tea.", "hidden_offer"),
        ("A kettle, as she wants hot tea on her trip over the hills next month.", "quote"),
    ],
)
def test_what_may_not_be_said(text: str, code: str) -> None:
    assert code in codes(text)


def test_personal_data_is_asked_for() -> None:
    limits = OfferLimits(leaks=lambda text: "tea" in text)
    assert codes("A kettle for tea.", "en", limits) == ["personal_data"]


@given(st.text(max_size=300), st.sampled_from(["en", "de", "es", "fr", "ja", "ar", "", "xx-y"]))
def test_any_words_are_judged(text: str, language: str) -> None:
    found = codes(text, language)
    assert (found == ["empty"]) is (not text.strip())
    assert ("too_long" in found) or len(text) <= OfferLimits().most_characters
    assert found or not set(text) & set("<>{}\0\u202e\ud800")
