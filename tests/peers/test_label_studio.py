"""Here → the real Label Studio, worked on there → here again, by every export it has."""

import json
import os
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest

from labelhub.core.schema import schema_from_studio
from tests.exchange.helpers import exported, imported
from tests.exchange.studio_cases import (
    CASES,
    EXPORTS,
    FOLDER,
    MODEL,
    ORIGINS,
    Case,
    check_labels,
    check_origins,
)
from tests.peers.label_studio import LabelStudio

pytestmark = [pytest.mark.peers, pytest.mark.django_db, pytest.mark.timeout(900)]
REWRITE = bool(os.environ.get("LABELHUB_PEERS_REWRITE"))


def from_here(case: Case) -> tuple[str, list[Any], str]:
    """(configuration, tasks, type of an answer) as this project exports them."""
    project = case.filled()
    config = exported(project, "labelstudio-config").decode()
    kind = "textarea" if case.kind == "textarea" else "choices"
    return config, json.loads(exported(project, "labelstudio")), kind


def plain(case: Case) -> tuple[str, list[Any], str]:
    """The same as somebody would set it up there, without us."""
    labels = [quoteattr(name) for name in case.definition.get("labels", ())]
    several = "multiple" if case.definition["task"] == "multi" else "single"
    choices = "".join(f"<Choice value={name}/>" for name in labels)
    quotes = "".join(f"<Label value={name}/>" for name in labels)
    control = {
        "choices": f'<Choices name="label" toName="text" choice="{several}">{choices}</Choices>',
        "rating": '<Rating name="label" toName="text" maxRating="5"/>',
        "textarea": '<TextArea name="label" toName="text"/>',
    }[case.kind]
    regions = f'<Labels name="evidence" toName="text">{quotes}</Labels>' if labels else ""
    config = f'<View><Text name="text" value="$text"/>{control}{regions}</View>'
    tasks = [
        {"data": {"text": text}, "predictions": predicted(case, name)}
        for name, text in case.texts.items()
    ]
    return config, tasks, case.kind


def predicted(case: Case, name: str) -> list[Any]:
    """The suggestion as a prediction of Label Studio's."""
    if name not in case.suggested:
        return []
    value = case.suggested[name]
    prediction = {
        "choices": {"choices": value if isinstance(value, list) else [value]},
        "rating": {"rating": value},
        "textarea": {"text": [value]},
    }[case.kind]
    result = {"id": f"p{name}", "from_name": "label", "to_name": "text", "type": case.kind,
              "value": prediction}  # fmt: skip
    return [{"model_version": MODEL, "score": 0.75, "result": [result]}]


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("name", CASES)
def test_what_was_done_there_comes_back(label_studio: LabelStudio, name: str, origin: str) -> None:
    case = CASES[name]
    config, tasks, kind = from_here(case) if origin == "ours" else plain(case)
    assert schema_from_studio(config).task.name in (case.definition["task"], "single")
    number = label_studio.project(f"{name} {origin}", config)
    label_studio.load(number, tasks)
    for step in case.steps:
        label_studio.do(case, step, number, kind)
    files = {export: label_studio.export(number, export) for export in EXPORTS}
    if REWRITE:
        FOLDER.mkdir(exist_ok=True)
        for export, content in files.items():
            (FOLDER / f"{name}-{origin}.{EXPORTS[export]}").write_bytes(content)
    for export, content in files.items():
        project = case.project()
        batch = imported(project, content, f"x.{EXPORTS[export]}")
        assert [note for note in batch.errors if note["kind"] != "remark"] == [], export
        check_labels(case, project, export)
        if export == "JSON":
            check_origins(case, project)
            again = label_studio.project(f"{name} {origin} again", config)
            label_studio.load(again, json.loads(exported(project, "labelstudio")))
