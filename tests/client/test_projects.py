"""The client against the real application: projects, the queue, the ledger, runs, reports."""

from collections.abc import Callable

import pytest

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.debates.models import Run as RunRow
from apps.labels.models import Label as LabelRow
from apps.projects.models import Project as ProjectRow
from labelhub_client import (
    Client,
    Conflict,
    Forbidden,
    Invalid,
    NotAuthenticated,
    NotFound,
    ProjectClient,
    WrongUse,
)
from labelhub_client.api import PAGE_SIZE
from tests.factories.accounts import UserFactory
from tests.factories.labels import queued_items
from tests.factories.projects import ItemFactory, member
from tests.factories.reviews import suggest


def test_a_project_is_made_described_and_listed(client_of: Callable[[User], Client]) -> None:
    client = client_of(UserFactory.create())

    project = client.create_project(
        "mine", task="single", labels=["good", "bad"], guideline="Look twice.", overlap=2
    )

    info = project.info()
    assert (info.slug, info.task, info.role, info.overlap) == ("mine", "single", "manager", 2)
    assert [label.name for label in info.schema.labels] == ["good", "bad"]
    assert (info.guideline, info.schema_version) == ("Look twice.", 1)
    assert info.created_at.tzinfo is not None
    assert [project.slug for project in client.projects()] == ["mine"]
    with pytest.raises(Invalid, match="slug") as taken:
        client.create_project("mine", task="text")
    assert taken.value.errors[0].field == "slug"


def test_what_is_handed_out_is_labelled_with_what_was_shown(
    project: ProjectRow, reviewed: ProjectClient
) -> None:
    first, second = queued_items(project, 2)
    proposed = suggest(first, "good", evidence={"good": ["food"]}, reasons=["split"])

    task = reviewed.next()
    assert task is not None
    assert (task.item.id, task.item.external_id) == (first.pk, first.external_id)
    assert task.suggestion
    assert (task.suggestion.id, task.suggestion.value) == (proposed.pk, "good")
    assert task.suggestion.annotator.offline
    again = reviewed.next()
    assert again is not None
    assert again.lease.token == task.lease.token

    extras = {
        "seconds": 1.5,
        "comment": "cold soup",
        "rationale": "Bad.",
        "confidence": 0.9,
        "evidence": {"bad": ["food"]},
    }
    label = reviewed.submit(task, "bad", **extras)
    assert (label.rationale, label.confidence) == ("Bad.", 0.9)
    assert (label.value, label.action, label.seconds) == ("bad", "fixed", 1.5)
    assert (label.annotator.kind, label.comment) == ("crowd", "cold soup")
    assert label.proposed_from == str(proposed.uid)

    other = reviewed.next()
    assert other is not None
    assert (other.item.id, other.suggestion) == (second.pk, None)
    assert reviewed.skip(other, postpone=True).action == "postpone"
    back = reviewed.next()
    assert back is not None
    assert back.item.id == second.pk
    assert reviewed.skip(back, "unclear").action == "skip"
    assert reviewed.next() is None


def test_the_same_answer_twice_is_stored_once(project: ProjectRow, reviewed: ProjectClient) -> None:
    queued_items(project, 1)
    task = reviewed.next()
    assert task is not None
    assert reviewed.submit(task, "good").uid == reviewed.submit(task, "good").uid
    assert LabelRow.objects.count() == 1


def test_an_item_may_be_labelled_without_having_been_handed_out(
    project: ProjectRow, reviewed: ProjectClient
) -> None:
    (item,) = queued_items(project, 1)
    suggest(item, "good")
    assert reviewed.submit(item.pk, "good").action == "new"  # nothing was shown
    (standing,) = reviewed.items(external_id=item.external_id)
    assert reviewed.submit(standing, reject=True).action == "rejected"
    assert reviewed.submit(standing, abstain=True).abstained
    assert [label.action for label in reviewed.labels(kind="crowd")] == [
        "new",
        "rejected",
        "new",
    ]
    assert [label.current for label in reviewed.labels(kind="crowd", current=True)] == [True]


def test_leases_are_renewed_and_given_back(project: ProjectRow, reviewed: ProjectClient) -> None:
    queued_items(project, 1)
    task = reviewed.next()
    assert task is not None
    assert reviewed.renew(task).expires_at >= task.lease.expires_at
    reviewed.release(task)
    reviewed.release(task)
    with pytest.raises(NotFound, match="no item under this lease"):
        reviewed.renew(task)


