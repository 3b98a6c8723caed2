"""The queue, items and labels over REST."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.labels.models import Annotator, Label
from apps.projects.models import Item, Project
from tests.cases import all_cases
from tests.factories.accounts import ApiKeyFactory
from tests.factories.labels import queued_items
from tests.factories.reviews import new_project, suggest

pytestmark = pytest.mark.django_db


def url(project: Project, rest: str) -> str:
    return f"/api/v1/projects/{project.slug}/{rest}"


def test_next_hands_out_item_suggestion_and_lease(project: Project, api: APIClient) -> None:
    (item,) = queued_items(project, 1)
    proposed = suggest(item, "good", evidence={"good": ["food was good"]})

    response = api.post(url(project, "next/"))

    assert response.status_code == 200
    body = response.json()
    assert body["item"]["id"] == item.pk
    assert set(body["item"]) >= {"external_id", "text", "context", "question", "options"}
    assert body["suggestion"]["uid"] == str(proposed.uid)
    assert body["suggestion"]["evidence"] == {"good": ["food was good"]}
    machine = body["suggestion"]["annotator"]
    assert (machine["name"], machine["kind"], machine["offline"]) == ("ecj", "llm", True)
    assert set(body["lease"]) == {"token", "expires_at"}


def test_a_label_comes_back_as_stored(project: Project, api: APIClient, person: User) -> None:
    (item,) = queued_items(project, 1)
    proposed = suggest(item, "good")
    lease = api.post(url(project, "next/")).json()["lease"]["token"]
    sent = {"item": item.pk, "value": "bad", "lease": lease, "seconds": 3, "comment": "cold soup"}

    response, again = (api.post(url(project, "labels/"), sent, format="json") for _ in range(2))

    body = response.json()
    assert (response.status_code, again.status_code) == (201, 200)
    assert again.json() == body
    assert (body["value"], body["action"], body["seconds"]) == ("bad", "fixed", 3.0)
    own = Annotator.objects.get(user=person)
    said_by = {"id": own.pk, "name": person.username, "kind": "crowd", "offline": False}
    assert body["annotator"] == said_by
    assert body["proposed_from"] == str(proposed.uid)
    assert body["comment"] == "cold soup"
    assert body["current"]


@all_cases("label", [{"value": "good"}, {"reject": True}, {"abstain": True}])
def test_an_item_is_skipped_or_labelled(
    project: Project, item: Item, api: APIClient, label: dict[str, Any]
) -> None:
    response = api.post(
        url(project, "labels/"), {"item": item.pk, "skip": True} | label, format="json"
    )
    assert response.status_code == 400
    assert "not both" in response.json()["errors"][0]["message"]
    assert not Label.objects.filter(item=item).exists()


@all_cases(
    "sent, status, field",
    [
        ({"value": "ugly"}, 422, "value"),
        ({}, 422, "value"),
        ({"value": ["good"]}, 422, "value"),
        ({"value": "good", "suggestion": 987654}, 422, "suggestion"),
        ({"value": "good", "lease": "x"}, 400, "lease"),
        ({"value": "good", "seconds": -1}, 400, "seconds"),
    ],
)
def test_what_cannot_be_used_is_refused_by_field(
    project: Project, item: Item, api: APIClient, sent: dict[str, Any], status: int, field: str
) -> None:
    response = api.post(url(project, "labels/"), {"item": item.pk, **sent}, format="json")

    assert response.status_code == status
    assert response["Content-Type"].startswith("application/problem+json")
    assert response.json()["errors"][0]["field"] == field
    assert not Label.objects.exists()


def test_an_item_of_another_project_is_404(project: Project, api: APIClient) -> None:
    (item,) = queued_items(new_project(), 1)

    sent = {"item": item.pk, "value": "good"}
    assert api.post(url(project, "labels/"), sent, format="json").status_code == 404
    assert api.get(f"/api/v1/items/{item.pk}/").status_code == 404


def test_labels_are_listed_and_filtered(project: Project, item: Item, api: APIClient) -> None:
    suggest(item, "good")
    api.post(url(project, "labels/"), {"item": item.pk, "value": "bad"}, format="json")
    api.post(url(project, "labels/"), {"item": item.pk, "value": "good"}, format="json")

    def values(query: str) -> list[str]:
        body = api.get(url(project, f"labels/?{query}")).json()
        assert body["count"] == len(body["results"])
        return [row["value"] for row in body["results"]]

    assert values("") == ["good", "bad", "good"]
    assert values("kind=crowd") == ["bad", "good"]
    assert values("kind=crowd&current=true") == ["good"]
    assert values("current=false") == ["bad"]
    assert values("annotator=ecj") == ["good"]
    assert values(f"item={item.pk + 1}") == []


def test_items_are_listed_and_filtered(project: Project, api: APIClient) -> None:
    first, second = queued_items(project, 2)
    suggest(first, "good")
    api.post(url(project, "labels/"), {"item": second.pk, "value": "bad"}, format="json")

    def ids(query: str) -> list[int]:
        return [row["id"] for row in api.get(url(project, f"items/?{query}")).json()["results"]]

    assert ids("") == [first.pk, second.pk]
    assert ids("stage=suggested") == [first.pk]
    assert ids("queued=false") == [second.pk]
    assert ids(f"q={second.external_id}") == [second.pk]
    detail = api.get(f"/api/v1/items/{second.pk}/").json()
    assert detail["gold"]["value"] == "bad"
    assert detail["stage"] == "decided"


def test_next_takes_a_fixed_number_of_queries(
    project: Project, person: User, django_assert_num_queries: Any
) -> None:
    queued_items(project, 30)
    plain = "lh_" + "k" * 43
    ApiKeyFactory(user=person, plain=plain)
    client = APIClient(headers={"Authorization": f"Token {plain}"})
    client.post(url(project, "next/"))  # the key's first use is noted

    with django_assert_num_queries(6):  # key, project, standing, held, renewal, item
        client.post(url(project, "next/"))


def test_a_lease_can_be_renewed_and_given_back(project: Project, api: APIClient) -> None:
    queued_items(project, 1)
    first = api.post(url(project, "next/")).json()["lease"]
    address = url(project, f"leases/{first['token']}/")

    renewed = api.post(address)
    assert renewed.status_code == 200
    assert renewed.json()["expires_at"] > first["expires_at"]
    assert api.delete(address).status_code == 204
    assert api.post(address).status_code == 404
    assert api.post(url(project, "next/")).json()["lease"]["token"] != first["token"]
