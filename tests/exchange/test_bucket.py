"""Uploads and saved exports in a bucket: machines share nothing else but the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings
from moto.server import ThreadedMotoServer
from pytest_django import Settings

from apps.common import shared_files
from apps.common.models import Job
from apps.common.s3 import SharedBucket
from apps.exchange.models import SavedExport
from apps.exchange.saved import files, services
from apps.exchange.services import imports
from apps.projects.models import ImportBatch, Project
from labelhub.core.errors import InvalidInput, Unavailable
from labelhub.settings.checks import bucket
from tests.factories.exchange import run_export
from tests.factories.labels import queued_items
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db
ROWS = b'{"id": "a", "text": "first"}\n{"id": "b", "text": "second"}\n'


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """A server that speaks S3."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


class Bucket:
    """A bucket, and machines that see it."""

    def __init__(self, endpoint: str, folder: Path, settings: Settings) -> None:
        self._s3 = boto3.client("s3", endpoint_url=endpoint)
        self._folder, self._settings, self._endpoint = folder, settings, endpoint
        self._s3.create_bucket(Bucket="labels")

    def names(self) -> list[str]:
        """The names of all files."""
        listed = self._s3.list_objects_v2(Bucket="labels").get("Contents", [])
        return [found["Key"] for found in listed]

    def empty(self) -> None:
        """Forget all files."""
        for name in self.names():
            self._s3.delete_object(Bucket="labels", Key=name)

    def machine(self, name: str) -> Path:
        """From now on we are this machine, with a data folder of its own."""
        self._settings.DATA_DIR = self._folder / name
        self._settings.DATA_DIR.mkdir(exist_ok=True)
        shared_files._due.clear()
        return Path(self._settings.DATA_DIR)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Nobody answers."""
        with override_settings(STORAGES=stored_at("http://127.0.0.1:9")):
            yield


def stored_at(endpoint: str) -> dict[str, Any]:
    """The setting of Django."""
    return {"default": bucket(f"s3://labels/of-us?endpoint={endpoint}&region=us-east-1")}


@pytest.fixture
def shared(
    endpoint: str, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Bucket:
    """An empty bucket."""
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.setenv(f"AWS_{name}", "of-the-test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    settings.STORAGES = stored_at(endpoint)
    settings.LABELHUB_FILES_URL = "s3://labels/of-us"
    made = Bucket(endpoint, tmp_path, settings)
    made.empty()
    made.machine("web")
    return made


@pytest.fixture
def project() -> Project:
    """A project with a schema."""
    return ProjectFactory.create()


def uploaded(project: Project, content: bytes = ROWS) -> ImportBatch:
    """A batch that waits for its columns."""
    path = imports.store_upload([content])
    return imports.receive_upload(project=project, actor=None, path=path, file_name="x.jsonl")


def test_an_upload_of_one_machine_is_imported_by_another_and_gone(
    shared: Bucket, project: Project
) -> None:
    batch = imports.queue_import(uploaded(project), send=False)
    assert shared.names() == [f"of-us/{batch.stored_path}"]
    worker = shared.machine("worker")
    assert imports.run_import(batch.pk).created == 2
    assert shared.names() == []
    assert not list((worker / "imports").iterdir())


def test_a_saved_export_is_read_and_deleted_by_another_machine(
    shared: Bucket, project: Project
) -> None:
    queued_items(project, 3)
    worker = shared.machine("worker")
    export = services.save_export(project=project, actor=None, format_name="jsonl")
    run_export(export)
    export.refresh_from_db()
    assert export.status == SavedExport.Status.DONE
    assert not list((worker / "saved-exports").iterdir())
    shared.machine("web")
    content = b"".join(files.read_file(export.stored_name))
    assert len(content) == export.size
    assert files.checksum(export.stored_name) == files.FileDigest(export.size, export.sha256)
    services.delete_export(export=export)
    assert shared.names() == []
    with pytest.raises(FileNotFoundError):
        files.read_file(export.stored_name)
    assert files.checksum(export.stored_name) is None


def test_while_the_bucket_is_away_uploads_are_refused_and_jobs_wait(
    shared: Bucket, project: Project
) -> None:
    queued_items(project, 1)
    batch = imports.queue_import(uploaded(project), send=False)
    export = services.save_export(project=project, actor=None, format_name="jsonl")
    worker = shared.machine("worker")
    with shared.away():
        with pytest.raises(Unavailable, match="file storage does not answer"):
            imports.store_upload([ROWS])
        imports.run_import(batch.pk)
        run_export(export)
        assert not [path for path in worker.rglob("*") if path.is_file()]
        batch.refresh_from_db()
        export.refresh_from_db()
        assert (batch.status, export.status) == ("running", "running")
    assert Job.objects.filter(lease_until__isnull=False, attempts=0).count() == 2
    Job.objects.update(lease_until=None)
    imports.run_import(batch.pk)
    run_export(export)
    batch.refresh_from_db()
    export.refresh_from_db()
    assert (batch.status, batch.created, export.status) == ("done", 2, "done")


def test_a_file_that_could_not_be_deleted_is_swept_later(shared: Bucket, project: Project) -> None:
    queued_items(project, 1)
    export = services.save_export(project=project, actor=None, format_name="jsonl")
    run_export(export)
    export.refresh_from_db()
    with shared.away():
        services.delete_export(export=export)
    assert len(shared.names()) == 1
    services.keep_exports()
    assert shared.names() == []


def test_old_uploads_of_nobody_leave_the_bucket(
    shared: Bucket, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    imports.store_upload([ROWS])
    kept = imports.queue_import(uploaded(project), send=False)
    shared.machine("worker")
    imports.sweep_uploads()
    assert len(shared.names()) == 2
    monkeypatch.setattr(shared_files, "age_of", lambda _name: 0.0)
    imports.sweep_uploads()
    assert len(shared.names()) == 2  # not looked at again so soon
    shared_files._due.clear()
    imports.sweep_uploads()
    assert shared.names() == [f"of-us/{kept.stored_path}"]


def test_a_refused_upload_leaves_nothing(shared: Bucket, project: Project) -> None:
    with pytest.raises(InvalidInput):
        uploaded(project, b"%PDF-1.7")
    assert shared.names() == []


def test_a_large_file_is_written_in_parts_and_the_lease_is_kept(
    shared: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[int] = []
    pieces = (bytes([number]) * 1024**2 for number in range(20))
    written = files.write_file("large", pieces, reported.append)
    assert reported.count(written.size) > 2  # while it is sent
    assert files.checksum("large") == written

    def stop(size: int) -> None:
        if size == 20 * 1024**2:
            raise RuntimeError("lost")

    with pytest.raises(RuntimeError, match="lost"):
        files.write_file("lost", (bytes(1024**2) for _ in range(20)), stop)
    assert shared.names() == ["of-us/saved-exports/large"]


@pytest.mark.parametrize(
    "url", ["labels", "s3:labels", "file:///labels", "s3:///x", "s3://labels?secret=x"]
)
def test_an_address_that_is_no_bucket_is_refused(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="s3://BUCKET"):
        bucket(url)


def test_the_storage_has_patience_for_seconds() -> None:
    config = SharedBucket(**bucket("s3://labels?endpoint=http://127.0.0.1:9")["OPTIONS"])
    assert (config.client_config.connect_timeout, config.client_config.read_timeout) == (5, 30)
