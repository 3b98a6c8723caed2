"""``paper_table`` from the file to the printed table, with the offline model."""

import csv
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from apps.agreement.papers import TABLES
from apps.debates.models import Debate, Run
from apps.debates.services import pause_run
from apps.labels.models import Label
from apps.llm.trying import Patience
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from tests.agreement.paper_help import another_offline, aspects, moods, printed, told, written
from tests.factories.llm import ModelSpecFactory

pytestmark = pytest.mark.django_db(transaction=True)

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
HEADS = {
    "000.T2": "Model Accuracy Precision Recall F1 TP FP FN TN",
    "000.T3": "Extractor Critic Judge Accuracy Precision Recall F1 TP FP FN TN",
    "000.T5": "Extractor Critic Judge Accuracy Precision Recall F1 TP FP FN TN",
    "000.T6": "Aspect Accuracy F1 Score",
    "001.T1": "Model / Method moods",
    "001.F2": "File Models Agent Initial R1 R2",
    "001.F3": "Models Method moods",
    "001.F4": "File Models Agent Stage ✓ ✗ ✓→✓ ✓→✗ ✗→✓ ✗→✗ Kept ✓ Kept ✗",
    "002.T3": "Task LLM Structure # of decision maker 0 1 2 3",
    "002.T4": "Structure Amb Nor",
    "002.F6": "Data All Amb Nor κ All κ Amb κ Nor",
    "002.F7": "Data Type 1-2 2-3",
    "002.F8": "Data Method Changed w→c c→w w→w",
}


