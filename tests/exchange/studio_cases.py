"""What is done to small projects in the real Label Studio, and what has to come back of it.

``make test-peers`` does it; the files that Label Studio wrote then are in ``label_studio/``, for
the daily tests. Tasks are ours (exported here, with the whole row in ``meta``) or plain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apps.projects.models import Project
from tests.exchange.helpers import imported, ledger, lines
from tests.factories.projects import ProjectFactory

FOLDER = Path(__file__).parent / "label_studio"
#: Label Studio's export types, and what its files are called here.
EXPORTS = {"JSON": "json", "JSON_MIN": "min.json", "CSV": "csv", "TSV": "tsv"}
ORIGINS = ("ours", "plain")
MODEL = "debate: courtroom"


@dataclass(frozen=True)
class Step:
    """One thing that somebody does with a task in Label Studio."""

    task: str
    #: accept, answer, skip, draft, truth (an answer marked as the truth), update (of the last).
    action: str
    value: Any = None
    seconds: float | None = None
    quotes: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Case:
    """``answers``: by task, what the person last said there; None for a skip. ``quotes``: the
    places in the text that the answer is shown by, as (start, end) in code points."""

    definition: Mapping[str, Any]
    kind: str
    texts: Mapping[str, str]
    suggested: Mapping[str, Any]
    steps: Sequence[Step]
    answers: Mapping[str, Any]
    gold: Mapping[str, Any] = field(default_factory=dict)
    drafts: Sequence[str] = ()
    quotes: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    #: Tasks whose answer was made from the suggestion there.
    proposed: Sequence[str] = ()

    def rows(self) -> list[dict[str, Any]]:
        """The items with their suggestions, for an import here."""
        return [
            {"id": name, "text": text, "labels": self._labels(name)}
            for name, text in self.texts.items()
        ]

    def _labels(self, name: str) -> list[dict[str, Any]]:
        if name not in self.suggested:
            return []
        value = self.suggested[name]
        return [{"annotator": MODEL, "kind": "llm", "value": value, "confidence": 0.75}]

    def project(self) -> Project:
        """A project of this kind without items."""
        return ProjectFactory.create(definition=dict(self.definition))

    def filled(self) -> Project:
        """And one with them."""
        project = self.project()
        batch = imported(project, lines(*self.rows()))
        assert batch.errors == []
        return project


def people(row: Mapping[str, Any]) -> list[Any]:
    """What people say of an item by now."""
    past = {label["supersedes"] for label in row["labels"]}
    return [
        label["value"]
        for label in row["labels"]
        if label["kind"] == "crowd" and not label["withdrawn"] and label["uid"] not in past
    ]


def by_text(case: Case, project: Project) -> dict[str, dict[str, Any]]:
    """The ledger's rows by the tasks' names: JSON_MIN and tables keep Label Studio's ids."""
    names = {text: name for name, text in case.texts.items()}
    return {names[row["text"]]: row for row in ledger(project)}


def check_labels(case: Case, project: Project, export: str) -> None:
    """Every answer is there, as it was given; nothing else is a label or gold."""
    rows = by_text(case, project)
    whole = export == "JSON"
    # Its other exports leave out a task that was skipped and nothing else.
    skipped = {name for name, answer in case.answers.items() if answer is None}
    assert set(rows) == (set(case.texts) if whole else set(case.texts) - skipped)
    for name, row in rows.items():
        answer = case.answers.get(name)
        assert people(row) == ([] if answer is None else [answer]), (name, row["labels"])
        assert row["gold"] == (case.gold.get(name) if whole else None), name
        aside = [label["role"] for label in row["labels"]]
        assert aside.count("skip") == (whole and name in case.answers and answer is None), name
        assert aside.count("draft") == (whole and name in case.drafts), name
        spans = [
            (span["start"], span["end"])
            for label in row["labels"]
            if label["kind"] == "crowd" and label["value"] == answer
            for span in label["provenance"].get("spans", ())
        ]
        assert spans == list(case.quotes.get(name, ())), name


