"""Dawid and Skene 1979: five anaesthetists, the first of whom answered three times.

Through ``import_labels`` and ``agreement --json`` alone.
"""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

REFERENCE = Path(__file__).resolve().parents[3] / "shared/reference/reference_values_dev.json"

pytestmark = pytest.mark.django_db


def patients() -> list[tuple[int, int, int]]:
    """Patient, observer and class, the first observer's three answers one after the other."""
    if not REFERENCE.exists():
        pytest.skip("needs ../shared/reference, which is not here")
    cases = json.loads(REFERENCE.read_text(encoding="utf-8"))["cases"]
    reference = next(case for case in cases if case["id"] == "dawid_skene1979_prior")
    return [(item, rater, value) for item, rater, value in reference["input"]["long"]]


def of_the_first() -> dict[int, list[int]]:
    """Patient → the first observer's three answers."""
    found: dict[int, list[int]] = {}
    for item, rater, value in patients():
        if rater == 1:
            found.setdefault(item, []).append(value)
    return found


def measured(folder: Path, *, say_so: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Counts of the import and the agreement, as the commands print them."""
    said_in_all = patients()
    cases = json.loads(REFERENCE.read_text(encoding="utf-8"))["cases"]
    classes = {case["id"]: case["expected"] for case in cases}
    path, seen, rows = folder / "labels.jsonl", set(), []
    for item, rater, value in said_in_all:
        row = {
            "item_id": f"patient {item}",
            "annotator_id": f"observer {rater}",
            "annotator_type": "expert",
            "label": str(value),
            "gold": str(classes["dawid_skene1979_labels"][item - 1]),
        }
        rows.append(row | ({"supersedes": (item, rater) in seen} if say_so else {}))
        seen.add((item, rater))
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    call_command("create_project", "ds", task="single", labels="1,2,3,4", stdout=StringIO())
    printed = []
    for command, *arguments in (("import_labels", "ds", str(path)), ("agreement", "ds")):
        out = StringIO()
        call_command(command, *arguments, "--json", stdout=out)
        printed.append(json.loads(out.getvalue()))
    return printed[0], printed[1]


@pytest.mark.thorough
def test_dawid_and_skenes_observer_who_answers_three_times(tmp_path: Path) -> None:
    counts, report = measured(tmp_path, say_so=True)

    assert (counts["created"], counts["conflicts"]) == (315, 0)
    assert report["sources"]["expert"]["labels"] == 225
    repeats = report["intra"]["expert"]
    assert (repeats["annotators"], repeats["items"], repeats["repeats"]) == (1, 45, 90)
    shares = [sum((a == b, a == c, b == c)) / 3 for a, b, c in of_the_first().values()]
    assert repeats["percent"]["value"] == pytest.approx(sum(shares) / 45)
    assert repeats["percent"]["n"] == 45
    assert repeats["alpha_nominal"]["value"] > report["within"]["expert"]["alpha_nominal"]["value"]
    assert [row["annotator"] for row in repeats["by_annotator"]] == ["observer 1"]
    # The classes found with all three answers of the first are nearly those found with the latest.
    assert report["against_gold"]["expert"]["dawid_skene_accuracy"]["value"] >= 43 / 45


def test_without_saying_so_the_first_answer_stands_and_the_others_are_reported(
    tmp_path: Path,
) -> None:
    counts, report = measured(tmp_path, say_so=False)

    other = sum(
        answer != answers[0] for answers in of_the_first().values() for answer in answers[1:]
    )
    assert counts["created"] == 225
    assert (counts["conflicts"], counts["unchanged"]) == (other, 90 - other)
    assert "supersedes = true" in counts["conflict_rows"][0]["message"]
    assert report["intra"]["expert"]["percent"] == {"value": None, "reason": "no_repeats"}
    assert report["against_gold"]["expert"]["dawid_skene_accuracy"]["value"] >= 43 / 45
