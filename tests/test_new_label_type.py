"""The label type that the guide adds works everywhere, though nothing else knows of it."""

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.agreement.report.services import agreement_report
from apps.exchange.exporters import FORMATS
from apps.labels.models import Gold, Label
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from labelhub.core.debate.ballots import tally
from labelhub.core.llm.parsing import read_answer
from labelhub.core.llm.types import Status
from labelhub.core.schema import TASKS, SchemaError, ValueNotOffered, parse_schema
from tests.exchange.helpers import counts, exported, imported, ledger
from tests.factories.accounts import UserFactory
from tests.factories.reviews import answer, claim, expert, new_project, reviewer, token

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "developers.md"
WEIGHT = {"task": "weight", "question": "How heavy is the parcel?"}


@pytest.fixture(autouse=True)
def weight(monkeypatch: pytest.MonkeyPatch) -> None:
    """The type of the guide, registered as its file and ``TASKS`` would."""
    section = GUIDE.read_text().split("## Add a label type\n", 1)[1].split("\n## ", 1)[0]
    (code,) = re.findall(r"^   ```python\n(.*?)^   ```", section, re.DOTALL | re.MULTILINE)
    made: dict[str, Any] = {}
    exec(textwrap.dedent(code), made)  # noqa: S102 - our own guide
    monkeypatch.setitem(TASKS, "weight", made["Weight"]())


def test_its_schema_is_checked_and_its_values_are_canonical() -> None:
    schema = parse_schema(WEIGHT)
    assert parse_schema(schema.to_json()) == schema
    assert [schema.normalise(raw) for raw in ("1.5 kg", "1,500g", " 0.0015 t ")] == ["1.5 kg"] * 3
    for raw in ("heavy", "1.5", "1.2.3 kg", 1.5, ["1 kg"], None):
        with pytest.raises(ValueNotOffered):
            schema.normalise(raw)
    with pytest.raises(SchemaError, match="none of its own"):
        parse_schema({**WEIGHT, "labels": ["light"]})


def test_models_answers_are_read_and_counted() -> None:
    schema = parse_schema(WEIGHT)
    texts = [
        "It says so.\nFinal Decision: 1500 g",
        '{"label": "1.5 kg"}',
        "Final Decision: **2 kg**",
    ]
    replies = [read_answer(text, schema) for text in texts]
    assert [reply.value for reply in replies] == ["1.5 kg", "1.5 kg", "2 kg"]
    assert tally([reply.value for reply in replies], schema).value == "1.5 kg"
    assert read_answer("Final Decision: heavy", schema).status is Status.UNPARSED


def made_on_the_page(client: Client) -> Project:
    """A project of weights, made as somebody makes it in a browser."""
    sent = {
        "name": "Parcels",
        "task": "weight",
        "overlap": "2",
        "schema-question": WEIGHT["question"],
        "label-TOTAL_FORMS": "0",
        "label-INITIAL_FORMS": "0",
    }
    client.force_login(UserFactory.create())
    assert (
        "A number with its unit."
        in client.get(reverse("project_create"), {"start": "labels"}).content.decode()
    )
    assert client.post(reverse("project_create"), sent).status_code == 302
    project = Project.objects.get()
    assert current_schema(project).definition["task"] == "weight"
    return project


@pytest.mark.django_db
def test_people_answer_agree_and_decide_and_files_carry_it(client: Client) -> None:
    project = made_on_the_page(client)
    content = b"id,text,gold\na,A parcel of 1.5 kg.,\nb,Two tons of coal.,2 t\n"
    assert counts(imported(project, content, "parcels.csv")) == (2, 0, 0, 0)
    item = Item.objects.get(external_id="a")

    anna, ben = reviewer(project), expert(project)
    client.force_login(anna)
    page = client.get(reverse("review", args=[project.slug])).content.decode()
    assert "How heavy is the parcel?" in page
    assert "<textarea" in page
    slot = claim(project, anna)
    sent = {"item": item.pk, "lease": str(token(slot)), "value": "heavy"}
    address = reverse("review_submit", args=[project.slug])
    json = {"accept": "application/json"}
    refused = client.post(address, sent, headers=json)
    assert (refused.status_code, "such as 1.5 kg" in refused.content.decode()) == (422, True)
    assert client.post(address, sent | {"value": "1500 g"}, headers=json).status_code == 200
    answer(claim(project, ben), ben, "1.5 kg")

    assert list(Label.objects.filter(item=item).values_list("value", flat=True)) == ["1.5 kg"] * 2
    assert Gold.objects.get(item=item).value == "1.5 kg"
    found = agreement_report(project)
    assert (found["task"], found["against_gold"]["crowd"]["items"]) == ("weight", 1)
    manager = project.memberships.get(role="manager").user
    client.force_login(manager)
    assert client.get(reverse("agreement", args=[project.slug])).status_code == 200
    assert "1.5 kg" in exported(project, "csv").decode()
    for name, known in FORMATS.items():
        content = exported(project, name)
        if known.lossless:
            other = new_project(definition=WEIGHT, overlap=2)
            assert counts(imported(other, content, f"x{known.suffix}")) == (2, 0, 0, 0)
            assert ledger(other) == ledger(project)
