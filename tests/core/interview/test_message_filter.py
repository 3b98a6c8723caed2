"""Messages that are left alone without a model, in any language."""

from labelhub.core.interview.message_filter import screen

DROPPED = {
    "empty": ["", "   ", "?!", "🙂"],
    "too_short": ["ok", "hello", "Danke!", "はい", "broken"],
    "machine_like": [
        *("asdfghjkl", "sdfkjhsdkfjh skdjfhksjdf", "aaaaaaaaaa", "x" * 80),
        *("buy buy buy buy buy buy buy", "one two three " * 5, "Dear {{name}}, it is here"),
    ],
    "spam": [
        "Great deals at https://a.example and https://b.example",
        "Write me on t.me/deals for cheap watches",
        "Visit www.shop.example or call +1 555 123 45 67 89",
    ],
    "overlong": [" ".join(f"The lamp number {n} is far too bright for me." for n in range(99))],
}  # fmt: skip


def test_what_says_nothing_is_left_alone() -> None:
    wrong = {
        text[:60]: screen(text).reason
        for reason, texts in DROPPED.items()
        for text in texts
        if screen(text).reason != reason
    }
    assert wrong == {}


def test_the_same_again_is_not_asked_about_twice() -> None:
    assert screen("A tent, please!", recent=["a tent please"]).reason == "repeated"
    assert screen("A tent, please!", recent=["a red tent please"]).passed


def test_a_hostile_text_is_screened_at_once() -> None:
    for text in ("(" * 50_000, "a " * 50_000, "\u0301" * 50_000, "x=" * 20_000):
        assert screen(text).reason in {"empty", "machine_like", "overlong"}
