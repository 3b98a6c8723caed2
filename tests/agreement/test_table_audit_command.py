"""``manage.py audit_table``."""

import io
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

TABLE = "model,ctr,clicks,impressions\na,7.52%,789,10378\nb,1.40%,24,1711\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A table with one rate that does not follow."""
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


def said_of(*arguments: Any, **options: Any) -> str:
    """What the command prints."""
    out = StringIO()
    call_command("audit_table", *map(str, arguments), stdout=out, **options)
    return out.getvalue()


def told_of(*arguments: Any) -> Any:
    """What the command tells programs."""
    return json.loads(said_of(*arguments, "--json"))


def test_a_table_of_words_had_nothing_to_check(file: Path) -> None:
    file.write_text("name,colour\na,red\nb,blue\n")
    assert said_of(file).splitlines() == [
        "There was nothing to check in 2 rows: no figure follows from another."
    ]
    assert told_of(file)["checked"] == {}


def test_what_was_checked_is_said_where_nothing_was_found(file: Path) -> None:
    file.write_text(TABLE.replace("7.52%", "7.60%"))
    assert said_of(file).splitlines() == [
        "Nothing in 2 rows contradicts itself.",
        "  Held against others: 2 rates from their counts.",
    ]
    assert told_of(file)["checked"] == {"rate": 2}


def test_every_finding_is_one_line(file: Path) -> None:
    lines = said_of(file).splitlines()
    assert lines[0] == "1 fault in 2 rows."
    assert len(lines) == 2
    assert lines[1].split()[:2] == ["fault", "rate_does_not_follow"]
    assert "789 of 10378 is 7.603" in lines[1]


def test_programs_get_the_audit_as_json(file: Path) -> None:
    told = told_of(file)
    assert told["rows"] == 2
    assert [finding["code"] for finding in told["findings"]] == ["rate_does_not_follow"]


def test_a_dash_reads_what_is_piped_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TABLE.encode())))
    assert "rate_does_not_follow" in said_of("-")


def test_findings_are_no_failure_unless_strict(file: Path) -> None:
    assert said_of(file)
    with pytest.raises(CommandError, match="1 thing cannot be right"):
        said_of(file, "--strict")


def test_strict_is_content_with_doubts(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("test,p value\na,0.04\nb,0.03\nc,0.9\n")
    assert "doubt" in said_of(path, "--strict")


def test_what_is_known_is_used(tmp_path: Path) -> None:
    path = tmp_path / "shares.csv"
    path.write_text("model,accuracy\na,0.6030\n")
    assert told_of(path)["findings"] == []
    assert told_of(path, "--items", "500")["findings"][0]["code"] == "grim"


def test_the_single_runs_stand_in_a_second_file(tmp_path: Path) -> None:
    table, runs = tmp_path / "means.csv", tmp_path / "runs.csv"
    table.write_text("model,accuracy\na,90.0\n")
    runs.write_text("run,model,accuracy\n1,a,80.0\n2,a,90.0\n")
    assert "the mean of its 2 runs is 85" in said_of(table, "--runs", runs)


def test_t_values_stand_beside_those_the_runs_give(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    row = {"model": "a", "t": "2.05", "one": [1, 2, 3, 5], "other": [1.5, 2, 4, 7]}
    path.write_text(json.dumps([row]))
    (told,) = told_of(path)["t_values"]
    assert told["paired"] == pytest.approx(2.04939, abs=1e-5)
    assert told["follows"] is True
    assert "stated 2.05, paired 2.049, Welch 0.5787" in said_of(path)


def test_p_values_stand_beside_the_pairs_that_give_them(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("data,p value,diff items\nx,.043,12\ny,.013,14\n")
    told = told_of(path, "--items", "200")["p_values"]
    assert [21, 9] in told[0]["exact"]
    assert [21, 7] in told[1]["exact"]
    assert "exact (21, 9)" in said_of(path, "--items", "200")


def test_a_file_of_many_tables_names_each(tmp_path: Path) -> None:
    path = tmp_path / "many.json"
    rows = [{"model": "a", "clicks": 789, "impressions": 10378, "ctr": "7.52%"}]
    path.write_text(json.dumps({"tables": {"T1": rows, "T2": rows}}))
    assert [each["name"] for each in told_of(path)["tables"]] == ["tables.T1", "tables.T2"]
    assert "tables.T2: 1 fault in 1 row." in said_of(path)


def test_runs_in_the_same_file_are_averaged_if_all_of_them_are_there(tmp_path: Path) -> None:
    """Of the two models' three runs one is left out: the mean of the others says nothing."""
    means = [{"ids": {"model": model}, "accuracy": 90.0, "f1": 50.0} for model in ("a", "b")]
    runs = [
        {"ids": {"model": model, "run": run}, "accuracy": 80.0, "f1": 50.0}
        for run, model in [(1, "a"), (2, "a"), (3, "a"), (1, "b"), (3, "b")]
    ]
    path = tmp_path / "many.json"
    path.write_text(json.dumps({"means": means, "runs": runs}))
    told = told_of(path)["tables"][0]
    assert told["runs"] == "runs"
    assert [finding["row"]["cells"] for finding in told["findings"]] == [{"model": "a"}]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "There is no table"),
        (b"one line", "needs a line of column names"),
        (b"\x89PNG\x00\xff", "This is no text file"),
        (b'{"a": ', "not valid JSON"),
        (b"a,b\n" * 60_000, "more than 2,000 rows|longer than 200,000"),
    ],
)
def test_what_is_no_table_ends_with_one_clear_line(tmp_path: Path, raw: bytes, words: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(raw)
    with pytest.raises(CommandError, match=words) as caught:
        said_of(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"nowhere.csv' cannot be read: No such file"):
        said_of(tmp_path / "nowhere.csv")
