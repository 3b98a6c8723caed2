"""Log-probabilities as endpoints send them, and as nobody should."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.llm.wire import read_logprobs
from labelhub.core.llm.types import TokenChoices

TOP = [{"token": "A", "logprob": -0.1, "bytes": [65]}, {"token": "B", "logprob": -2.3}]


def test_tokens_come_with_their_choices() -> None:
    raw = {"content": [{"token": "A", "logprob": -0.1, "top_logprobs": TOP}, {"token": " x", "logprob": -1}]}  # fmt: skip  # noqa: E501
    assert read_logprobs(raw) == (
        TokenChoices("A", -0.1, (("A", -0.1), ("B", -2.3))),
        TokenChoices(" x", -1.0),
    )


@pytest.mark.parametrize(
    "raw",
    [
        None, [], "x", {}, {"content": None}, {"content": "x"}, {"content": [None]},
        {"content": [{"token": 1, "logprob": -1}]}, {"content": [{"token": "a"}]},
        {"content": [{"token": "a", "logprob": "-1"}]},
        {"content": [{"token": "a", "logprob": True}]},
        {"content": [{"token": "a", "logprob": math.nan}]},
        {"content": [{"token": "a", "logprob": -1}, {"token": None, "logprob": -1}]},
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_none_at_all(raw: Any) -> None:
    assert read_logprobs(raw) == ()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["content", "token", "logprob", "top_logprobs"]) | st.text(), inner
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.thorough
@given(_JSON)
def test_nothing_an_endpoint_sends_raises(raw: Any) -> None:
    read_logprobs(raw)
    read_logprobs({"content": [raw]})
    read_logprobs({"content": [{"token": "a", "logprob": -1, "top_logprobs": [raw]}]})
