"""What real data must reproduce, through ``import_labels`` and ``agreement --json`` alone.

The figures are those published with the data or recomputed by several programs.
"""

import json
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

pytestmark = pytest.mark.django_db


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of a data set; skips the test without it."""
    path = DATA / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{name}.jsonl, which is not here")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measured(tmp_path: Path, labels: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Import long-form rows into a new project and ask for its agreement."""
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    call_command("create_project", "real", task="single", labels=labels, stdout=StringIO())
    call_command("import_labels", "real", str(path), stdout=StringIO())
    out = StringIO()
    call_command("agreement", "real", "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def label(item: str, annotator: str, kind: str, value: str) -> dict[str, str]:
    """One row in long form."""
    return {"item_id": item, "annotator_id": annotator, "annotator_type": kind, "label": value}


def near(value: float) -> Any:
    """To four digits."""
    return pytest.approx(value, abs=6e-5)


@pytest.mark.thorough
def test_experts_and_crowd_on_research_aspects(tmp_path: Path) -> None:
    rows = [
        label(row["item_id"], source, source.partition("_")[0], value)
        for row in rows_of("coda19_expert")
        for source, value in row["labels"].items()
    ]
    found = measured(tmp_path, ",".join(sorted({row["label"] for row in rows})), rows)

    pairs = {(pair["a"], pair["b"]): pair for pair in found["between"]}
    wanted = {
        ("crowd_majority", "expert_biomedical"): (0.8636, 0.7918),
        ("crowd_majority", "expert_cs"): (0.8507, 0.7774),
        ("expert_biomedical", "expert_cs"): (0.8716, 0.8092),
    }
    for sides, (percent, kappa) in wanted.items():
        assert pairs[sides]["percent"]["value"] == near(percent)
        assert pairs[sides]["cohen_kappa"]["value"] == near(kappa)


@pytest.mark.thorough
def test_irony_by_its_authors_and_by_others(tmp_path: Path) -> None:
    rows = []
    for row in rows_of("isarcasm_author_vs_thirdparty"):
        item, votes = row["item_id"], row["third_party_votes_sarcastic"]
        rows.append(label(item, "author", "author", row["author_label"]))
        rows += [
            label(item, f"p{number}", "crowd", "sarcastic" if number < votes else "not_sarcastic")
            for number in range(row["third_party_votes_total"])
        ]
    found = measured(tmp_path, "sarcastic,not_sarcastic", rows)

    crowd = found["against_author"]["crowd"]
    assert crowd["majority_accuracy"]["value"] == near(0.875)
    assert crowd["majority_kappa"]["value"] == near(0.6096)
    (sarcastic,) = [score for score in crowd["per_label"] if score["label"] == "sarcastic"]
    assert sarcastic["f1"]["value"] == near(0.6838)
    assert found["within"]["crowd"]["fleiss_kappa"]["value"] == near(0.4232)


@pytest.mark.thorough
def test_verifiers_against_writers(tmp_path: Path) -> None:
    rows = []
    for row in rows_of("anli_author_vs_verifier"):
        item = row["item_id"]
        rows.append(label(item, "author", "author", row["author_label"]))
        rows += [
            label(item, f"v{number}", "expert", value)
            for number, value in enumerate(row["verifier_labels"])
        ]
    found = measured(tmp_path, "entailment,neutral,contradiction", rows)

    expert = found["against_author"]["expert"]
    assert expert["labels"] == 634
    assert expert["accuracy"]["value"] == near(0.8864)
    assert expert["cohen_kappa"]["value"] == near(0.8283)
