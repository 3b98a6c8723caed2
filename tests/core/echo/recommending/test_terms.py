"""Words in the form in which they are compared; values that say no."""

from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.recommending.terms import denied, is_no, is_yes, spelled, terms
from tests.cases import all_cases


@all_cases(
    ("text", "found"),
    [
        ("I am looking for two Tents, please!", ["two", "tent"]),
        ("Ich suche einen Rucksack", ["rucksack"]),
        ("right_now", ["right"]),
        ("under $80", ["80"]),
        ("ランタン", ["ラン", "ンタ", "タン"]),
        ("x ? !", []),
    ],
)
def test_what_says_something_is_kept(text: str, found: list[str]) -> None:
    assert terms(text) == found


@all_cases(
    ("value", "rest"),
    [
        ("no plastic", "plastic"),
        ("not_heavy", "heavy"),
        ("ohne Leder", "leder"),
        ("sans sucre", "sucre"),
        ("non-slip", "slip"),
        ("no", ""),
        ("notebook", ""),
        ("heavy, not light", ""),
    ],
)
def test_what_a_value_says_no_to(value: str, rest: str) -> None:
    assert denied(value) == rest


def test_bare_yes_and_no() -> None:
    assert [is_yes("Ja"), is_yes("no"), is_no("No"), is_no("none")] == [True, False, True, False]


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert all(terms(text))
    assert spelled(text) == spelled(f" {text}_") == spelled(text.replace(" ", "_"))
    assert denied(text) == denied(text.replace(" ", "_"))
