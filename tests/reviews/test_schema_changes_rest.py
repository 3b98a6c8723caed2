"""Changes of labels over REST, on the command line and on their pages."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.labels.models import Label
from apps.labels.services import record_label
from apps.projects.models import Project, SchemaChange
from apps.projects.selectors import current_schema
from apps.reviews.schema_changes.services import run_change
from labelhub.core.schema.operations import Rename
from tests.factories.accounts import api_of
from tests.factories.labels import draft, open_item, person
from tests.factories.projects import member
from tests.factories.reviews import new_project
from tests.factories.schema_changes import changed, decided

pytestmark = pytest.mark.django_db
RENAME = [{"op": "rename", "label": "good", "to": "fine"}]


@pytest.fixture
def project() -> Project:
    project = new_project()
    record_label(draft(open_item(project), person(project), "good"))
    return project


@pytest.fixture
def rest(project: Project) -> APIClient:
    return api_of(member(project, Role.MANAGER))


@pytest.fixture
def page(project: Project, client: Client) -> Client:
    client.force_login(member(project, Role.MANAGER))
    return client


def form(project: Project, *fates: dict[str, Any], **whole: str) -> dict[str, Any]:
    """What the page posts."""
    names = current_schema(project).parsed.names
    rows: dict[str, Any] = {"label-TOTAL_FORMS": len(names), "label-INITIAL_FORMS": len(names)}
    for index, name in enumerate(names):
        rows[f"label-{index}-name"] = name
        rows |= {f"label-{index}-{key}": value for key, value in fates[index].items()}
    return rows | {f"schema-{key}": value for key, value in whole.items()}


def test_a_change_begins_and_is_told(project: Project, rest: APIClient) -> None:
    url = f"/api/v1/projects/{project.slug}/schema-changes/"
    begun = rest.post(url, {"operations": RENAME, "reason": "clearer"}, format="json")
    assert (begun.status_code, begun.json()["status"]) == (202, "running")
    run_change(begun.json()["id"])
    shown = rest.get(f"{url}{begun.json()['id']}/").json()
    assert (shown["status"], shown["from_version"], shown["to_version"]) == ("done", 1, 2)
    assert shown["operations"] == RENAME
    assert shown["words"] == ["“good” is renamed “fine”"]
    assert shown["counts"]["labels:crowd"] == 1
    assert [row["id"] for row in rest.get(url).json()["results"]] == [shown["id"]]
    back = rest.post(url, {"reverts": shown["id"]}, format="json")
    assert back.status_code == 202
    run_change(back.json()["id"])
    assert current_schema(project).parsed.names == ("good", "bad")


def test_an_answer_says_which_labels_it_was_chosen_from(project: Project, rest: APIClient) -> None:
    item = open_item(project)
    changed(project, *_swap())
    sent = {"item": item.pk, "value": "good", "schema_version": 1}
    response = rest.post(f"/api/v1/projects/{project.slug}/labels/", sent, format="json")
    assert (response.json()["value"], response.json()["schema_version"]) == ("bad", 2)


def _swap() -> Any:
    return Rename("good", "bad"), Rename("bad", "good")


def test_the_command_previews_and_changes(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "operations.json"
    path.write_text(json.dumps(RENAME))
    call_command("change_schema", project.slug, operations=path, dry_run=True)
    assert "“good” is renamed “fine”" in capsys.readouterr().out
    call_command("change_schema", project.slug, "--json", operations=path)
    result = json.loads(capsys.readouterr().out)
    assert (result["status"], result["to_version"]) == ("done", 2)
    assert Label.objects.current().get().value == "fine"
    with pytest.raises(CommandError, match="There is no label 'good'"):
        call_command("change_schema", project.slug, operations=path)
    path.write_text("{")
    with pytest.raises(CommandError, match="is not JSON"):
        call_command("change_schema", project.slug, operations=path)


def test_the_page_leads_over_a_preview_to_the_change(project: Project, page: Client) -> None:
    url = f"/p/{project.slug}/labels/change/"
    assert b"Rename it" in page.get(url).content
    sent = form(project, {"fate": "rename", "to": "<b>fine</b>"}, {}, question="", reason="why")
    posted = page.post(url, sent)
    assert posted.status_code == 302
    there = posted["Location"]
    shown = page.get(there).content.decode()
    assert "&lt;b&gt;fine&lt;/b&gt;" in shown
    assert "Nothing has changed yet" in shown
    change = SchemaChange.objects.get()
    assert (change.status, current_schema(project).version) == ("previewed", 1)
    page.post(there, {"do": "begin"})
    run_change(change.pk)
    assert Label.objects.current().get().value == "<b>fine</b>"
    assert "Result</h2>" in page.get(there).content.decode()
    assert (
        "That has been done already"
        in page.post(there, {"do": "begin"}, follow=True).content.decode()
    )
    back = page.post(there, {"do": "revert"})
    assert "is reverted" in page.get(back["Location"]).content.decode()
    assert b"is renamed" in page.get(f"/p/{project.slug}/labels/").content


def test_the_page_reads_every_fate(project: Project, page: Client) -> None:
    url = f"/p/{project.slug}/labels/change/"
    sent = form(
        project,
        {"fate": "split", "parts": "great\nfair", "default": "fair"},
        {"fate": "retire", "replacement": "fair", "silent": "on"},
        question="How?", more="new\n", order="new\ngreat\nfair",
    )  # fmt: skip
    assert page.post(url, sent).status_code == 302
    assert SchemaChange.objects.get().operations == [
        {"op": "split", "label": "good", "into": [{"name": "great"}, {"name": "fair"}],
         "default": "fair"},
        {"op": "retire", "label": "bad", "replacement": "fair", "ask": False},
        {"op": "add", "label": {"name": "new"}},
        {"op": "ask", "question": "How?"},
        {"op": "reorder", "labels": ["new", "great", "fair"]},
    ]  # fmt: skip
    third = form(project, {"fate": "merge", "into": "x"}, {"fate": "merge", "into": "X"}, more="y")
    page.post(url, third)
    (only,) = SchemaChange.objects.all()  # the earlier preview is gone
    assert only.operations[0] == {"op": "merge", "labels": ["good", "bad"], "into": "x"}


def test_a_scale_gets_its_numbers(db: None, client: Client) -> None:
    scale = {"task": "ordinal", "labels": ["1", "2", "3"]}
    project = new_project(definition=scale)
    item = open_item(project)
    record_label(draft(item, person(project), 3))
    client.force_login(member(project, Role.MANAGER))
    sent = form(project, {}, {"fate": "split", "parts": "low = 2\nhigh = 2.5"},
                {"fate": "rename", "to": "top", "point": "5"})  # fmt: skip
    client.post(f"/p/{project.slug}/labels/change/", sent)
    change = SchemaChange.objects.get()
    assert change.plan.new.names == ("1", "low", "high", "top")
    assert change.plan.value(3) == 5
    assert decided(item) == 3
