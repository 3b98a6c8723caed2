"""Texts made to keep the detectors busy: the time grows with the length, not with its square."""

import time

import pytest

from labelhub.core.interview.redaction import redact
from tests.cases import all_cases

SHORT, LONG = 2_000, 8_000
#: Four times the length may take four times as long; a square would be sixteen.
MOST_GROWTH = 10
#: Below this a machine that has other work measures itself.
SECONDS_IGNORED = 0.1

#: In two parts, or the file itself would look as if it held one.
PEM = "PRIVATE" + " KEY"
UNITS = [
    *("a", "1", "1 ", "1.", "1-", "a.", "a@", "a@a.", "A ", "Ab ", "(", "+1", "é ", "\u200b", "一"),
    *("http://", "www.", "www.a", ":", "a:", "0:", "?a=", "a-", "[", "[name]", "{", "<", "'", "=_"),
    *("12 Ab ", "12 ab ", "Ab 1\n", "1 Ab, ", "address 1 Ab ", "Rue ", "12 rue de la ", "Suite 1 "),
    *("my name is ", "My name is Ab ", "Dear Ab", "Mr. A", "regards\nAb ", "Ab van der ", "私は"),
    *("password ", "eyJ", "sk-", f"-----BEGIN {PEM}-----", "0x", "iban ", "DE12 ", "IBAN A1 "),
    *("born on 1 ", "call 1", "ssn 1", "4111 ", "123 456 ", "dot ", "a at b dot ", "a [at] b"),
    *("x@y.com ", "12 Main Street, ", "Hauptstraße", "corner of Ab and ", "call me 030 1234567 "),
]


def seconds(text: str) -> float:
    """Of this thread on a processor; the shorter of two runs: other work only ever adds."""
    runs = []
    for _ in range(2):
        begun = time.thread_time()
        redact(text)
        runs.append(time.thread_time() - begun)
    return min(runs)


@pytest.mark.thorough
@all_cases("unit", UNITS)
def test_the_time_grows_with_the_length(unit: str) -> None:
    long = seconds((unit * LONG)[:LONG])
    if long > SECONDS_IGNORED:
        assert long <= MOST_GROWTH * seconds((unit * SHORT)[:SHORT])


@all_cases("unit", UNITS)
def test_a_second_time_changes_nothing_in_such_texts_either(unit: str) -> None:
    once = redact((unit * 600)[:600]).text
    assert redact(once).text == once
