"""Adjudication and comments over REST."""

from typing import Any
from uuid import uuid4

import pytest

from apps.accounts.models import User
from apps.projects.models import Project
from apps.reviews.models import Comment
from tests.factories.accounts import api_of
from tests.factories.reviews import expert, new_project, reviewer
from tests.reviews.test_adjudication import in_conflict
from tests.reviews.test_comments import HOSTILE, say
from tests.reviews.test_page import SCALE

pytestmark = pytest.mark.django_db
PROJECT = {"overlap": 2}


def test_what_waits_is_listed(
    project: Project, judge: User, django_assert_num_queries: Any
) -> None:
    items = [in_conflict(project) for _ in range(3)]

    with django_assert_num_queries(4):  # the member; schema, what waits, what is said of it
        body = api_of(judge).get(f"/api/v1/projects/{project.slug}/adjudication/").json()

    assert (body["count"], [row["item"] for row in body["results"]]) == (3, [i.pk for i in items])
    assert body["results"][0]["against"] == "bad / good"
    narrowed = api_of(judge).get(f"/api/v1/projects/{project.slug}/adjudication/?between=machine")
    assert narrowed.json()["count"] == 0


def test_a_ruling_is_gold_and_stored_once(project: Project, judge: User) -> None:
    item = in_conflict(project)
    sent = {
        "value": "bad",
        "rationale": "Irony.",
        "evidence": {"bad": ["the food"]},
        "explain": "Irony counts.",
        "lease": str(uuid4()),
    }
    address = f"/api/v1/projects/{project.slug}/adjudication/{item.pk}/"

    first = api_of(judge).post(address, sent, format="json")
    again = api_of(judge).post(address, sent, format="json")

    assert (first.status_code, again.status_code) == (201, 200)
    body = first.json()
    assert (body["gold"]["basis"], body["gold"]["value"]) == ("adjudication", "bad")
    assert body["label"]["evidence"] == {"bad": ["the food"]}
    assert len(body["overruled"]) == 1
    assert Comment.objects.get().pk == body["comment"]
    other = api_of(expert(project)).post(address, {"value": "good"}, format="json")
    assert (other.status_code, other.json()["code"]) == (409, "decided_meanwhile")


def test_items_elsewhere_are_not_found(project: Project, judge: User) -> None:
    foreign, client = in_conflict(new_project(overlap=2)), api_of(judge)
    base = f"/api/v1/projects/{project.slug}/adjudication/{foreign.pk}/"

    assert client.get(f"/api/v1/items/{foreign.pk}/opinions/").status_code == 404
    assert client.post(base, {"value": "bad"}, format="json").status_code == 404
    assert client.post(f"{base}return/", {"reason": "x"}, format="json").status_code == 404


def test_comments_are_said_listed_and_resolved(project: Project, person: User) -> None:
    item = in_conflict(project, person, reviewer(project))
    base, client = f"/api/v1/projects/{project.slug}/comments/", api_of(person)

    made = client.post(base, {"item": item.pk, "text": HOSTILE}, format="json")
    assert made.status_code == 201
    assert made.json()["text"] == HOSTILE
    assert client.post(base, {"item": item.pk, "text": "a\0b"}, format="json").status_code == 400
    assert client.post(base, {"item": 0, "text": "x"}, format="json").status_code == 400
    listed = client.get(f"{base}?item={item.pk}&shown=mine").json()
    assert [row["id"] for row in listed["results"]] == [made.json()["id"]]
    address = f"{base}{made.json()['id']}/resolve/"
    assert client.post(address).json()["resolved_by"] == person.username
    opened = client.post(address, {"resolved": False}, format="json").json()
    assert opened["resolved_at"] is None


def test_words_come_once_one_has_answered(project: Project) -> None:
    person, late = reviewer(project), reviewer(project)
    item = in_conflict(project, person, reviewer(project))
    comment = say(item, person, f"Surely bad, @{late.username}")

    (row,) = api_of(late).get(f"/api/v1/projects/{project.slug}/comments/").json()["results"]

    assert (row["text"], row["readable"], row["mentions"]) == ("", False, [])
    address = f"/api/v1/projects/{project.slug}/comments/{comment.pk}/resolve/"
    assert api_of(late).post(address).status_code == 404


def test_a_point_of_a_scale_is_decided_with_evidence() -> None:
    project = new_project(overlap=2, definition=SCALE)
    item = in_conflict(project, values=(1, 3))
    quote = item.text[:6]
    sent = {"value": 2, "evidence": {"cold": [quote]}}

    response = api_of(expert(project)).post(
        f"/api/v1/projects/{project.slug}/adjudication/{item.pk}/", sent, format="json"
    )

    assert response.status_code == 201
    assert response.json()["label"]["evidence"] == {"mild": [quote]}
