"""The corpus of answers, grouped by trap; each line of it says why its outcome is right.

Files ``corpus/*.jsonl``: one case a line. ``schema`` names one in ``schemas.json``; a long
``answer`` is a list of texts and of pairs (text, how often). A case whose ``status`` is not ``ok``
has no ``value``; ``off_menu`` is checked where it is given.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from labelhub.core.llm.parsing import read_answer
from labelhub.core.schema import parse_schema
from tests.cases import all_cases

CORPUS = Path(__file__).parent / "corpus"
SCHEMAS = {
    name: parse_schema(schema)
    for name, schema in json.loads((CORPUS / "schemas.json").read_text("utf-8")).items()
}
CASES: list[Any] = [
    pytest.param(json.loads(line), id=f"{file.stem}-{number}")
    for file in sorted(CORPUS.glob("*.jsonl"))
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1)
]


def spelled_out(answer: Any) -> str:
    """The answer of a case as the model wrote it."""
    parts = [answer] if isinstance(answer, str) else answer
    return "".join(part if isinstance(part, str) else part[0] * part[1] for part in parts)


@all_cases("case", CASES)
def test_an_answer_is_read_as_the_corpus_says(case: dict[str, Any]) -> None:
    reply = read_answer(
        spelled_out(case["answer"]),
        SCHEMAS[case["schema"]],
        case.get("options", ()),
        case.get("finish_reason", "stop"),
        case.get("refusal", ""),
    )
    expected = (case["status"], case.get("value"), case.get("rung", 0))
    assert (str(reply.status), reply.value, reply.rung) == expected, (case["why"], reply.note)
    assert type(reply.value) is type(case.get("value"))
    assert reply.off_menu == case.get("off_menu", reply.off_menu), case["why"]
    assert len(reply.off_menu) <= 80
