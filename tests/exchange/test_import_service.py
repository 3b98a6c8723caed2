"""run_import: what is created, what stays, what is told; aborts, races and resumption."""

import io
import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.conf import LazySettings
from django.utils import timezone

from apps.common import jobs
from apps.common.jobs import waiting_jobs
from apps.common.models import Job
from apps.exchange import rows
from apps.exchange.readers import isolation
from apps.exchange.services import chunks, imports
from apps.exchange.services.imports import (
    KIND,
    receive_upload,
    run_import,
    store_upload,
    sweep_uploads,
)
from apps.labels.models import Gold, ItemState, Label
from apps.projects.models import ImportBatch, Item
from labelhub.core.errors import Unavailable
from labelhub.core.phrases import Phrase
from tests.exchange.helpers import (
    MOOD,
    all_places_taken,
    counts,
    imported,
    ledger,
    lines,
    queued,
)
from tests.factories.projects import ImportBatchFactory, ProjectFactory

pytestmark = pytest.mark.django_db

THREE = lines(
    {"id": "1", "text": "good food", "gold": "good"},
    {
        "id": "2",
        "text": "bad food",
        "labels": [{"annotator": "w", "kind": "crowd", "value": "bad"}],
    },
    {"id": "3", "text": "food", "topic": "x"},
)


@pytest.fixture
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "CHUNK_ROWS", 2)


def test_rows_become_items_with_gold_labels_and_states() -> None:
    project = ProjectFactory.create()
    batch = imported(project, THREE)
    assert (batch.status, counts(batch), batch.labels_created) == ("done", (3, 0, 0, 0), 1)
    assert batch.message == "Read 3 rows: 3 created (1 with gold, 1 without a label), 0 unchanged."
    assert batch.bytes_done == batch.bytes_total == len(THREE)
    assert Gold.objects.get().basis == Gold.Basis.IMPORTED
    assert Label.objects.get().action == Label.Action.IMPORTED
    stages = ItemState.objects.order_by("item").values_list("stage", flat=True)
    assert list(stages) == ["decided", "in_review", "new"]
    assert Item.objects.get(external_id="3").meta == {"topic": "x"}


@pytest.mark.parametrize(
    ("row", "field", "message"),
    [
        ({"id": "1", "text": "other"}, "id", "content (text)"),
        ({"id": "1", "text": "good food", "topic": "y"}, "id", "content (meta)"),
        ({"id": "1", "text": "good food", "gold": "bad"}, "gold", "another gold"),
        (
            {"id": "1", "text": "good food", "labels": [{"annotator": "new", "value": "bad"}]},
            "labels[0]",
            "'new'",
        ),
    ],
)
def test_the_same_id_with_other_words_is_a_conflict(
    row: dict[str, Any], field: str, message: str
) -> None:
    project = ProjectFactory.create()
    imported(project, THREE)
    before = ledger(project)
    batch = imported(project, lines(row))
    assert counts(batch) == (0, 0, 1, 0)
    assert (batch.errors[0]["row"], batch.errors[0]["field"]) == (1, field)
    assert batch.errors[0]["kind"] == "conflict"
    assert message in Phrase.of(batch.errors[0]["message"])
    assert ledger(project) == before


def test_an_id_twice_in_a_file_is_unchanged_or_a_conflict() -> None:
    batch = imported(
        ProjectFactory.create(),
        lines({"id": "1", "text": "a"}, {"id": "1", "text": "a"}, {"id": "1", "text": "b"}),
    )
    assert counts(batch) == (1, 1, 1, 0)
    assert "already that of row 1" in Phrase.of(batch.errors[0]["message"])


def test_strict_writes_nothing_when_a_row_is_at_fault(short_chunks: None) -> None:
    project = ProjectFactory.create()
    content = lines({"text": "a"}, {"text": "b"}, {"text": "c"}, {"text": "d", "gold": "ugly"})
    batch = imported(project, content, strict=True)
    assert (batch.status, batch.failed, project.items.count()) == ("failed", 1, 0)
    assert batch.errors[0]["row"] == 4
    assert "Nothing was imported" in batch.message


