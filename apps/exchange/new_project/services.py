"""Files that wait for their project, and the project with its first import in one step."""

import os
import re
import shutil
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core import signing
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils.text import capfirst

from apps.accounts.models import User
from apps.common import shared_files
from apps.exchange.readers import format_of
from apps.exchange.services.imports import (
    STALE_AFTER,
    discard_file,
    queue_import,
    receive_upload,
    store_upload,
    stored_name,
)
from apps.projects.models import ImportBatch, Project
from apps.projects.services import create_project
from labelhub.core.errors import InvalidInput
from labelhub.core.phrases import Phrase
from labelhub.core.schema import Schema

SALT = "exchange.new_project"


@dataclass(frozen=True, slots=True)
class WaitingUpload:
    """A stored file that belongs to no project yet. Its ``token`` is signed, and of use only to the
    person who sent the file, for a day."""

    path: Path
    file_name: str
    format: str
    token: str

    @property
    def project_name(self) -> str:
        """A name for the project, from the name of the file."""
        words = re.sub(r"[\W_]+", " ", Path(self.file_name).stem).strip()
        return capfirst(words)[:200]


def keep_upload(user: User, upload: UploadedFile) -> WaitingUpload:
    """Store a file until its project is created.

    Raises:
        UnreadableFile: empty or of an unknown kind; nothing is kept.
    """
    path = store_upload(upload.chunks())
    file_name = Path((upload.name or "").replace("\\", "/")).name[:255]
    try:
        name = format_of(file_name, path, upload.content_type or "")
    except BaseException:
        discard_file(path)
        raise
    token = signing.dumps([user.pk, path.name, file_name, name], salt=SALT)
    return WaitingUpload(path, file_name, name, token)


def find_upload(user: User, token: str) -> WaitingUpload:
    """The file of :func:`keep_upload`.

    Raises:
        InvalidInput: it is gone, or somebody else's.
    """
    try:
        owner, stored, file_name, name = signing.loads(token, salt=SALT, max_age=STALE_AFTER)
    except signing.BadSignature:
        owner, stored, file_name, name = None, "", "", ""
    with suppress(FileNotFoundError):
        if owner == user.pk and (path := shared_files.local_copy(stored_name(stored))).is_file():
            return WaitingUpload(path, file_name, name, token)
    raise InvalidInput.at("file", "The file is no longer here: choose it again.")


def create_and_import(
    *,
    actor: User,
    key: UUID,
    schema: Schema,
    fields: Mapping[str, Any],
    upload: WaitingUpload | None = None,
    sample_rows: bytes = b"",
    **choices: Any,
) -> tuple[Project, ImportBatch | None]:
    """Create a project and start the import of its file or sample, both or neither.

    ``choices`` are those of :func:`queue_import`. The same ``key`` sent twice, even at the same
    time, creates one project.

    Raises:
        InvalidInput: see ``create_project`` and ``queue_import``.
    """
    path = _copy(upload.path) if upload else store_upload([sample_rows]) if sample_rows else None
    name = upload.file_name if upload else "sample.jsonl"
    try:
        with transaction.atomic():
            project = create_project(actor=actor, schema=schema, **fields)
            project.creation_key = key
            project.save(update_fields=["creation_key"])
            batch = None
            if path is not None:
                batch = receive_upload(project=project, actor=actor, path=path, file_name=name)
                batch = queue_import(batch, **choices)
        return project, batch
    except (InvalidInput, IntegrityError) as error:
        if path is not None:
            discard_file(path)
        first = Project.objects.filter(creation_key=key, created_by=actor).first()
        if first is None:
            if isinstance(error, IntegrityError):
                message = Phrase("Another project has just taken this short name; choose another.")
                raise InvalidInput.at("slug", message) from None
            raise
        return first, first.imports.order_by("pk").first()


def _copy(path: Path) -> Path:
    """The same file under a new name, so that the page can be sent again."""
    copied = path.with_name(uuid.uuid4().hex)
    try:
        os.link(path, copied)
    except OSError:  # not every file system has links
        shutil.copyfile(path, copied)
    shared_files.publish(copied)
    return copied
