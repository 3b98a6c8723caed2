"""Questions from templates and from models' replies, and the order of their options."""

import json
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelhub.core.interview.features import Template
from labelhub.core.interview.question_checks import faults
from labelhub.core.interview.questions import (
    MOST_CHARACTERS,
    MOST_OPTIONS,
    Draft,
    Unreadable,
    read_draft,
    shuffle_options,
    template_draft,
)
from tests.cases import all_cases
from tests.core.interview.cases import CAUSE, GOOD, URGENCY, WORD

QUESTION = "How urgent did this feel to you?"
OWN = ("Not at all", "Some time", "Fairly soon", "Right now")
WORDS = ("None", "Weeks", "Days", "Today")
PLAIN = f"""Question: {QUESTION}
Options:
- None
- Weeks
- Days
- Today"""

FORMS = {
    "as asked for": PLAIN,
    "thinking first": f"<think>Question: What?\nOptions:\n- a</think>\n{PLAIN}",
    "thinking not begun": f"hm, let me see</think>{PLAIN}",
    "in a code fence": f"```text\n{PLAIN}\n```",
    "a word before": f"Sure, here it is:\n\n{PLAIN}\n\nI hope this helps.",
    "other line ends": PLAIN.replace("\n", "\r\n"),
    "bold": PLAIN.replace("Question:", "**Question:**").replace("Options:", "**Options:**"),
    "quoted": PLAIN.replace(QUESTION, f"“{QUESTION}”").replace("- None", "- “None”"),
    "numbered": PLAIN.replace("- N", "1. N").replace("- W", "2. W").replace("- D", "3. D"),
    "lettered": f"Question: {QUESTION}\nA. None\nB. Weeks\nC. Days\nD. Today",
    "in brackets": f"Question: {QUESTION}\n1) None\n2) Weeks\n3) Days\n4) Today",
    "full width": f"質問：{QUESTION}\n選択肢：\n・None\n・Weeks\n・Days\n・Today",
    "no label": PLAIN.removeprefix("Question: "),
    "question on the next line": PLAIN.replace("Question: ", "Question:\n"),
    "no bullets": PLAIN.replace("- ", ""),
    "on one line": f"Question: {QUESTION}\nOptions: A. None B. Weeks C. Days D. Today",
    "cut by bars": f"Question: {QUESTION}\nOptions: None | Weeks | Days | Today",
    "json": json.dumps({"question": QUESTION, "options": WORDS}),
    "json, words to values": json.dumps(
        {"Question": QUESTION, "Options": {words: words.lower() for words in WORDS}}
    ),
    "json, objects": json.dumps(
        {"question": QUESTION, "options": [{"text": words, "value": "x"} for words in WORDS]}
    ),
    "json among words": "Here: "
    + json.dumps({"question": QUESTION, "options": WORDS}, indent=2)
    + "\nDone.",
}


@all_cases("form", FORMS)
def test_of_fixed_values_the_question_alone_is_read_from(form: str) -> None:
    draft = read_draft(FORMS[form], URGENCY, "soon", "en")
    assert draft.text == QUESTION
    assert draft.options == OWN
    assert draft.values == dict(zip(OWN, URGENCY.values, strict=True))
    assert draft.predicted == "Fairly soon"
    assert (draft.feature, draft.kind, draft.source) == ("urgency", "choice", "model")


@pytest.mark.parametrize(
    "options",
    [
        "",
        "\n- No hurry = right_now\n- Later = soon\n- Soon = later\n- Right now = no_hurry",
        "\n- Not at all = right_now\n- Right now = no_hurry",
        "\n- Fairly soon = sooner",
    ],
)
def test_no_words_of_a_model_change_what_an_answer_means(options: str) -> None:
    draft = read_draft(f"Question: {QUESTION}{options}", URGENCY, "soon", "en")
    assert draft.values == dict(zip(OWN, URGENCY.values, strict=True))
    assert draft.predicted == "Fairly soon"


@all_cases(
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
        read_draft(text, CAUSE, "noise", "en")


@all_cases(
    "piece",
    ["(", "a (", " =", "how ", "a@", "“", "> ", "A. ", "{", '{"question":', "\u0301", "a/b"],
)
def test_hostile_answers_are_cheap_to_read_and_check(piece: str) -> None:
    many = piece * ((MOST_CHARACTERS - 60) // len(piece))
    start = time.thread_time()
    forms = (many, f"Question: {many}?\n- a", f"Question: a?\n- {many}", f"a?\nOptions:{many}")
    for text in forms:
        with suppress(Unreadable):
            faults(read_draft(text, URGENCY, "soon", "en"), many, URGENCY)
    # Processor seconds: a busy machine makes nothing dearer. By the square it would be minutes.
    assert time.thread_time() - start < 4


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


def test_a_template_offers_the_predicted_value() -> None:
    draft = template_draft(URGENCY, "soon", "en")
    assert draft is not None
    assert (draft.source, draft.kind, draft.ordinal) == ("template", "choice", True)
    assert draft.predicted == "Fairly soon"
    assert draft.values[draft.predicted] == "soon"


def test_an_open_choice_offers_the_predicted_words_and_three_of_its_own() -> None:
    options = {letter: f"Cause {letter}" for letter in "abcd"}
    feature = replace(CAUSE, templates={"en": Template("What caused it?", options)})
    draft = template_draft(feature, "a noisy street", "en")
    assert draft is not None
    assert draft.options == ("a noisy street", "Cause a", "Cause b", "Cause c")
    assert draft.predicted == "a noisy street"
    assert not draft.values
    assert template_draft(feature, " ", "en") is None


def test_japanese() -> None:
    text = "質問：何がきっかけでしたか？\n１．騒音\n２．暑さ\n３．仕事\n４．好奇心"
    draft = read_draft(text, CAUSE, "暑さ", "ja")
    assert draft.text == "何がきっかけでしたか？"
    assert (draft.options, draft.predicted) == (("騒音", "暑さ", "仕事", "好奇心"), "暑さ")


def test_a_scale_is_kept_or_turned_round_about_equally_often() -> None:
    orders = Counter(shuffle_options(GOOD, f"seed {number}") for number in range(400))
    assert set(orders) == {GOOD.options, GOOD.options[::-1]}
    assert 150 < orders[GOOD.options] < 250


def test_other_options_come_in_every_order_about_equally_often() -> None:
    nominal = replace(GOOD, ordinal=False)
    orders = Counter(shuffle_options(nominal, f"seed {number}") for number in range(4800))
    assert len(orders) == 24
    assert min(orders.values()) > 140
    assert max(orders.values()) < 270