@pytest.fixture(autouse=True)
def no_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test database is there already."""
    monkeypatch.setattr("apps.common.commands.prepare_database", lambda: None)


def asked(code: str, folder: Path) -> list[Any]:
    """A quick command line for each table."""
    if code == "000.T5":
        another_offline()
        mixed = ["--model", "extractor=offline", "--model", "critic=offline-b"]
        models = [*mixed, "--model", "judge=offline"]
        return [code, aspects(folder), "--aspect", "cleanliness", "--replicates", 2, *models]
    if code.startswith("000"):
        aspect = [] if code == "000.T6" else ["--aspect", "cleanliness"]
        return [code, aspects(folder), "--replicates", 2, *aspect]
    return [code, moods(folder), *(["--judges", 3] if code.startswith("002") else [])]


#: One table of each paper in every run of the suite, the others where there is time for them.
QUICK = ("000.T3", "001.F2", "002.F8")


def test_every_table_is_here() -> None:
    assert list(TABLES) == list(HEADS)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "code",
    [each if each in QUICK else pytest.param(each, marks=pytest.mark.thorough) for each in HEADS],
)
def test_every_table_end_to_end_and_a_second_time_for_nothing(code: str, tmp_path: Path) -> None:
    args = asked(code, tmp_path)
    out = tmp_path / "table.csv"

    table = told(*args, "--csv", out)

    assert (table["table"], " ".join(table["columns"])) == (code, HEADS[code])
    figures = [cell for row in table["rows"] for cell in row.values() if isinstance(cell, dict)]
    assert figures
    for each in figures:
        assert each["value"] is None or {"low", "high", "n", "method"} <= set(each)
        assert each["value"] is not None or each["reason"]
    assert any(each.get("low") is not None for each in figures)
    assert table["cost_usd"] == 0
    assert any("not an LLM" in note for note in table["notes"])
    with out.open(encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == len(table["rows"]) + 1

    runs = set(Run.objects.values_list("pk", flat=True))
    assert set(table["runs"]) == runs
    again = told(*args)
    assert set(Run.objects.values_list("pk", flat=True)) == runs
    assert again["rows"] == table["rows"]
    assert not Label.objects.exists()


def test_people_read_the_papers_layout_with_intervals(tmp_path: Path) -> None:
    text = printed("000.T3", aspects(tmp_path), "--aspect", "Cleanliness", "--replicates", "1")
    lines = text.splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("Extractor"))
    assert lines[head].split() == [*HEADS["000.T3"].split(), "n"]
    assert lines[head + 2].split()[:3] == ["offline"] * 3
    assert "%" in lines[head + 2]
    assert lines[head + 3].strip().startswith("[")
    assert "In brackets: 95 % intervals" in text
    assert "FP: predicted, not in gold" in text


@pytest.mark.thorough
def test_a_single_interest_is_asked_about_alone(tmp_path: Path) -> None:
    args = (aspects(tmp_path), "--replicates", 1)
    told("000.T2", *args, "--aspect", "food")
    assert current_schema(Project.objects.get()).parsed.names == ("Food",)
    told("000.T6", *args)
    assert Project.objects.count() == 2


@pytest.mark.thorough
def test_tables_share_their_runs_and_a_part_of_them(tmp_path: Path) -> None:
    path = moods(tmp_path)
    told("001.F2", path)
    told("001.F3", path)
    part = told("001.F4", path, "--limit", 3)
    assert Run.objects.count() == 1
    assert part["rows"][0]["✓"]["n"] == 3


def test_a_dry_run_asks_nobody(tmp_path: Path) -> None:
    found = told("001.T1", moods(tmp_path), "--dry-run")
    assert (found["runs"], found["calls"], found["cost_usd"]) == (4, 8 * 10, 0)
    assert not Run.objects.exists()
    assert "Calls: 80" in printed("001.T1", moods(tmp_path), "--dry-run")


def test_what_costs_something_waits_for_a_yes(tmp_path: Path) -> None:
    model = ModelSpecFactory.create()
    with pytest.raises(CommandError, match=r"This costs about .*: add --yes"):
        told("001.T1", moods(tmp_path), "--model", model.name)
    assert not Run.objects.exists()


@pytest.mark.thorough
def test_a_run_that_stopped_is_gone_on_with(tmp_path: Path) -> None:
    path = moods(tmp_path)
    told("001.F2", path)
    run = Run.objects.get()
    run.debates.filter(item=run.debates.first().item).update(  # type: ignore[union-attr]
        status=Debate.Status.WAITING
    )
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING)
    pause_run(run=Run.objects.get())
    assert told("001.F2", path, "--dry-run")["calls"] == 3

    told("001.F2", path)

    run.refresh_from_db()
    assert (Run.objects.count(), run.status) == (1, Run.Status.DONE)


@pytest.mark.thorough
def test_an_endpoint_that_does_not_answer_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.llm.gateway.Patience", partial(Patience, first_backoff=0.01))
    model = ModelSpecFactory.create(price_in=None, price_out=None)
    with pytest.raises(CommandError, match=r"Run \d+ .* is paused: .*again"):
        told("000.T2", moods(tmp_path), "--aspect", "good", "--model", model.name, "--limit", 1)


@pytest.mark.thorough
def test_several_files_stand_beside_each_other_with_their_mean(tmp_path: Path) -> None:
    one, other = moods(tmp_path), moods(tmp_path, "others", place="Rome")
    table = told("001.T1", one, other)
    assert table["columns"] == ["Model / Method", "moods", "others", "Avg."]
    row = table["rows"][0]
    mean = (row["moods"]["value"] + row["others"]["value"]) / 2
    assert row["Avg."]["value"] == pytest.approx(mean)
    assert told("002.T4", one, other, "--judges", 3)["columns"][1:3] == ["moods Amb", "moods Nor"]


@pytest.mark.thorough
def test_an_existing_project_can_be_used(tmp_path: Path) -> None:
    told("000.T2", moods(tmp_path), "--aspect", "good", "--project", "mine", "--replicates", 1)
    table = told("001.F3", "--project", "mine")
    assert table["projects"] == {"mine": "mine"}


@pytest.mark.thorough
def test_files_of_other_shapes(tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_text("Review Text,Clean,Food\nA spotless room,true,false\nCold food,false,true\n")
    table = told("000.T6", wide, "--replicates", 1)
    assert [row["Aspect"] for row in table["rows"]] == ["Clean", "Food"]
    pairs = [
        {"id": f"p{at}", "text": f"premise {at}", "hypothesis": f"guess {at}",
         "labels": {"expert": name, "crowd": "no"}}
        for at, name in enumerate(["yes", "no"])
    ]  # fmt: skip
    path = written(tmp_path / "pairs.jsonl", pairs)
    columns = ("--text-column", "text,hypothesis", "--gold-column", "labels.expert")
    slug = told("001.F3", path, *columns)["projects"]["pairs"]
    project = Project.objects.get(slug=slug)
    assert project.items.order_by("pk")[0].text == "text: premise 0\nhypothesis: guess 0"
    assert current_schema(project).parsed.names == ("no", "yes")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["000.T9", "FILE"], "'000.T9' is not known; there are 000.T2"),
        (["001.T1", "nowhere.jsonl"], "There is no file 'nowhere.jsonl'"),
        (["001.T1"], "name a file with gold labels"),
        (["001.T1", "--project", "none"], "no project 'none'"),
        (["001.T1", "FILE", "--model", "nobody"], "No model 'nobody'"),
        (["001.T1", "FILE", "--model", "judge=offline"], "001.T1 has no role 'judge'"),
        (["001.T1", "FILE", "--gold-column", "truth"], "the file has no column 'truth'"),
        (["001.T1", "FILE", "--labels", "x,y"], "None of 8 rows could be used"),
        (["001.T1", "FILE", "--limit", "0"], "limit: must be at least 1"),
        (["001.T1", "FILE", "--budget", "lots"], "'lots' is not an amount"),
        (["000.T2", "FILE"], "choose the label that the table is about: bad, good"),
        (["000.T2", "FILE", "--aspect", "cold"], "the file has no label 'cold'; it has bad, good"),
        (["000.T5", "FILE", "--aspect", "good"], "a mix needs two models or more"),
        (["000.T3", "FILE", "--group", "offline"], "an extractor, a critic and a judge"),
        (["002.T3", "FILE", "--judges", "4"], "judges: must be one of 1, 3, 5"),
        (["002.T3", "FILE", "--precedents", "0,9"], "'0,9' is not a list of 0 to 3"),
        (["002.F7", "FILE", "--judges", "1"], "one judge agrees with nobody"),
        (["001.F2", "FILE", "--rounds", "9"], "rounds"),
    ],
)
def test_bad_input_ends_in_one_clear_line(args: list[str], words: str, tmp_path: Path) -> None:
    given = [str(moods(tmp_path)) if arg == "FILE" else arg for arg in args]
    with pytest.raises(CommandError, match=words) as refused:
        told(*given)
    assert "\n" not in str(refused.value)
    assert not Run.objects.exists()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "name", "more"),
    [
        ("001.T1", "fomc_stance", []),
        ("002.T4", "glue_rte", ["--text-column", "text,hypothesis"]),
        ("000.T2", "hanoi_hotel_aspects", ["--aspect", "cleanliness", "--replicates", "2"]),
    ],
)
def test_real_files(code: str, name: str, more: list[str]) -> None:
    path = DATA / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("the development data is not beside this project")
    table = told(code, path, "--limit", 12, *more)
    assert table["rows"]
