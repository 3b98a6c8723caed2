"""Words about offers: every language has a label, and patterns that find what they name."""

from labelhub.core.echo.recommending.offer_tables import (
    is_known,
    label_of,
    labels,
    offer_table,
    plain,
    tables_for,
)
from tests.cases import all_cases


@all_cases(
    ("language", "label"),
    [
        ("en", "Recommendation"),
        ("de-AT", "Empfehlung"),
        ("es", "Recomendación"),
        ("fr", "Recommandation"),
        ("ja", "おすすめ"),
        ("ar", "توصية"),
        ("tlh", "Recommendation"),
        ("", "Recommendation"),
    ],
)
def test_every_language_has_a_label(language: str, label: str) -> None:
    assert label_of(language) == label
    assert label in labels()


def test_other_languages_are_spoken_of_in_english() -> None:
    assert (is_known("de_DE"), is_known("tlh")) == (True, False)
    assert tables_for("tlh") == (offer_table("en"),)
    assert tables_for("fr") == (offer_table("fr"), offer_table("en"))


@all_cases(
    ("language", "said"),
    [
        ("en", "Guaranteed to please"),
        ("de", "das Günstigste überhaupt"),
        ("es", "el más barato"),
        ("fr", "c’est garanti"),
        ("ja", "これは最安です"),
        ("ar", "هذا الأفضل لك"),
    ],
)
def test_claims_are_found(language: str, said: str) -> None:
    assert offer_table(language).claims.search(plain(said))


def test_words_are_whole() -> None:
    assert offer_table("en").claims.search(plain("a bestial, imperfect tent")) is None
    assert offer_table("de").speaker.search(plain("für dich, michelangelo")) is None
