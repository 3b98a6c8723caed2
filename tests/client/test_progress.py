"""Bars, callbacks, and lines that are cut right."""

import io
import json
import sys
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub_client import AnswerLost, Bar, Client, Progress, RunStopped, WaitedTooLong, WrongUse
from labelhub_client.exchange import parse_rows
from labelhub_client.progress import choose_callback, format_amount, format_line, ignore_progress
from tests.client.helpers import ADDRESS, KEY, scripted

MOMENT = st.builds(
    Progress,
    what=st.text(max_size=20),
    done=st.integers(0, 10**15),
    total=st.none() | st.integers(0, 10**15),
    unit=st.sampled_from(["B", "rows"]),
    note=st.text(),
    ended=st.booleans(),
)


@given(moment=MOMENT, width=st.integers(20, 200))
def test_a_line_fits_and_moves_no_cursor(moment: Progress, width: int) -> None:
    line = format_line(moment, width)
    assert len(line) <= width
    assert line.isprintable()


def test_a_line_says_how_far_it_is() -> None:
    half = Progress(what="Import", done=5000, total=10_000, unit="rows")
    assert format_line(half, 60) == "Import  [##########..........]   50%  5,000 of 10,000 rows"
    export = Progress(what="Export", done=1_234_567, total=None, unit="B", note="slow")
    assert format_line(export, 60) == "Export  1.2 MB  slow"
    assert [format_amount(number, "B") for number in (0, 999, 1000, 5 * 10**15)] == [
        "0 B", "999 B", "1.0 kB", "5000.0 TB",
    ]  # fmt: skip


def test_a_bar_is_not_drawn_more_often_than_eyes_see() -> None:
    stream, now = io.StringIO(), [0.0]
    bar = Bar(stream, clock=lambda: now[0])
    for done in range(100):
        now[0] += 0.01
        bar(Progress(what="Import", done=done, total=100, unit="rows"))
    bar(Progress(what="Import", done=100, total=100, unit="rows", ended=True))
    assert 5 <= stream.getvalue().count("\r") <= 12
    assert stream.getvalue().endswith("\n")
    assert "100 of 100 rows" in stream.getvalue()


def test_a_bar_shows_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_callback(None) is ignore_progress
    assert choose_callback(False) is ignore_progress
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert isinstance(choose_callback(None), Bar)
    assert isinstance(choose_callback(True), Bar)
    reports: list[Progress] = []
    assert choose_callback(reports.append) == reports.append


def run(status: str, done: int = 0, **more: Any) -> httpx.Response:
    """A run as the server tells it."""
    progress = dict.fromkeys(
        ["unparsed", "failed", "waiting", "turns", "tokens_in", "tokens_out"], 0
    )
    progress |= {"total": 4, "done": done}
    unknown = {"cost_usd": None, "calls_per_second": None, "seconds_left": 7.0, "limited_by": ""}
    body = {
        "id": 5, "uid": "u", "project": "moods", "protocol": "vote", "settings": {},
        "replicates": 1, "roles": [], "schema_version": 1, "status": status, "pause_code": "",
        "message": "", "resume_at": None, "cost_usd": None, "budget_usd": None,
        "created_at": "2026-11-22T10:00:00Z", "started_at": None, "finished_at": None,
        "progress": progress | unknown,
    }  # fmt: skip
    return httpx.Response(200, content=json.dumps(body | more))


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Nobody sleeps; how long they would have."""
    taken: list[float] = []
    monkeypatch.setattr("time.sleep", taken.append)
    return taken


def test_waiting_tells_how_far_it_is(naps: list[float]) -> None:
    reports: list[Progress] = []
    resting = run("paused", 2, resume_at="2026-11-22T10:05:00Z", message="Limits; goes on soon.")
    client, _ = scripted(
        run("queued"), run("queued"), run("running", 1), resting, run("done", 4),
        progress=reports.append,
    )  # fmt: skip
    ended = client.run(5).wait()
    assert (ended.status, ended.progress.done) == ("done", 4)
    assert [report.done for report in reports] == [0, 0, 1, 2, 4, 4]
    assert reports[2].note == "about 7 s left"
    assert reports[3].note == "Limits; goes on soon."
    assert (reports[-1].what, reports[-1].total, reports[-1].ended) == ("Run 5", 4, True)
    assert naps == sorted(naps)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (run("paused", 1, pause_code="budget", message="The budget is spent."), "budget"),
        (run("cancelled", 1, message="Cancelled by hand."), "cancelled"),
    ],
)
def test_a_run_that_stopped_is_told(naps: list[float], answer: httpx.Response, code: str) -> None:
    client, _ = scripted(run("running"), answer)
    with pytest.raises(RunStopped, match=r"budget is spent|by hand") as raised:
        client.run(5).wait()
    assert (raised.value.code, raised.value.data["run"]) == (code, 5)


def test_who_waits_too_long_is_told(naps: list[float]) -> None:
    client, script = scripted(run("running", 1))
    run_of_it = client.run(5)
    with pytest.raises(WaitedTooLong, match="it continues") as raised:
        run_of_it.wait(timeout=5)
    assert raised.value.retryable
    assert sum(naps) == pytest.approx(5)
    before = len(script.seen)
    with pytest.raises(WaitedTooLong):
        run_of_it.wait(timeout=0)
    assert len(script.seen) == before + 1
    with pytest.raises(WrongUse):
        run_of_it.wait(timeout=-1)


TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["\u2028", "\x85", "\r"]
)
ROWS = st.lists(st.dictionaries(st.sampled_from(["id", "text"]), TEXTS), max_size=6)


@given(rows=ROWS, cuts=st.lists(st.integers(0, 300), max_size=8), ended=st.booleans())
def test_rows_are_the_same_however_the_pieces_fall(
    rows: list[Any], cuts: list[int], ended: bool
) -> None:
    body = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()
    marks = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    assert list(parse_rows(body[start:end] for start, end in pairwise(marks))) == rows


def test_a_last_line_without_its_end_is_none() -> None:
    rows = parse_rows([b'{"id": 1}\n{"id": 2}'])
    assert next(rows) == {"id": 1}
    with pytest.raises(AnswerLost):
        next(rows)


def test_a_client_shows_nothing_in_a_test() -> None:
    assert Client(ADDRESS, KEY).on_progress is ignore_progress
