"""Forms of an English word count as one word."""

from labelhub.core.similarity import stem
from tests.cases import all_cases


@all_cases(
    ("words", "expected"),
    [
        (("serve", "Served", "serving", "serves"), "serv"),
        (("price", "prices", "priced", "pricing"), "pric"),
        (("try", "tried", "tries"), "try"),
        (("bus",), "bus"),
        (("phòng",), "phòng"),
        (("x" * 5000,), "x" * 40),
    ],
)
def test_forms_of_a_word_share_a_stem(words: tuple[str, ...], expected: str) -> None:
    assert {stem(word) for word in words} == {expected}
