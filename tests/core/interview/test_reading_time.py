"""How long a question needs to be read, and that no early answer gets through."""

from datetime import UTC, datetime, timedelta

from hypothesis import assume, given
from hypothesis import strategies as st

from labelhub.core.interview.limits import LEAST_MS, MOST_MS, Timing, judge_timing, minimum_ms
from tests.cases import all_cases

PUSHED = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MIN_MS = st.integers(LEAST_MS, MOST_MS)
PASSED = st.integers(0, 30_000)
CLAIMS = st.none() | st.integers(-(10**9), 10**12)


def after(ms: float) -> datetime:
    return PUSHED + timedelta(milliseconds=ms)


def timing(received: float, *, shown: float | None = 0, **changes: int | bool | None) -> Timing:
    asked: dict[str, int | bool | None] = {"min_ms": 7_000, "visible_ms": None} | changes
    seen = None if shown is None else after(shown)
    return judge_timing(pushed=PUSHED, shown=seen, received=after(received), **asked)  # type: ignore[arg-type]


@all_cases(
    ("question", "options", "ms"),
    [
        ("", (), 5_000),
        ("How urgent was it?", ("Very", "A little", "Not at all", "No idea"), 5_000),
        ("one " * 20, (), 5_600),
        (
            "When you wrote this, how soon did you want to have the thing?",
            ("As soon as possible", "Within this week", "Within this month", "Some time later"),
            7_280,
        ),
        ("word " * 200, (), 9_000),
        ("I'd say well-known — isn't it? …", ("– – –",), 5_000),
        ("现在很急吗" * 8, ("是", "不是"), 6_160),
        ("いつ 買いますか", ("GB" * 10,), 5_000),
    ],
)
def test_the_time_grows_with_the_words_between_five_and_nine_seconds(
    question: str, options: tuple[str, ...], ms: int
) -> None:
    assert minimum_ms(question, options) == ms


@all_cases(
    ("received", "shown", "verdict", "after_ms", "server_ms"),
    [
        (7_000, 0, "ok", 0, 7_000),
        (6_750, 0, "ok", 0, 6_750),
        (6_749, 0, "too_early", 1, 6_749),
        (6_749.9, 0, "too_early", 1, 6_749),
        (7_750, 1_000, "ok", 0, 6_750),
        (7_000, 1_000, "too_early", 750, 6_000),
        (6_750, -3_000, "ok", 0, 6_750),
        (0, 0, "too_early", 6_750, 0),
    ],
)
def test_the_server_s_clock_decides(
    received: float, shown: float, verdict: str, after_ms: int, server_ms: int
) -> None:
    assert timing(received, shown=shown) == Timing(verdict, after_ms, server_ms)  # type: ignore[arg-type]


@all_cases("shown", [None, 60_000])
@all_cases(
    ("visible_ms", "verdict", "after_ms"),
    [(7_000, "client_attested", 0), (6_500, "too_early", 500), (None, "too_early", 7_000)],
)
def test_after_a_time_offline_the_browser_s_clock_is_asked_too(
    shown: float | None, visible_ms: int | None, verdict: str, after_ms: int
) -> None:
    found = timing(60_000, shown=shown, visible_ms=visible_ms, shown_in_replay=shown is not None)
    assert found == Timing(verdict, after_ms, 60_000)  # type: ignore[arg-type]


@given(MIN_MS, PASSED, PASSED, CLAIMS, st.booleans())
def test_no_forged_answer_comes_early(
    min_ms: int, shown: int, passed: int, claim: int | None, replay: bool
) -> None:
    """Whatever a client claims, and whether or not it reports ``shown``."""
    assume(passed < min_ms - 250)
    for reported in (None, shown, 0):
        found = timing(
            passed, shown=reported, min_ms=min_ms, visible_ms=claim, shown_in_replay=replay
        )
        assert found.verdict == "too_early"
        assert 0 < found.after_ms <= min_ms


@given(MIN_MS, st.integers(0, 600), st.integers(0, 300))
def test_an_honest_answer_is_never_refused_for_jitter(min_ms: int, way: int, jitter: int) -> None:
    """``shown`` may take up to 250 ms longer than the answer that follows ``min_ms`` later."""
    assume(jitter <= 250)
    assert timing(way + min_ms, shown=way + jitter, min_ms=min_ms).verdict == "ok"
