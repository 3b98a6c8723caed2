"""Texts made to keep the detectors busy: the time grows with the length, not with its square."""

import pytest

from labelhub.core.interview.redaction import redact
from tests.cases import all_cases
from tests.growth import assert_linear_time

#: In two parts, or the file itself would look as if it held one.
PEM = "PRIVATE" + " KEY"
UNITS = [
    *("a", "1", "1 ", "1.", "1-", "a.", "a@", "a@a.", "A ", "Ab ", "(", "+1", "é ", "\u200b", "一"),
    *("http://", "www.", "www.a", ":", "a:", "0:", "?a=", "a-", "[", "[name]", "{", "<", "'", "=_"),
    *("12 Ab ", "12 ab ", "A1", "A1B", "000 ", "000-", "私は"),
    *("password ", "eyJ", "sk-", f"-----BEGIN {PEM}-----", "0x", "iban ", "DE12 ", "IBAN A1 "),
    *("call 1", "4111 ", "123 456 ", "(dot)", "a [at] b", "x@y.com ", "call me 030 1234567 "),
]


@pytest.mark.thorough
@all_cases("unit", UNITS)
def test_the_time_grows_with_the_length(unit: str) -> None:
    assert_linear_time(redact, unit, 1_000)


@all_cases("unit", UNITS)
def test_a_second_time_changes_nothing_in_such_texts_either(unit: str) -> None:
    once = redact((unit * 600)[:600]).text
    assert redact(once).text == once
