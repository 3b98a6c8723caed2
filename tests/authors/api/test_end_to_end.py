"""A host's server asks an author by REST, from the message to the export, and deletes them."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from apps.authors.models import Message, Question
from apps.authors.services.questions import ask_now
from apps.labels.models import Gold, Kind, Label
from apps.projects.models import Item
from tests.authors.api.calling import message, refused, server, url
from tests.factories.authors import TEXT, later, server_key, site_with_features

pytestmark = pytest.mark.django_db(transaction=True)
ANNA = {"author": "anna"}


def exported(slug: str, target: Path) -> list[dict[str, Any]]:
    call_command("export_labels", slug, "--format", "jsonl", "--output", str(target))
    return [json.loads(line) for line in target.read_text().splitlines()]


def test_from_a_message_to_the_export_and_out_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.authors.api.messages.launch_asking", ask_now)
    site = site_with_features(consent_by="host", identity="verified", reward_cents=5)
    host: APIClient = server(server_key(site))

    posted = host.post(url(site, "messages/"), message(author="anna")).json()
    assert posted["message"]["status"] == "received"
    posted = host.post(url(site, "messages/"), message(author="anna")).json()
    assert posted["message"]["status"] == "asked"

    body = host.get(url(site, "questions/"), ANNA).json()["question"]
    assert body["qid"] == posted["questions"][0]["qid"]
    path = url(site, f"questions/{body['qid']}/")
    assert host.post(f"{path}shown/", ANNA).json()["status"] == "shown"
    sent = ANNA | {"id": "answer-1"}
    sent |= {"option": body["opts"][0]["id"]} if body["opts"] else {"word": "quiet"}
    early = refused(host.post(f"{path}answer/", sent), 425, "too_early")
    later(Question.objects.get(uid=body["qid"]).author, early["data"]["after_ms"] / 1000)
    assert host.post(f"{path}answer/", sent).json()["status"] == "answered"

    label = Label.objects.get()
    assert (label.annotator.kind, label.item.project) == (Kind.AUTHOR, site.project)
    assert Gold.objects.get().value == label.value
    (row,) = exported(site.project.slug, tmp_path / "before.jsonl")
    assert (row["text"], row["gold"]) == (TEXT, label.value)
    assert [label["kind"] for label in row["labels"]] == ["author"]
    assert "anna" not in json.dumps(row)

    receipt = host.delete(url(site, "authors/anna/")).json()
    assert receipt["removed"]["labels"] == 1
    assert exported(site.project.slug, tmp_path / "after.jsonl") == []
    for model in (Item, Label, Gold, Message, Question):
        assert not model.objects.exists(), model
    refused(host.get(url(site, "questions/"), ANNA), 404, "not_found")
