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


def label(item: str, annotator: str, kind: str, said: str) -> dict[str, str]:
    """One row in long form."""
    return {"item_id": item, "annotator_id": annotator, "annotator_type": kind, "label": said}


def near(value: float) -> Any:
    """To four digits."""
    return pytest.approx(value, abs=6e-5)


@pytest.mark.thorough
def test_recognising_textual_entailment(tmp_path: Path) -> None:
    found = measured(tmp_path, "entailment,not_entailment", rows_of("snow_rte"))

    gold, within = found["against_gold"]["crowd"], found["within"]["crowd"]
    assert gold["majority_accuracy"]["value"] == near(0.896875)
    assert gold["ties"] == 65
    assert within["fleiss_kappa"]["value"] == near(0.2414)
    assert within["alpha_nominal"]["value"] == near(0.2415)
    assert gold["dawid_skene_accuracy"]["value"] == pytest.approx(0.9275, abs=0.002)


@pytest.mark.thorough
def test_dogs(tmp_path: Path) -> None:
    found = measured(tmp_path, "0,1,2,3", rows_of("ti_dog"))

    gold = found["against_gold"]["crowd"]
    assert gold["majority_accuracy"]["value"] == near(0.8222)
    assert found["within"]["crowd"]["fleiss_kappa"]["value"] == near(0.5194)
    assert gold["dawid_skene_accuracy"]["value"] == pytest.approx(0.843, abs=0.002)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "majority", "alpha"),
    [("ti_weather_cf", 0.8822, 0.5768), ("ti_weather_cf_amt", 0.8533, 0.5209)],
)
def test_two_crowds_on_the_weather(
    tmp_path: Path, name: str, majority: float, alpha: float
) -> None:
    found = measured(tmp_path, "0,1,2,3,4", rows_of(name))

    assert found["against_gold"]["crowd"]["majority_accuracy"]["value"] == near(majority)
    assert found["within"]["crowd"]["alpha_nominal"]["value"] == near(alpha)


@pytest.mark.thorough
def test_experts_and_crowd_on_research_aspects(tmp_path: Path) -> None:
    rows = [
        label(row["item_id"], source, source.partition("_")[0], said)
        for row in rows_of("coda19_expert")
        for source, said in row["labels"].items()
    ]
    found = measured(tmp_path, ",".join(sorted({row["label"] for row in rows})), rows)

    pairs = {(one["a"], one["b"]): one for one in found["between"]}
    wanted = {
        ("crowd_majority", "expert_biomedical"): (0.8636, 0.7918),
        ("crowd_majority", "expert_cs"): (0.8507, 0.7774),
        ("expert_biomedical", "expert_cs"): (0.8716, 0.8092),
    }
    for sides, (percent, kappa) in wanted.items():
        assert pairs[sides]["percent"]["value"] == near(percent)
        assert pairs[sides]["cohen_kappa"]["value"] == near(kappa)


@pytest.mark.thorough
def test_machines_instead_of_people_on_restaurant_reviews(tmp_path: Path) -> None:
    found = measured(tmp_path, "Positive,Negative,unknown", rows_of("alttest_cebab_aspects"))

    assert found["within"]["crowd"]["alpha_nominal"]["value"] == near(0.7419)
    wanted = {
        "gemini_flash": (0.7, 0.91), "gemini_pro": (0.9, 0.94), "gpt-4o": (0.9, 0.93),
        "llama-31": (0.6, 0.89), "gpt-4o-mini": (0.5, 0.9), "mistral-v03": (0.1, 0.81),
    }  # fmt: skip
    for name, (rate, advantage) in wanted.items():
        assert found["alt_test"][name]["winning_rate"] == pytest.approx(rate)
        assert found["alt_test"][name]["advantage"] == pytest.approx(advantage, abs=0.006)
        assert found["alt_test"][name]["epsilon"] == 0.1


@pytest.mark.thorough
def test_irony_by_its_authors_and_by_others(tmp_path: Path) -> None:
    rows = []
    for row in rows_of("isarcasm_author_vs_thirdparty"):
        item, votes = row["item_id"], row["third_party_votes_sarcastic"]
        rows.append(label(item, "author", "author", row["author_label"]))
        rows += [
            label(item, f"p{at}", "crowd", "sarcastic" if at < votes else "not_sarcastic")
            for at in range(row["third_party_votes_total"])
        ]
    found = measured(tmp_path, "sarcastic,not_sarcastic", rows)

    crowd = found["against_author"]["crowd"]
    assert crowd["majority_accuracy"]["value"] == near(0.875)
    assert crowd["majority_kappa"]["value"] == near(0.6096)
    (sarcastic,) = [one for one in crowd["per_label"] if one["label"] == "sarcastic"]
    assert sarcastic["f1"]["value"] == near(0.6838)
    assert found["within"]["crowd"]["fleiss_kappa"]["value"] == near(0.4232)


@pytest.mark.thorough
def test_verifiers_against_writers(tmp_path: Path) -> None:
    rows = []
    for row in rows_of("anli_author_vs_verifier"):
        item = row["item_id"]
        rows.append(label(item, "author", "author", row["author_label"]))
        rows += [
            label(item, f"v{at}", "expert", said) for at, said in enumerate(row["verifier_labels"])
        ]
    found = measured(tmp_path, "entailment,neutral,contradiction", rows)

    expert = found["against_author"]["expert"]
    assert expert["labels"] == 634
    assert expert["accuracy"]["value"] == near(0.8864)
    assert expert["cohen_kappa"]["value"] == near(0.8283)