def check_origins(case: Case, project: Project) -> None:
    """Which suggestion an answer was made from is known; no suggestion is there twice."""
    for name, row in by_text(case, project).items():
        machines = [label for label in row["labels"] if label["kind"] in ("llm", "model")]
        seen = {step.task for step in case.steps if step.action != "draft"}
        there = name in case.suggested
        assert len(machines) <= there, name
        if name in case.proposed and name in seen:
            assert [label["value"] for label in machines] == [case.suggested[name]]
            made = [label["proposed_from"] for label in row["labels"] if label["kind"] == "crowd"]
            assert machines[0]["uid"] in made, name


FOOD, STAFF, ROOM = "Food, drinks", "Staff", "Room"
TEXTS = {
    "t1": "The soup was cold. 🍲",
    "t2": "Номер чистый 👍🏽, персонал вежливый.",
    "t3": "Nobody came to the door, and the tea was stale.",
    "t4": "Ça va 👩‍👩‍👧 — la chambre était petite.",
    "t5": "It rained.",
    "t6": "=1+1, \"quoted\"; 'tab\there'",
    "t7": "Завтрак отличный!",
}


def _case(task: str, kind: str, labels: Sequence[str], values: Mapping[str, Any]) -> Case:
    """The same steps with answers of another kind: ``a`` to ``d``."""
    a, b, c, d = (values[name] for name in "abcd")
    return Case(
        definition={"task": task, **({"labels": list(labels)} if labels else {})},
        kind=kind,
        texts=TEXTS,
        suggested={"t1": a, "t2": b, "t3": c, "t4": a, "t7": d},
        steps=[
            Step("t1", "accept", seconds=3.25),
            Step("t2", "answer", c),
            Step("t3", "skip", seconds=1.0),
            Step("t4", "draft", b, seconds=2.0),
            Step("t5", "truth", d, seconds=0.5),
            Step("t6", "answer", a, seconds=9.0),
            Step("t6", "update", b, seconds=11.0),
        ],
        answers={"t1": a, "t2": c, "t3": None, "t5": d, "t6": b},
        gold={"t5": d},
        drafts=["t4"],
        proposed=["t1", "t2"],
    )


def _spans() -> Case:
    case = _case("multi", "choices", [FOOD, STAFF, ROOM], {
        "a": [FOOD], "b": [STAFF, ROOM], "c": [FOOD, STAFF], "d": [ROOM],
    })  # fmt: skip
    steps = [
        Step("t1", "answer", [FOOD], quotes=[(FOOD, "soup"), (FOOD, "🍲")]),
        Step("t2", "answer", [ROOM, STAFF], seconds=4.0,
             quotes=[(ROOM, "👍🏽"), (STAFF, "персонал")]),
        Step("t4", "answer", [ROOM], quotes=[(ROOM, "chambre")]),
    ]  # fmt: skip
    return Case(
        definition=case.definition,
        kind="choices",
        texts=TEXTS,
        suggested=case.suggested,
        steps=steps,
        answers={"t1": [FOOD], "t2": [STAFF, ROOM], "t4": [ROOM]},
        quotes={"t1": [(4, 8), (19, 20)], "t2": [(13, 15), (17, 25)], "t4": [(17, 24)]},
        proposed=["t1", "t2", "t4"],
    )


CASES: dict[str, Case] = {
    "single": _case("single", "choices", [FOOD, STAFF, ROOM, "Weather"], {
        "a": FOOD, "b": STAFF, "c": ROOM, "d": "Weather",
    }),
    "multi": _case("multi", "choices", [FOOD, STAFF, ROOM], {
        "a": [FOOD, ROOM], "b": [STAFF], "c": [FOOD, STAFF, ROOM], "d": [FOOD],
    }),
    "rating": _case("ordinal", "rating", ["1", "2", "3", "4", "5"], {
        "a": 1, "b": 2, "c": 4, "d": 5,
    }),
    "text": _case("text", "textarea", [], {
        "a": "Soup, cold", "b": "вежливый 👍", "c": "[none]", "d": '{"a": 1}',
    }),
    "spans": _spans(),
}  # fmt: skip