def test_only_the_first_faults_are_kept_but_all_are_counted(
    monkeypatch: pytest.MonkeyPatch, short_chunks: None
) -> None:
    monkeypatch.setattr(imports, "MAX_NOTES", 3)
    batch = imported(ProjectFactory.create(), lines(*[{"text": ""}] * 7))
    assert (batch.failed, len(batch.errors)) == (7, 3)


def test_long_rows_make_short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small the file: packed formats unpack to any size."""
    monkeypatch.setattr(imports, "CHUNK_BYTES", 2000)
    write, sizes = chunks.write_chunk, []

    def counted(*args: Any) -> Any:
        sizes.append(len(args[1]))
        return write(*args)

    monkeypatch.setattr(imports, "write_chunk", counted)
    texts = pa.table({"text": [f"{number}" * 1000 for number in range(5)]})
    sink = io.BytesIO()
    pq.write_table(texts, sink, compression="zstd")
    assert imported(ProjectFactory.create(), sink.getvalue(), "x.parquet").created == 5
    assert sizes == [2, 2, 1]


@pytest.mark.django_db(transaction=True)
def test_a_stored_file_is_removed_when_done(settings: LazySettings) -> None:
    imported(ProjectFactory.create(), THREE)
    imported(ProjectFactory.create(), b"text\n", "x.csv")
    assert list((Path(settings.DATA_DIR) / "imports").iterdir()) == []


def killing(after: int, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let the import die while it writes chunk number ``after`` + 1."""
    write, calls = chunks.write_chunk, iter(range(100))

    def dying(*args: Any) -> Any:
        result = write(*args)
        if next(calls) == after:
            raise error
        return result

    monkeypatch.setattr(imports, "write_chunk", dying)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_an_aborted_import_goes_on_where_it_was(
    after: int, monkeypatch: pytest.MonkeyPatch, short_chunks: None
) -> None:
    rows = [{"id": str(number), "text": f"text {number}"} for number in range(5)] + [{"text": ""}]
    rows[0]["gold"], stands_for = "fine", {"fine": "good"}
    project, undisturbed = (ProjectFactory.create(definition=MOOD) for _ in range(2))
    batch = queued(project, lines(*rows), label_map=stands_for)
    with monkeypatch.context() as patch:
        killing(after, patch, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            run_import(batch.pk)
    assert project.items.count() == 2 * after
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    run_import(batch.pk)
    batch.refresh_from_db()
    at_once = imported(undisturbed, lines(*rows), label_map=stands_for)
    assert counts(batch) == counts(at_once) == (5, 0, 0, 1)
    assert (batch.status, batch.rows_done, len(batch.errors)) == ("done", 6, 1)
    assert (batch.gold_created, batch.unlabelled, batch.mapped_values) == (1, 4, 1)


def test_an_unexpected_fault_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = queued(ProjectFactory.create(), THREE)
    killing(0, monkeypatch, RuntimeError("boom"))
    batch = run_import(batch.pk)
    assert (batch.status, Item.objects.count()) == ("failed", 0)
    assert batch.message == (
        "It stopped because of a server error (RuntimeError). Rows read before: 0. "
        "Import the file again for the others."
    )


NOTHING: dict[str, str] = {}


def test_a_fault_of_ours_in_one_row_is_that_rows_error(monkeypatch: pytest.MonkeyPatch) -> None:
    read_text = rows._text

    def faulty(raw: Any, where: str, data: Mapping[str, Any]) -> str:
        return str(NOTHING["at all"]) if raw == "b" else read_text(raw, where, data)

    monkeypatch.setattr(rows, "_text", faulty)
    batch = imported(ProjectFactory.create(), lines({"text": "a"}, {"text": "b"}, {"text": "c"}))
    assert counts(batch) == (2, 0, 0, 1)
    (note,) = batch.errors
    assert (note["row"], note["kind"]) == (2, "error")
    assert "a fault of the server (KeyError)" in Phrase.of(note["message"])


def test_a_worker_that_lost_its_lease_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, short_chunks: None
) -> None:
    batch = queued(ProjectFactory.create(), THREE)
    write = chunks.write_chunk

    def overtaken(*args: Any) -> Any:
        Job.objects.update(lease_token=None)
        return write(*args)

    monkeypatch.setattr(imports, "write_chunk", overtaken)
    batch = run_import(batch.pk)
    assert (batch.status, batch.rows_done, Item.objects.count()) == ("running", 0, 0)


