"""What an annotator did, in words: never "without a suggestion" where one was on the screen."""

from apps.labels.models import VIEW_UNKNOWN, Label


def words(**fields: object) -> str:
    """Of an unsaved label."""
    return Label(**{"action": Label.Action.NEW} | fields).action_words


def test_an_answer_says_whether_a_suggestion_was_shown() -> None:
    unknown = {VIEW_UNKNOWN: True}

    assert words() == "Labelled without a suggestion"
    assert words(shown_id=1) == "Labelled; a suggestion was shown"
    assert words(provenance=unknown) == "Labelled; unknown whether a suggestion was shown"
    assert words(abstained=True) == "Unsure"
    assert words(abstained=True, shown_id=1) == "Unsure; a suggestion was shown"
    assert (
        words(abstained=True, provenance=unknown)
        == "Unsure; unknown whether a suggestion was shown"
    )


def test_what_was_done_with_a_suggestion_says_itself_that_it_was_shown() -> None:
    assert words(action="accepted", shown_id=1) == "Accepted the suggestion"
    assert words(action="fixed", shown_id=1) == "Fixed the suggestion"
    assert words(rejected=True, action="rejected") == "Rejected the suggestion, gave no label"
