"""A part of the labels: how people choose it on the page, and how programs do over REST."""

import re
from html import unescape
from typing import Any

import pytest

from apps.accounts.roles import Role
from apps.labels.models import Annotator
from apps.projects.models import Project
from tests.cases import all_cases
from tests.factories.ledger import ledger
from tests.factories.projects import MOODS, ProjectFactory, member_browser

pytestmark = pytest.mark.django_db

G, B = "good", "bad"


@pytest.fixture
def project() -> Project:
    """Ann labelled most, Bob little; the author of the items is called writer."""
    made = ProjectFactory.create(definition=MOODS, slug="moods", overlap=20)
    ledger(
        made,
        {
            "crowd:bob": [B, G],
            "crowd:ann": [G, B, G, B],
            "expert:ann": [G, B, G],
            "author:writer": [G, B, G, B],
        },
    )
    return made


def page(project: Project, address: str = "", **query: Any) -> Any:
    """What a viewer gets at an address of the page."""
    return member_browser(project, Role.VIEWER).get(f"/p/{project.slug}/agreement/{address}", query)


def fields(answer: Any) -> dict[str, dict[str, str]]:
    """The fields of the form by their names."""
    form = re.search(r'<form class="filters".*?</form>', answer.content.decode(), re.DOTALL)
    assert form is not None
    tags = re.findall(r"<(?:input|select)[^>]*>", form[0])
    found = [dict(re.findall(r'([\w-]+)="([^"]*)"', tag)) for tag in tags]
    return {row["name"]: row for row in found}


def fault(answer: Any, name: str) -> str:
    """What stands beside a field of the form as its fault."""
    html = answer.content.decode()
    found = re.search(rf'id="slice-{name}_error">(.*?)</div>', html, re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", found[1])).split()) if found else ""


def offered(answer: Any) -> list[str]:
    """The annotators that the form suggests."""
    listed = re.search(r"<datalist.*?</datalist>", answer.content.decode(), re.DOTALL)
    assert listed is not None
    return re.findall(r'<option value="([^"]*)"', listed[0])


def test_the_form_suggests_the_compared_annotators_and_names_no_author(project: Project) -> None:
    assert sorted(words.split(" #")[0] for words in offered(page(project))) == [
        "ann, Crowd", "ann, Expert", "bob, Crowd",
    ]  # fmt: skip
    assert "writer" not in page(project).content.decode()


def test_an_author_whom_an_address_means_is_not_named(project: Project) -> None:
    key = project.annotators.get(kind="author").pk

    answer = page(project, annotator=key)

    assert fields(answer)["annotator"].get("value") == f"Author #{key}"
    assert f"Only labels by Author #{key}" in answer.content.decode()
    assert "writer" not in answer.content.decode()


@all_cases(
    ("query", "field", "words"),
    [
        ({"since": "2026-11-02", "until": "2026-11-01"}, "since", "Lies after “To”."),
        ({"since": "yesterday"}, "since", "Not a day such as 2026-11-01."),
        ({"kind": "robot"}, "kind", "'robot' is not one of"),
        ({"label": "great"}, "label", "The schema has no 'great'."),
        ({"run": "9999"}, "run", "This project has no run 9999."),
        ({"annotator": "9999"}, "annotator", "This project has no annotator 9999."),
        ({"tag": "x" * 201}, "tag", "At most 200 characters"),
    ],
)
def test_a_wrong_slice_leaves_the_form_with_its_values_and_the_fault_beside_the_field(
    project: Project, query: dict[str, str], field: str, words: str
) -> None:
    answer = page(project, **query, tag2="ignored")

    assert answer.status_code == 422
    assert fault(answer, field).startswith(words)
    found = fields(answer)
    assert found[field].get("aria-invalid") == "true"
    for name, value in query.items():
        kept = found[name].get("value") or ""
        assert value in (kept or answer.content.decode())
    assert "In short" not in answer.content.decode()


def test_the_form_asks_as_often_however_many_annotators_there_are(
    project: Project, django_assert_num_queries: Any
) -> None:
    client = member_browser(project, Role.VIEWER)
    wrong = {"since": "x"}
    client.get("/p/moods/agreement/", wrong)
    for more in (0, 60):
        for number in range(more):
            Annotator.objects.create(project=project, kind="crowd", name=f"w{number}")
        with django_assert_num_queries(8):
            client.get("/p/moods/agreement/", wrong)