LONG = lines(*({"id": str(number), "text": "x" * 600_000} for number in range(2)))


def test_an_import_waits_until_it_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = queued(ProjectFactory.create(), LONG)
    monkeypatch.setattr(jobs, "LEASE", timedelta(seconds=0.3))
    rest, leases = time.sleep, list[Any]()
    with ExitStack() as others:
        others.enter_context(all_places_taken())

        def sleep(seconds: float) -> None:
            leases.append(Job.objects.get().lease_until)
            rest(seconds)
            if len(leases) == 4:
                others.close()

        monkeypatch.setattr(isolation, "sleep", sleep)
        assert counts(run_import(batch.pk)) == (2, 0, 0, 0)
    assert leases[0] < leases[-1]  # nobody else takes it meanwhile


def test_who_has_no_time_to_wait_leaves_the_import_to_others() -> None:
    batch = queued(ProjectFactory.create(), LONG)
    with all_places_taken(), pytest.raises(Unavailable):
        run_import(batch.pk, patience=0)
    assert waiting_jobs(KIND) == [batch.pk]
    batch = run_import(batch.pk)
    assert (batch.status, batch.created) == ("done", 2)


@pytest.mark.parametrize("name", ["", "parquet", "xlsx"])
def test_a_lost_upload_is_told(settings: LazySettings, name: str) -> None:
    batch = queued(ProjectFactory.create(), THREE)
    ImportBatch.objects.filter(pk=batch.pk).update(format=name or batch.format)
    (Path(settings.DATA_DIR) / batch.stored_path).unlink()
    assert "upload it again" in run_import(batch.pk).message


def test_uploads_that_nobody_started_are_forgotten(settings: LazySettings) -> None:
    project = ProjectFactory.create()
    stale = receive_upload(
        project=project, actor=None, path=store_upload([THREE]), file_name="x.jsonl"
    )
    ImportBatch.objects.update(created_at=timezone.now() - timedelta(days=2))
    ImportBatchFactory.create(project=project, created_at=timezone.now() - timedelta(days=2))
    queued(project, THREE)
    assert not ImportBatch.objects.filter(pk=stale.pk).exists()
    assert ImportBatch.objects.count() == 2
    assert len(list((Path(settings.DATA_DIR) / "imports").iterdir())) == 1


def test_the_number_of_queries_does_not_grow_with_the_rows(
    django_assert_max_num_queries: Callable[[int], Any],
) -> None:
    label = {"annotator": "w", "value": "good"}
    rows = [{"id": str(number), "text": f"t {number}", "labels": [label]} for number in range(60)]
    batch = queued(ProjectFactory.create(), lines(*rows))
    with django_assert_max_num_queries(46):
        run_import(batch.pk)


def test_old_files_that_no_import_needs_are_swept(settings: LazySettings) -> None:
    batches = [queued(ProjectFactory.create(), THREE) for _ in range(2)]
    kept, old = (Path(settings.DATA_DIR) / batch.stored_path for batch in batches)
    batches[1].project.delete()
    fresh = store_upload([THREE])
    long_ago = (timezone.now() - timedelta(days=2)).timestamp()
    for path in (kept, old):
        os.utime(path, (long_ago, long_ago))

    sweep_uploads()

    assert [path.exists() for path in (kept, old, fresh)] == [True, False, True]
