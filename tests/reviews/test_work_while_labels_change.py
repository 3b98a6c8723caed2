"""What works on many labels and a change of labels keep out of each other's way."""

import pytest

from apps.accounts.models import User
from apps.labels.models import Label
from apps.labels.services import record_label
from apps.projects.models import Project, SchemaChange
from apps.projects.selectors import current_schema
from apps.reviews.bulk.jobs import start_job, undo_job
from apps.reviews.models import BulkJob, Requeue
from apps.reviews.quality import requeue
from apps.reviews.quality.requeue import requeue_labels, run_requeue
from apps.reviews.schema_changes.services import run_change
from labelhub.core.errors import Conflict
from labelhub.core.schema import LabelDef
from labelhub.core.schema.operations import Add, Rename, Retire
from tests.factories.accounts import browser_of
from tests.factories.bulk import done, planned, undone
from tests.factories.labels import draft, open_item, person, queued_items
from tests.factories.reviews import answer, claim, reviewer, suggest
from tests.factories.schema_changes import begun, changed, said

pytestmark = pytest.mark.django_db
MORE = Add(LabelDef("fine"))
SWAP = (Rename("good", "bad"), Rename("bad", "good"))


def test_no_bulk_job_begins_while_labels_change(project: Project, manager: User) -> None:
    suggest(open_item(project), "good")
    change = begun(project, *SWAP)
    with pytest.raises(Conflict, match="are being changed"):
        start_job(planned(project, manager, "accept"))
    assert not BulkJob.objects.exists()
    client = browser_of(manager)
    shown = client.post(f"/p/{project.slug}/bulk/", {"do": "accept"}, follow=True)
    assert "are being changed" in shown.content.decode()
    run_change(change.pk)
    assert start_job(planned(project, manager, "accept")).status == "queued"


def test_nor_is_one_undone(project: Project, manager: User) -> None:
    item = open_item(project)
    suggest(item, "good")
    job = done(project, manager, "accept")
    change = begun(project, *SWAP)
    with pytest.raises(Conflict, match="are being changed"):
        undo_job(job=job, actor=manager)
    run_change(change.pk)
    undone(job, manager)
    assert not Label.objects.current().by_people().exists()


def test_what_is_undone_after_a_change_is_called_as_it_is_by_then(
    project: Project, manager: User
) -> None:
    item = open_item(project)
    provenance = {"spans": [{"label": "good", "start": 0, "end": 2}], "comment": "So."}
    by = person(project)
    record_label(draft(item, by, "good", evidence={"good": ["So"]}, provenance=provenance))
    job = done(project, manager, "return", reason="Anew.")
    changed(project, *SWAP)
    undone(job, manager)
    restored = Label.objects.current().by_people().get()
    assert (restored.value, restored.schema) == ("bad", current_schema(project))
    assert restored.evidence == {"bad": ["So"]}
    assert restored.provenance["spans"] == [{"label": "bad", "start": 0, "end": 2}]


def test_what_nothing_stands_for_any_more_is_not_said_again(
    project: Project, manager: User
) -> None:
    gone, kept = open_item(project), open_item(project)
    by = person(project)
    record_label(draft(gone, by, "good"))
    record_label(draft(kept, by, "bad"))
    job = done(project, manager, "return", reason="Anew.")
    changed(project, Retire("good"), Rename("bad", "poor"), MORE)
    job = undone(job, manager)
    assert (said(gone), said(kept)) == ({}, {by.name: "poor"})
    assert (job.counts["undone"], job.counts["kept"]) == (1, 1)


@pytest.fixture
def many(project: Project, monkeypatch: pytest.MonkeyPatch) -> User:
    """Somebody with more labels than are put back at once."""
    monkeypatch.setattr(requeue, "AT_ONCE", 1)
    user = reviewer(project)
    queued_items(project, 3)
    for _ in range(3):
        answer(claim(project, user), user, "good")
    return user


def test_labels_on_their_way_back_are_waited_for(
    project: Project, manager: User, many: User
) -> None:
    job = requeue_labels(project=project, user=many, by=manager, reason="Too fast.")
    with pytest.raises(Conflict, match="being put back"):
        begun(project, *SWAP)
    assert run_requeue(job.pk).done == 3
    assert changed(project, *SWAP).status == "done"


def test_none_is_put_back_while_labels_change(project: Project, manager: User, many: User) -> None:
    change = begun(project, *SWAP)
    with pytest.raises(Conflict, match="are being changed"):
        requeue_labels(project=project, user=many, by=manager, reason="Too fast.")
    assert not Requeue.objects.exists()
    run_change(change.pk)
    job = requeue_labels(project=project, user=many, by=manager, reason="Too fast.")
    assert run_requeue(job.pk).done == 3


def test_a_change_that_a_fault_has_stopped_is_not_waited_for_in_vain(
    project: Project, manager: User
) -> None:
    suggest(open_item(project), "good")
    change = begun(project, *SWAP)
    SchemaChange.objects.update(status="failed")
    with pytest.raises(Conflict, match="resume it first") as refused:
        start_job(planned(project, manager, "accept"))
    assert refused.value.data == {"change": change.pk}
