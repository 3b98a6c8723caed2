"""Rate limits as headers spell them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.llm.failures import read_duration, read_rate_headers
from labelhub.core.llm.buckets import ReportedLimit


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1), ("120ms", 0.12), ("6m0s", 360), ("2m59.56s", 179.56), ("1h2m3s", 3723),
        ("1d", 86_400), ("7.66s", 7.66), ("30", 30), (" 0 ", 0),
        ("", None), ("soon", None), ("1s later", None), ("-3", None), ("nan", None),
    ],
)  # fmt: skip
def test_durations(text: str, seconds: float | None) -> None:
    found = read_duration(text)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_limits_of_requests_and_tokens() -> None:
    headers = {
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-limit-tokens": "30000",
    }
    found = read_rate_headers(headers)
    assert found == {"requests": ReportedLimit(500, 499, 0.12), "tokens": ReportedLimit(30_000)}


@pytest.mark.parametrize("limit", ["", "0", "-1", "many", "9" * 30, "1.5"])
def test_what_is_no_limit_is_not_told(limit: str) -> None:
    assert read_rate_headers({"x-ratelimit-limit-requests": limit}) == {}


@given(st.dictionaries(st.sampled_from([
    f"x-ratelimit-{kind}-{what}"
    for kind in ("limit", "remaining", "reset") for what in ("requests", "tokens")
]), st.text()))  # fmt: skip
def test_no_header_raises(headers: dict[str, Any]) -> None:
    read_rate_headers(headers)
