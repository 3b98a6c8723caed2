"""Reading questions from what models write."""

import json
import time
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelhub.core.interview.questions import Draft, Unreadable, faults, read_draft
from labelhub.core.interview.questions.reading import MOST_CHARACTERS, MOST_OPTIONS
from tests.core.interview.cases import CAUSE, RECIPIENT, URGENCY, WORD

QUESTION = "How urgent did this feel to you?"
VALUES = {"None": "no_hurry", "Weeks": "later", "Days": "soon", "Today": "right_now"}
PLAIN = f"""Question: {QUESTION}
Options:
- None = no_hurry
- Weeks = later
- Days = soon
- Today = right_now"""

FORMS = {
    "as asked for": PLAIN,
    "thinking first": f"<think>Question: What?\nOptions:\n- a</think>\n{PLAIN}",
    "thinking not begun": f"hm, let me see</think>{PLAIN}",
    "in a code fence": f"```text\n{PLAIN}\n```",
    "a word before": f"Sure, here it is:\n\n{PLAIN}\n\nI hope this helps.",
    "other line ends": PLAIN.replace("\n", "\r\n"),
    "bold": PLAIN.replace("Question:", "**Question:**").replace("Options:", "**Options:**"),
    "quoted": PLAIN.replace(QUESTION, f"“{QUESTION}”").replace("- None =", "- “None” ="),
    "numbered": PLAIN.replace("- N", "1. N").replace("- W", "2. W").replace("- D", "3. D"),
    "lettered": f"Question: {QUESTION}\nA. None = no_hurry\nB. Weeks = later\nC. Days = soon\n"
    "D. Today = right_now",
    "in brackets": f"Question: {QUESTION}\n1) None (no_hurry)\n2) Weeks (later)\n3) Days (soon)\n"
    "4) Today (right_now)",
    "arrows": PLAIN.replace(" = ", " -> "),
    "full width": f"質問：{QUESTION}\n選択肢：\n・None＝no_hurry\n・Weeks＝later\n・Days＝soon\n"
    "・Today＝right_now",
    "no label": PLAIN.removeprefix("Question: "),
    "question on the next line": PLAIN.replace("Question: ", "Question:\n"),
    "no bullets": PLAIN.replace("- ", ""),
    "on one line": f"Question: {QUESTION}\nOptions: A. None = no_hurry B. Weeks = later "
    "C. Days = soon D. Today = right_now",
    "cut by bars": f"Question: {QUESTION}\nOptions: None = no_hurry | Weeks = later | Days = soon "
    "| Today = right_now",
    "out of order": f"Question: {QUESTION}\n- Today = right_now\n- Days = soon\n- Weeks = later\n"
    "- None = no_hurry",
    "values first": PLAIN.replace("None = no_hurry", "no_hurry = None"),
    "values spelled with blanks": PLAIN.replace("no_hurry", "No hurry").replace("t_n", "t n"),
    "json, values to words": json.dumps(
        {"question": QUESTION, "options": {value: words for words, value in VALUES.items()}}
    ),
    "json, words to values": json.dumps({"Question": QUESTION, "Options": VALUES}),
    "json, objects": json.dumps(
        {
            "question": QUESTION,
            "options": [{"text": words, "value": value} for words, value in VALUES.items()],
        }
    ),
    "json, lines": json.dumps(
        {"question": QUESTION, "options": [" = ".join(pair) for pair in VALUES.items()]}
    ),
    "json among words": "Here: "
    + json.dumps({"question": QUESTION, "options": VALUES}, indent=2)
    + "\nDone.",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_question_is_read_from(form: str) -> None:
    draft = read_draft(FORMS[form], URGENCY, "soon", "en")
    assert draft.text == QUESTION
    assert draft.options == tuple(VALUES)
    assert draft.values == VALUES
    assert draft.predicted == "Days"
    assert (draft.feature, draft.kind, draft.source) == ("urgency", "choice", "model")


def test_options_that_spell_a_value_stand_for_it() -> None:
    text = f"Question: {QUESTION}\n- No hurry\n- Later\n- Soon\n- Right now"
    assert set(read_draft(text, URGENCY, "later", "en").values.values()) == set(URGENCY.values)


def test_an_unknown_value_is_not_guessed() -> None:
    draft = read_draft(PLAIN.replace("= soon", "= sooner"), URGENCY, "soon", "en")
    assert "Days" not in draft.values
    assert draft.predicted == ""


def test_values_that_are_no_scale_stay_in_the_order_of_the_model() -> None:
    text = "Question: For whom?\n- Pets = pet\n- Me = myself\n- Friends = friend\n- Kin = family"
    assert read_draft(text, RECIPIENT, "pet", "en").options == ("Pets", "Me", "Friends", "Kin")


def test_an_open_choice_is_read_without_values() -> None:
    text = "Question: What caused it?\n- Noise\n- “The heat”\n- Work.\n- A = B"
    draft = read_draft(text, CAUSE, "the heat", "en")
    assert draft.options == ("Noise", "The heat", "Work", "A = B")
    assert draft.predicted == "The heat"
    assert not draft.values


@pytest.mark.parametrize(
    "text",
    [
        "Question: Which one word says it?",
        "Which one word says it?",
        '{"question": "Which one word says it?"}',
    ],
)
def test_a_question_for_one_word(text: str) -> None:
    draft = read_draft(text + "\n- loud", WORD, "quiet", "en")
    assert (draft.text, draft.kind, draft.options) == ("Which one word says it?", "word", ())


def test_japanese() -> None:
    text = "質問：どのくらい急いでいましたか？\n１．急がない＝no_hurry\n２．いつか＝later\n３．今日＝soon\n４．今＝right_now"  # noqa: E501
    draft = read_draft(text, URGENCY, "soon", "ja")
    assert draft.text == "どのくらい急いでいましたか？"
    assert draft.options == ("急がない", "いつか", "今日", "今")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no question"),
        ("I cannot say.", "no question"),
        ("Question:", "no question"),
        ("<think>Question: What?", "no question"),
        (f"Question: {QUESTION}", "no options"),
        ("Question: One?\n- a\nQuestion: Two?\n- b", "more than one"),
        ("x" * (MOST_CHARACTERS + 1), "longer than"),
        ('{"question": "How?", "options": 4}', "no options"),
    ],
)
def test_what_is_no_question_is_refused(text: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        read_draft(text, URGENCY, "soon", "en")


def test_not_more_options_are_read_than_any_question_has() -> None:
    text = f"Question: {QUESTION}\n" + "\n".join(f"- option {n}" for n in range(40))
    assert len(read_draft(text, URGENCY, "soon", "en").options) == MOST_OPTIONS


@pytest.mark.parametrize(
    "piece",
    ["(", "a (", " =", "how ", "a@", "“", "> ", "A. ", "{", '{"question":', "\u0301", "a/b"],
)
def test_hostile_answers_are_cheap_to_read_and_check(piece: str) -> None:
    many = piece * ((MOST_CHARACTERS - 60) // len(piece))
    start = time.perf_counter()
    forms = (many, f"Question: {many}?\n- a", f"Question: a?\n- {many}", f"a?\nOptions:{many}")
    for text in forms:
        with suppress(Unreadable):
            faults(read_draft(text, URGENCY, "soon", "en"), many, URGENCY)
    assert time.perf_counter() - start < 1


PIECES = st.sampled_from(
    [
        *("Question:", "Options:", "- ", "=", "soon", "later", "A. ", "1)", "?", "？", "\n", " "),
        *("{", "}", '"question":', '"options":', "[", "]", ",", '"', "```", "\ud800", "\u202e"),
        *("<think>", "</think>", '<text id="0123abcd">'),
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join)))
@example('{"question": "a", "options": [[], {}, [[]], null, 1]}')
@example('{"question": "a", "options": {"": ""}}')
@example("{" * 3000)
@example("[" * 5000 + '{"question":' * 20)
def test_whatever_a_model_writes_is_a_draft_or_unreadable(text: str) -> None:
    for feature in (URGENCY, CAUSE, WORD):
        try:
            draft = read_draft(text, feature, "soon", "en")
        except Unreadable:
            continue
        assert isinstance(draft, Draft)
        assert draft.feature == feature.key
        assert set(draft.values.values()) <= set(feature.values)
        assert len(draft.options) <= MOST_OPTIONS
