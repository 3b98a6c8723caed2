"""The scripts of ``examples/papers``: their figures on small files that were counted by hand."""

import csv
import json
import runpy
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

SCRIPTS = Path(settings.BASE_DIR) / "examples" / "papers"


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files by their bare names; scripts find each other."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(SCRIPTS))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a script, return its table."""

    def table(script: str, *args: str) -> list[dict[str, str]]:
        monkeypatch.setattr(sys, "argv", [script, *args])
        capsys.readouterr()
        runpy.run_path(str(SCRIPTS / script), run_name="__main__")
        return list(csv.DictReader(capsys.readouterr().out.splitlines()))

    return table


def debates(
    name: str, golds: Sequence[Any], values: Sequence[Any], signals: Sequence[Any] = ()
) -> str:
    """An export of one pass, item by item; None: no usable answer."""
    rows = [
        {
            "item_external_id": f"i{index}",
            "replicate": 1,
            "status": "unparsed" if value is None else "done",
            "value": value,
            "gold": gold,
            "signals": signals[index] if signals else {},
            "turns": [{"role": "annotator", "model": "m"}],
        }
        for index, (gold, value) in enumerate(zip(golds, values, strict=True))
    ]
    Path(name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return name


def test_an_unread_answer_is_wrong_and_a_miss_where_gold_has_the_label(run: Any) -> None:
    file = debates("run.jsonl", "yyynn", ["y", "y", None, "y", None])
    (row,) = run("table_000_2.py", "y", file)
    assert [row[name] for name in ("TP", "FP", "FN", "TN")] == ["2.0", "1.0", "1.0", "0.0"]
    assert (row["Accuracy"], row["Recall"]) == ("0.4", "0.6667")


def test_sets_of_labels_are_looked_at_label_by_label(run: Any) -> None:
    rows = run("table_000_6.py", debates("run.jsonl", [["a", "b"], ["a"]], [["a"], ["a"]]))
    assert [(row["Aspect"], row["Accuracy"]) for row in rows] == [("a", "1.0"), ("b", "0.5")]


def test_methods_are_compared_item_by_item_after_holm(run: Any) -> None:
    plain = debates("plain.jsonl", "y" * 10, "n" * 8 + "yy")
    better = debates("cot.jsonl", "y" * 10, "y" * 8 + "nn")
    same = debates("vote.jsonl", "y" * 10, "n" * 8 + "yy")
    base, cot, vote = run("table_001_1.py", plain, better, same)
    assert base["Accuracy %"].startswith("20.0 [")
    assert (cot["Won"], cot["Lost"], cot["p (Holm)"]) == ("8.0", "2.0", "0.2188")  # 2 × 0.1094
    assert vote["p (Holm)"] == "1.0"


ROUNDS = [
    {"rounds": [{"A": "y", "B": "y"}]},
    {"rounds": [{"A": "y", "B": "n"}, {"A": "n", "B": "n"}]},
]


def test_discussions_are_followed_round_by_round(run: Any) -> None:
    file = debates("run.jsonl", "yy", "yn", ROUNDS)
    first, last = run("figure_001_2.py", file)
    assert [row["All %"][:5] for row in (first, last)] == ["50.0 ", "50.0 "]
    assert [row["A %"].split()[0] for row in (first, last)] == ["100.0", "50.0"]
    (bound,) = run("figure_001_3.py", file)
    assert (bound["Upper bound %"].split()[0], bound["Gap"]) == ("100.0", "50.0")
    moved = {(row["Agent"], row["Round"]): row for row in run("figure_001_4.py", file)}
    assert moved["A", "1"]["right to wrong"] == moved["B", "1"]["wrong to wrong"] == "1.0"
    assert (moved["A", "0"]["right"], moved["A", "1"]["unchanged"]) == ("2", "0.0")


VERDICTS = [
    {"verdicts": ["y", "y", "n"], "first": "y"},
    {"verdicts": ["n", "n", "n"], "first": "y"},
    {},
]


def test_trials_are_told_apart_by_how_clear_the_single_answers_were(run: Any) -> None:
    leads = [{"d_rate": 0.2}, {"d_rate": 0.6}, {"d_rate": 1.0}]
    vote = debates("vote.jsonl", "yny", "yny", leads)
    court = debates("court.jsonl", "yny", ["y", "n", None], VERDICTS)
    share, _, trial = run("table_002_4.py", vote, court)
    assert (share["ambiguous"], share["normal"]) == ("0.333", "0.667")
    assert trial["normal"].startswith("50.0 [")
    everything, ambiguous, normal = run("figure_002_6.py", vote, court)
    assert everything["Agreement %"].startswith("66.7 [")  # 1 of 3 pairs, 3 of 3
    assert (ambiguous["Agreement %"][:4], normal["Agreement %"][:5]) == ("33.3", "100.0")
    pairs = run("figure_002_7.py", vote, court)
    assert (pairs[0]["1-2 %"][:5], pairs[0]["2-3 %"][:4]) == ("100.0", "50.0")
    (changes,) = run("figure_002_8.py", court)
    assert [changes[name][:4] for name in ("Changed %", "wrong to right %")] == ["66.7", "33.3"]
    assert run("table_002_3.py", court)[0]["Decision makers"] == "3"


ITEMS = [
    ("good", "The room was good and the staff were good too."),
    ("bad", "A bad stay: bad food, a bad bed."),
    ("good", "Nothing good to say, it was bad."),
    ("bad", "The worst, so bad that we left."),
]
RUNS = {
    "single": ["single"],
    "cot": ["cot"],
    "ecj": ["ecj"],
    "discussion": ["discussion"],
    "vote": ["vote", "--set", "annotators=5"],
    "court": ["courtroom", "--set", "judges=5"],
    "sequence": ["courtroom", "--set", "judges=5", "--set", "deliberation=sequential"],
}
TABLES = [
    ("table_000_2.py", "good", "single.jsonl"),
    ("table_000_3_5.py", "good", "ecj.jsonl"),
    ("table_000_6.py", "ecj.jsonl"),
    ("table_001_1.py", "single.jsonl", "cot.jsonl"),
    ("figure_001_2.py", "discussion.jsonl"),
    ("figure_001_3.py", "discussion.jsonl"),
    ("figure_001_4.py", "discussion.jsonl"),
    ("table_002_3.py", "single.jsonl", "vote.jsonl", "court.jsonl"),
    ("table_002_4.py", "vote.jsonl", "court.jsonl"),
    ("figure_002_6.py", "vote.jsonl", "court.jsonl"),
    ("figure_002_7.py", "vote.jsonl", "sequence.jsonl"),
    ("figure_002_8.py", "court.jsonl", "sequence.jsonl"),
]


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_every_script_reads_what_the_commands_write(run: Any) -> None:
    call_command("create_project", "moods", "--task", "single", "--labels", "good,bad")
    rows = [
        {"id": f"i{index}", "text": text, "gold": gold} for index, (gold, text) in enumerate(ITEMS)
    ]
    Path("items.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    call_command("import_items", "moods", "items.jsonl")
    for name, protocol in RUNS.items():
        out = StringIO()
        args = ("moods", "--protocol", *protocol, "--wait", "--json")
        call_command("preannotate", *args, stdout=out)
        run_id = str(json.loads(out.getvalue())["run"])
        call_command("export_debates", "moods", "--run", run_id, "--output", f"{name}.jsonl")

    tables = {args[0]: run(*args) for args in TABLES}

    assert all(tables.values())
    assert {args[0] for args in TABLES} == {path.name for path in SCRIPTS.glob("*_00?_*.py")}
    # Three texts speak for themselves; the offline model reads the third by its words.
    right = [row["Accuracy %"] for row in tables["table_001_1.py"]]
    assert all(cell.startswith(("75.0 [", "100.0 [")) for cell in right)
