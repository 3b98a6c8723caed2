"""Which features of many are judged for one message."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.interview.calls import MOST_JUDGED, ORDINARY, VERDICTS, judged_first
from labelhub.core.interview.features import Feature
from labelhub.core.interview.pipeline import AuthorMessage, InterviewPlan, ask
from labelhub.core.llm.types import Reply
from tests.core.interview.cases import URGENCY
from tests.fakes.offline_interview import PROMPTS


def features(count: int) -> list[Feature]:
    return [replace(URGENCY, key=f"u{number}") for number in range(count)]


def keys(found: list[Feature]) -> list[str]:
    return [feature.key for feature in found]


@given(st.integers(0, 30), st.integers(1, 12), st.data(), st.text())
def test_those_asked_about_least_are_judged_and_none_is_lost(
    count: int, most: int, data: st.DataObject, text: str
) -> None:
    every = features(count)
    asked = data.draw(st.dictionaries(st.sampled_from(keys(every) or [""]), st.integers(0, 3)))
    judged, left_out = judged_first(every, asked, text, most=most)
    assert len(judged) == min(count, most)
    assert sorted(keys(judged + left_out)) == sorted(keys(every))
    for part in (judged, left_out):
        assert keys(part) == [key for key in keys(every) if key in keys(part)]
    if left_out:
        highest = max(asked.get(key, 0) for key in keys(judged))
        assert highest <= min(asked.get(key, 0) for key in keys(left_out))


def test_the_same_message_gets_the_same_ones_and_messages_share_their_sets() -> None:
    every = features(300)
    sets = {tuple(keys(judged_first(every, {}, f"message {index}")[0])) for index in range(300)}
    assert keys(judged_first(every, {}, "a")[0]) == keys(judged_first(every, {}, "a")[0])
    assert 1 < len(sets) <= -(-300 // MOST_JUDGED)


def test_each_has_its_turn() -> None:
    every = features(300)
    turns = Counter(
        key for index in range(500) for key in keys(judged_first(every, {}, str(index))[0])
    )
    assert set(turns) == set(keys(every))


@pytest.mark.parametrize("count", [MOST_JUDGED, 300, 1000])
def test_one_call_holds_no_more_than_the_limit_and_the_stage_says_the_rest(count: int) -> None:
    always = replace(URGENCY, key="always", always=True)
    plan = InterviewPlan(features=(always, *features(count)), prompts=PROMPTS, salt="s")
    run = ask(AuthorMessage("I need a quiet one.", "en"), plan)
    ((call),) = next(run)
    assert len(call.schema.names) == len(VERDICTS) + MOST_JUDGED + 1
    run.send([Reply(value=[ORDINARY])])
    result = None
    try:
        while True:
            run.send([Reply(value="soon")])
    except StopIteration as end:
        result = end.value
    found = result.stages[0].data
    assert len(found.get("left_out", [])) == count - MOST_JUDGED
    assert not set(found.get("left_out", [])) & set(call.schema.names)