def test_lists_go_on_over_pages(
    project: ProjectRow, managed: ProjectClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelhub_client.api.PAGE_SIZE", 3)
    made = queued_items(project, 7)
    assert [item.id for item in managed.items()] == [item.pk for item in made]
    assert [item.id for item in managed.items(q="nowhere")] == []
    assert PAGE_SIZE <= 1000  # the server's most


def test_a_list_that_shrinks_meanwhile_ends(
    project: ProjectRow, managed: ProjectClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelhub_client.api.PAGE_SIZE", 2)
    made = queued_items(project, 3)
    seen = managed.items()
    assert next(seen).id == made[0].pk
    fetched = made[1].pk
    made[1].delete()
    assert [item.id for item in seen] == [fetched]


def test_gold_and_item_say_what_is_decided(
    project: ProjectRow, reviewed: ProjectClient, client_of: Callable[[User], Client]
) -> None:
    (item,) = queued_items(project, 1)
    task = reviewed.next()
    assert task is not None
    reviewed.submit(task, "good")
    (gold,) = reviewed.gold()
    assert (gold.item, gold.external_id, gold.value) == (item.pk, item.external_id, "good")
    standing = client_of(member(project, Role.VIEWER)).item(item.pk)
    assert (standing.stage, standing.queued) == ("decided", False)
    assert standing.gold
    assert standing.gold.decided_by is None or standing.gold.decided_by.kind == "crowd"


def test_runs_are_started_steered_and_listed(
    project: ProjectRow, managed: ProjectClient, client_of: Callable[[User], Client]
) -> None:
    ItemFactory.create_batch(2, project=project)

    run = managed.preannotate(protocol="vote", limit=1, settings={"annotators": 3})

    assert (run.info.protocol, run.info.progress.total, run.info.status) == ("vote", 1, "queued")
    assert run.info.roles[0].offline
    assert run.pause().status == "paused"
    with pytest.raises(Conflict, match="cannot be paused"):
        run.pause()
    assert run.resume().status == "queued"
    assert run.cancel().status == "cancelled"
    assert run.stopped
    assert (run.refresh().status, repr(run)) == ("cancelled", f"RunClient({run.id}, 'cancelled')")
    assert [run.id for run in managed.runs()] == [run.id]
    assert [debate.status for debate in run.debates(sort="")] == ["waiting"]
    again = client_of(member(project, Role.VIEWER)).run(run.id)
    assert again.info.project == project.slug
    with pytest.raises(Forbidden):
        again.cancel()


def test_reports_come_as_records(project: ProjectRow, reviewed: ProjectClient) -> None:
    for item in queued_items(project, 3):
        suggest(item, "good")
    while task := reviewed.next():
        reviewed.submit(task, "good")

    agreement = reviewed.agreement(kind="llm")
    assert agreement.items == 3
    assert set(agreement.sources) == {"llm"}
    name = next(reviewed.labels(kind="llm")).annotator.id
    evaluation = reviewed.evaluation(annotator=name)
    assert (evaluation.n, evaluation.overall["accuracy"].value) == (3, 1.0)
    assert evaluation.overall["accuracy"].low is None
    assert "too few items" in evaluation.overall["accuracy"].doubt
    assert [score.label for score in evaluation.labels] == ["good", "bad"]
    with pytest.raises(Invalid, match="since"):
        reviewed.agreement(since="yesterday")


def test_models_are_listed(client_of: Callable[[User], Client]) -> None:
    models = list(client_of(UserFactory.create()).models())
    assert all(model.offline for model in models)


def test_a_wrong_key_a_wrong_role_and_a_wrong_slug_are_told_apart(
    project: ProjectRow,
    client_of: Callable[[User], Client],
    reviewed: ProjectClient,
) -> None:
    viewer = client_of(member(project, Role.VIEWER)).project(project.slug)
    with pytest.raises(Forbidden) as forbidden:
        viewer.next()
    assert (forbidden.value.status, forbidden.value.retryable) == (403, False)
    with pytest.raises(Forbidden):
        reviewed.import_items([{"text": "a"}])
    with pytest.raises(Forbidden):
        reviewed.preannotate()
    stranger = client_of(UserFactory.create())
    with pytest.raises(NotFound):
        stranger.project(project.slug).info()
    with pytest.raises(NotFound):
        list(stranger.project(project.slug).items())
    User.objects.filter(pk__gt=0).update(is_active=False)
    with pytest.raises(NotAuthenticated, match="unknown or revoked") as unknown:
        stranger.project(project.slug).info()
    assert unknown.value.code == "not_authenticated"


def test_what_cannot_be_used_is_refused_in_the_servers_words(
    project: ProjectRow, reviewed: ProjectClient, managed: ProjectClient
) -> None:
    (item,) = queued_items(project, 1)
    with pytest.raises(Invalid, match="Spam") as offered:
        reviewed.submit(item.pk, "Spam")
    assert (offered.value.status, offered.value.errors[0].field) == (422, "value")
    with pytest.raises(Invalid, match="NUL"):
        reviewed.submit(item.pk, "good\0")
    with pytest.raises(Invalid, match="half of a character pair"):
        reviewed.submit(item.pk, "\ud800")
    with pytest.raises(Invalid, match="give a label"):
        reviewed.submit(item.pk)
    with pytest.raises(NotFound):
        reviewed.submit(10**6, "good")
    with pytest.raises(Invalid):
        managed.preannotate(protocol="guess")
    with pytest.raises(Invalid):
        managed.preannotate(model="nobody's")
    assert LabelRow.objects.count() == RunRow.objects.count() == 0


def test_what_cannot_be_meant_is_not_even_sent(
    project: ProjectRow, reviewed: ProjectClient, client_of: Callable[[User], Client]
) -> None:
    client = client_of(UserFactory.create())
    with pytest.raises(WrongUse, match="slug"):
        client.project("../users").info()
    with pytest.raises(WrongUse, match="'colour' is no option"):
        reviewed.items(colour="red")
    with pytest.raises(WrongUse, match="'certainty' is no option"):
        reviewed.submit(1, "good", certainty=1.0)
    with pytest.raises(WrongUse, match="not NoneType"):
        reviewed.submit(None, "good")  # type: ignore[arg-type]
    with pytest.raises(WrongUse, match="as JSON"):
        reviewed.submit(1, float("nan"))
