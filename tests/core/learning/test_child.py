"""The process that learns: its lines, its errors, its end."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from labelhub.core.learning.child import Conversation
from labelhub.core.learning.lessons import Lesson
from tests.core.learning.lessons import single

ROOT = Path(__file__).resolve().parents[3]


def talk(*lines: dict[str, Any]) -> list[dict[str, Any]]:
    """What it says to these lines."""
    source = io.StringIO("".join(json.dumps(line) + "\n" for line in lines))
    sink = io.StringIO()
    Conversation(source, sink).run()
    said = [json.loads(line) for line in sink.getvalue().splitlines()]
    return [line for line in said if "alive" not in line]


def question(lesson: Lesson) -> dict[str, Any]:
    """Asks about the first document, twice."""
    first = [lesson.documents[0].text, "", ""]
    return {"documents": [first, first], "beside": [None, [1]]}


def test_it_learns_tells_how_far_it_is_and_answers() -> None:
    lesson = single(40)
    said = talk({"lesson": lesson.to_json(), "temperature": None}, question(lesson))
    shares = [line["share"] for line in said if "share" in line]
    assert shares == sorted(shares)
    learned, answer = said[-2]["learned"], said[-1]["said"]
    assert learned["told"]["quality"]["n"] == len(learned["judged"]) == 40
    assert answer[0][0] == [0]
    assert answer[0][3] is None
    assert answer[1][3] < 0.5


def test_a_refusal_is_its_last_line() -> None:
    said = talk({"lesson": single(5).to_json(), "temperature": None})
    assert said[-1]["error"]["code"] == "too_little_gold"
    assert said[-1]["error"]["data"]["needed"] == 20


@pytest.mark.thorough
def test_as_a_process_it_loads_no_framework_and_ends_with_its_input() -> None:
    lesson = single(40)
    line = json.dumps({"lesson": lesson.to_json(), "temperature": 1.0}) + "\n"
    done = subprocess.run(
        [sys.executable, "-m", "labelhub.core.learning.child"],
        input=line,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout.splitlines()[-1]) == {"learned": None}
    assert done.stderr == ""
