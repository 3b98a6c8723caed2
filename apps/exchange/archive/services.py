"""Imports of archives: checked as a whole, then loaded in chunks that a kill can interrupt.

Each table gets a block of keys that nothing else has: a new key is the old one plus the shift of
its table. So order and references stay, no reference can lead out of the project, and nothing need
be remembered about single rows. Until the last chunk nobody sees the project.
"""

import hashlib
import secrets
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, connection, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.authors.models import Author
from apps.common import shared_files
from apps.common.audit import Action, record
from apps.common.bulk import insert_rows, refresh_statistics, reserve_block
from apps.common.jobs import HEAVY, RETRY_AFTER, JobRun, Postponed, cancel_job, failure_message, job, start_job, work_on
from apps.common.rows import new_row
from apps.common.sealing import seal
from apps.debates.models import Run
from apps.echo.models import Echo
from apps.exchange.archive.content import ContentCheck
from apps.exchange.archive.file import ArchiveFile, Member, RefusedArchive
from apps.exchange.archive.tables import (
    ECHO, EVENT_NAMES, JSON_KEYS, KEYS, LABEL, LOG, MODEL, PROGRESS, PROJECT, PROMPT, PROVIDER, STOPPED, USER,
    Table, tables, translate_event, translate_json,
)
from apps.exchange.models import ProjectImport
from apps.exchange.services.imports import discard_file, stored_file
from apps.llm.models import ModelSpec, PromptVersion, Provider
from apps.projects.models import Project
from apps.projects.selectors import free_slug
from labelhub.core.errors import Conflict, InvalidInput, NotFound, Unavailable
from labelhub.core.phrases import Phrase, join_sentences

KIND = "exchange.import_project"
Status = ProjectImport.Status
#: Rows of a transaction; longer rows make shorter chunks.
CHUNK, CHUNK_BYTES = 1000, 8 * 1024**2
#: Names in the result.
MOST_NAMES = 200
#: Imports that may wait or work at once.
CONCURRENT = 3


def request_import(
    *,
    path: Any,
    file_name: str,
    actor: User | None,
    slug: str = "",
    dry_run: bool = False,
    match_people: bool = True,
    send: bool = True,
) -> ProjectImport:
    """Have a worker import a stored archive; with ``send=False`` the caller does
    (:func:`run_import`). An archive that cannot be opened is refused at once, and deleted.

    Raises:
        RefusedArchive: it is none.
        InvalidInput: the slug is malformed or taken.
        Conflict: three imports are unfinished.
    """
    try:
        archive = ArchiveFile(path)
        archive.close()
        row = ProjectImport(
            file_name="".join(filter(str.isprintable, file_name))[:255],
            stored_path=shared_files.name_of(path),
            slug=slug.strip(),
            dry_run=dry_run,
            match_people=match_people,
            rows_total=sum(member.rows for member in archive.members.values()),
            created_by=actor,
        )
        _check_slug(row.slug)
        with transaction.atomic():
            if ProjectImport.objects.exclude(status__in=ProjectImport.ENDED).count() >= CONCURRENT:
                raise Conflict("%(number)s archives are being imported; wait.", number=CONCURRENT)
            row.save(force_insert=True)
            start_job(KIND, row.pk, send=send)
            record(Action.IMPORT_STARTED, row, actor=actor, changes={"format": (None, "archive")})
    except BaseException:
        discard_file(path)
        raise
    return row


def _check_slug(slug: str) -> None:
    try:
        if slug:
            ProjectImport._meta.get_field("slug").run_validators(slug)
    except ValidationError as error:
        raise InvalidInput.at("slug", " ".join(error.messages)) from None
    if slug and Project.objects.filter(slug=slug).exists():
        raise InvalidInput.at(
            "slug", "There is already a project '%(slug)s'; choose another.", slug=slug
        )


def project_import(import_id: int) -> ProjectImport:
    """One import; NotFound if there is none."""
    found = ProjectImport.objects.select_related("project").filter(pk=import_id).first()
    if found is None:
        raise NotFound("There is no import %(import_id)s.", import_id=str(import_id))
    return found


def run_import(row: ProjectImport) -> ProjectImport:
    """Do it here, from where it was; see :func:`apps.common.jobs.work_on`."""
    work_on(KIND, row.pk)
    if ProjectImport.objects.filter(pk=row.pk, status=Status.UNDOING).exists():
        work_on(KIND, row.pk)
    return project_import(row.pk)


def cancel_import(row: ProjectImport) -> None:
    """Stop an import; a worker deletes what was loaded."""
    with transaction.atomic():
        cancel_job(KIND, row.pk)
        locked = ProjectImport.objects.select_for_update().get(pk=row.pk)
        if not locked.moving:
            raise Conflict("This import has ended already.")
        fail_import(row.pk, InvalidInput("It was stopped."))


def fail_import(import_id: int, error: Exception) -> None:
    """Store why, and have what was loaded deleted again."""
    row = ProjectImport.objects.get(pk=import_id)
    if isinstance(error, FileNotFoundError):
        row.message = Phrase("The uploaded file is gone; upload it again.")
    elif row.status == Status.UNDOING:
        row.message = join_sentences(
            row.message, Phrase("Not all of it could be deleted; see the server's log.")
        )
    else:
        row.message = failure_message(error)
    if "shifts" in row.cursor and row.status != Status.UNDOING:
        row.status = Status.UNDOING
        start_job(KIND, row.pk)
    else:
        row.status, row.finished_at = Status.FAILED, timezone.now()
        transaction.on_commit(partial(_discard, copy(row)))
        row.stored_path = ""
    row.save(update_fields=["status", "message", "finished_at", "stored_path"])


def _discard(row: ProjectImport) -> None:
    if row.stored_path:
        shared_files.delete(row.stored_path)


@job(KIND, fail=fail_import, queue=HEAVY)
def import_project(run: JobRun) -> None:
    """Check all of the archive, then load it."""
    row = ProjectImport.objects.filter(pk=run.subject).exclude(status__in=ProjectImport.ENDED).first()
    if row is None:
        return
    if row.status == Status.UNDOING:
        _undo(run, row)
        return
    try:
        path = stored_file(row)
    except Unavailable as error:
        raise Postponed(error.message, RETRY_AFTER) from error
    archive = ArchiveFile(path)
    try:
        if row.status != Status.LOADING:
            _check(run, row, archive)
        if not row.dry_run:
            _load(run, row, archive)
    except (IntegrityError, DataError) as error:
        # Not an outage of the database: the rows contradict each other.
        raise RefusedArchive(
            "Rows of the archive contradict each other: %(reason)s", reason=str(error)[:300]
        ) from error
    finally:
        archive.close()


def _check(run: JobRun, row: ProjectImport, archive: ArchiveFile) -> None:
    """Read everything once. Nothing is written but what people are told."""
    with run.chunk(further=False):
        row.status, row.rows_done = Status.CHECKING, 0
        row.save(update_fields=["status", "rows_done"])
    content, done = ContentCheck(), 0
    for name, member in archive.members.items():
        for _ in archive.rows(name, content=content.of(member.table)):
            done += 1
            if done % CHUNK == 0:
                run.keep()
            if done % (20 * CHUNK) == 0:
                ProjectImport.objects.filter(pk=row.pk).update(rows_done=done)
    digest = hashlib.sha256()
    with stored_file(row).open("rb") as file:
        while piece := file.read(1024**2):
            digest.update(piece)
            run.keep()
    project = next(archive.rows(PROJECT))
    table = archive.members[PROJECT].table
    row.slug = row.slug or _slug_for(project[table.named("slug")])
    row.result = _findings(row, archive) | {"sha256": digest.hexdigest()}
    if row.dry_run:
        with run.last_chunk():
            _end(row, Phrase("The archive can be imported; nothing was changed."))
        _discard(row)
        return
    with run.chunk():
        row.status, row.rows_done = Status.LOADING, 0
        row.save(update_fields=["status", "rows_done", "slug", "result"])


def _slug_for(slug: str) -> str:
    return free_slug(slug) or f"project-{secrets.token_hex(4)}"


def _findings(row: ProjectImport, archive: ArchiveFile) -> dict[str, Any]:
    """What people are told before and after."""
    people = _People(row, archive)
    return {
        "software": archive.software,
        "server": str(archive.manifest.get("server", ""))[:200],
        "exported_at": str(archive.manifest.get("created_at", ""))[:40],
        "slug": row.slug,
        "counts": {name: member.rows for name, member in archive.members.items() if member.rows},
        "people_found": sorted(people.found)[:MOST_NAMES],
        "people_missing": sorted(people.missing)[:MOST_NAMES],
        "models_missing": [],
        "sites": [],
        "rows_left_out": 0,
    }


class _People:
    """The accounts of this server for the people in an archive, by their keys there."""

    def __init__(self, row: ProjectImport, archive: ArchiveFile) -> None:
        listed = archive.rows(USER) if USER in archive.members else iter(())
        names = {key: name for key, name in listed}
        wanted = list(names.values()) if row.match_people else []
        here: dict[str, int] = {}
        for start in range(0, len(wanted), CHUNK):
            some = User.objects.filter(username__in=wanted[start : start + CHUNK])
            here |= dict(some.values_list("username", "pk"))
        self.by_key = {key: here[name] for key, name in names.items() if name in here}
        self.found = [name for name in names.values() if name in here]
        self.missing = [name for name in names.values() if name not in here]


def _load(run: JobRun, row: ProjectImport, archive: ArchiveFile) -> None:
    _reserve(run, row, archive)
    loader = _Loader(run, row, archive)
    loader.load()
    large = [member.table.model for member in archive.members.values() if member.rows >= CHUNK]
    refresh_statistics(*large)
    with run.last_chunk():
        loader.finish()
        done = Phrase("%(rows)s rows were loaded.", rows=row.rows_done)
        _end(row, done)
        record(
            Action.PROJECT_IMPORTED,
            row.project,
            actor=row.created_by,
            changes={
                "file": (None, row.file_name),
                "sha256": (None, row.result["sha256"]),
                "rows": (None, row.rows_done),
            },
        )
    _discard(row)


def _end(row: ProjectImport, message: Phrase) -> None:
    ended = copy(row)
    ended.status, ended.message, ended.finished_at = Status.DONE, message, timezone.now()
    ended.stored_path, ended.cursor = "", {}
    ended.save()


def _reserve(run: JobRun, row: ProjectImport, archive: ArchiveFile) -> None:
    """Keys for each table, so that nothing else takes them; a kill loses one block at most."""
    shifts = row.cursor.setdefault("shifts", {})
    for table in tables():
        member = archive.members.get(table.name)
        if member is None or not member.rows or not table.counted or table.name in shifts:
            continue
        with run.chunk():
            count = member.last - member.first + 1
            first = reserve_block(table.model, count)
            shifts[table.name] = first - member.first
            row.cursor.setdefault("blocks", {})[table.name] = [first, first + count - 1]
            row.save(update_fields=["cursor"])


class _Loader:
    """Loads an archive into the blocks that were reserved for it."""

    def __init__(self, run: JobRun, row: ProjectImport, archive: ArchiveFile) -> None:
        self._run, self._row, self._archive = run, row, archive
        self._shifts: dict[str, int] = row.cursor["shifts"]
        self._people = _People(row, archive).by_key
        self._tables = {table.name: table for table in tables()}
        #: Of shared tables, the rows here by the keys there.
        self._shared: dict[str, dict[str, int]] = row.cursor.setdefault("shared", {})

    def load(self) -> None:
        """All tables, from where the last worker was."""
        cursor = self._row.cursor
        for table in tables():
            if table.name not in self._archive.members or table.name in cursor.get("loaded", []):
                continue
            after = cursor.get("row", 0)
            rows = self._archive.rows(table.name, after=after)
            loaded = 0
            while chunk := self._chunk(rows):
                with self._run.chunk():
                    self._insert(table, chunk)
                    cursor["row"] = after + (loaded := loaded + len(chunk))
                    self._row.rows_done += len(chunk)
                    self._save()
            with self._run.chunk():
                if table.name == PROJECT:
                    self._match_shared()
                cursor.setdefault("loaded", []).append(table.name)
                cursor["row"] = 0
                self._save()

    def _chunk(self, rows: Iterator[list[Any]]) -> list[list[Any]]:
        chunk, size = [], 0
        for row in rows:
            chunk.append(row)
            size += self._archive.row_size
            if len(chunk) >= CHUNK or size >= CHUNK_BYTES:
                break
        return chunk

    def finish(self) -> None:
        """Switch on what waited until all rows were there."""
        row = self._row
        project = Project.objects.get(pk=row.project_id)
        Project.objects.filter(pk=project.pk).update(loading=False)
        row.project = project
        on = row.cursor.get("on", {})
        for site, settings in on.items():
            # ``erased``: Echo makes its state anew from the log.
            Echo.objects.filter(pk=int(site)).update(**settings, erased=1)
        row.result |= {
            "sites": [
                {"name": name, "public_key": key, "renewed": key in row.cursor.get("renewed", [])}
                for name, key in project.sites.values_list("name", "public_key")
            ][:MOST_NAMES],
        }

    def _save(self) -> None:
        self._row.save(update_fields=["cursor", "rows_done", "project", "result"])

    def translate(self, target: str, key: int) -> int | None:
        """The key here of a row of the archive; None if it means nothing here."""
        if target == USER:
            return self._people.get(key)
        if target in self._shared:
            return self._shared[target].get(str(key))
        member = self._archive.members.get(target)
        if member is None or not member.has(key):
            return None
        return self._shift(member, key)

    def _shift(self, member: Member, key: int) -> int:
        """The key here of a row whose key may be that of another table's row."""
        return key + self._shifts[_keyed_by(member.table, self._tables).name]

    def _progress(self, target: str, key: int) -> int:
        """The last row up to a key."""
        member = self._archive.members.get(target)
        if member is None or not member.has(min(key, member.last)):
            return 0
        return self._shift(member, min(key, member.last))

    def _insert(self, table: Table, rows: list[list[Any]]) -> None:
        kept = self._translate_rows(table, rows)
        self._row.result["rows_left_out"] += len(rows) - len(kept)
        change = {
            PROJECT: self._change_project,
            LABEL: self._change_labels,
            ECHO: self._hold_echo,
            LOG: self._change_log,
            "echo.Experiment": self._end_experiments,
        }.get(table.name)
        if change is not None:
            change(table, kept)
        self._renew(table, kept)
        names = [column.attname for column in table.fields]
        # What no file may say: a secret, and that the project is there.
        ours: Callable[[], dict[str, Any]] = {
            PROJECT: lambda: {"loading": True},
            "echo.Experiment": lambda: {"sealed_key": seal(secrets.token_bytes(32))},
        }.get(table.name, dict)
        made = [new_row(table.model, dict(zip(names, row, strict=True)) | ours()) for row in kept]
        insert_rows(made, keyed=True)
        if table.name == PROJECT:
            self._row.project_id = made[0].pk

    def _translate_rows(self, table: Table, rows: list[list[Any]]) -> list[list[Any]]:
        """Rows with the keys of this server; without those of people who are not here."""
        kept = rows
        for place, column in enumerate(table.fields):
            name = str(column)
            change: Callable[[Any], Any] | None = None
            if target := table.references.get(place):
                change = partial(self.translate, target)
            elif column.primary_key:
                change = partial(self._shift, self._archive.members[table.name])
            elif target := KEYS.get(name):
                change = lambda key, target=target: self.translate(target, key) or 0
            elif target := PROGRESS.get(name):
                change = partial(self._progress, target)
            elif spec := JSON_KEYS.get(name):
                change = lambda value, spec=spec: translate_json(value, spec, self.translate)
            elif name in EVENT_NAMES:
                change = lambda text: translate_event(text, self.translate)
            elif stops := STOPPED.get(name):
                change = lambda status, stops=stops: stops.get(status, status)
            if change is None:
                continue
            for row in kept:
                if row[place] is not None:
                    row[place] = change(row[place])
            if table.references.get(place) == USER and not column.null:
                kept = [row for row in kept if row[place] is not None]
        return kept

    def _renew(self, table: Table, rows: list[list[Any]]) -> None:
        """Other public names for those that somebody has here."""
        for place, column in enumerate(table.fields):
            if not column.unique or column.primary_key or column.is_relation:
                continue
            names = [row[place] for row in rows if row[place] is not None]
            found = table.model._base_manager.filter(**{f"{column.name}__in": names})
            taken = set(found.values_list(column.name, flat=True))
            for row in rows:
                if row[place] in taken:
                    row[place] = self._other(row[place])

    def _other(self, name: Any) -> Any:
        """The same each time, so that references to it can be found."""
        if isinstance(name, uuid.UUID):
            return uuid.uuid5(name, str(self._row.pk))
        key = f"pk_{secrets.token_urlsafe(18)}"
        self._row.cursor.setdefault("renewed", []).append(key)
        return key

    def _change_project(self, table: Table, rows: list[list[Any]]) -> None:
        slug = self._row.slug
        if Project.objects.filter(slug=slug).exists():
            slug = self._row.slug = self._row.result["slug"] = _slug_for(slug)
        rows[0][table.named("slug")] = slug

    def _change_labels(self, table: Table, rows: list[list[Any]]) -> None:
        """The uids of runs that got another one."""
        place = table.named("run_uid")
        others = {self._other(row[place]): row[place] for row in rows if row[place] is not None}
        renewed = Run.objects.filter(project=self._row.project_id, uid__in=list(others))
        changed = {others[uid]: uid for uid in renewed.values_list("uid", flat=True)}
        for row in rows:
            row[place] = changed.get(row[place], row[place])

    def _hold_echo(self, table: Table, rows: list[list[Any]]) -> None:
        """Nothing learns until the log is whole."""
        on, logged = table.named("on"), table.named("logged")
        held = self._row.cursor.setdefault("on", {})
        for row in rows:
            held[str(row[0])] = {"on": row[on], "logged": row[logged]}
            row[on], row[logged] = False, 0

    def _change_log(self, table: Table, rows: list[list[Any]]) -> None:
        """The log names authors by their uid, which may be another one."""
        author, data = table.named("author"), table.named("data")
        uids = dict(
            Author.objects.filter(pk__in={row[author] for row in rows} - {None}).values_list(
                "pk", "uid"
            )
        )
        for row in rows:
            if row[author] in uids and "author" in row[data]:
                row[data] = row[data] | {"author": uids[row[author]].hex}

    def _end_experiments(self, table: Table, rows: list[list[Any]]) -> None:
        """Arms are assigned by a key that does not travel: a running experiment is over."""
        started, ended = table.named("started_at"), table.named("ended_at")
        for row in rows:
            if row[started] is not None and row[ended] is None:
                row[ended] = timezone.now()

    def _match_shared(self) -> None:
        """Prompts by their hash, models by the names of their provider and their own; what is not
        here becomes a model of a provider without address and key, that only this project has."""
        members = self._archive.members
        prompts: dict[str, int] = {}
        for key, hash_, name, body in self._archive.rows(PROMPT) if PROMPT in members else ():
            version, _ = PromptVersion.objects.get_or_create(
                hash=hash_, defaults={"name": name, "body": body}
            )
            prompts[str(key)] = version.pk
        self._shared[PROMPT] = prompts
        self._shared[MODEL] = {}
        if MODEL not in members:
            return
        providers = {row[0]: row for row in self._archive.rows(PROVIDER)}
        table = members[MODEL].table
        missing = self._row.result["models_missing"]
        for row in self._archive.rows(MODEL):
            fields = {column.name: value for column, value in zip(table.fields, row, strict=True)}
            key, provider = fields.pop("id"), providers[fields.pop("provider")]
            model, found = self._model(provider, fields)
            self._shared[MODEL][str(key)] = model.pk
            if not found and len(missing) < MOST_NAMES:
                missing.append(f"{provider[1]}/{model.name}")

    def _model(self, provider: Sequence[Any], fields: dict[str, Any]) -> tuple[ModelSpec, bool]:
        _, name, preset, kind = provider
        shared = ModelSpec.objects.filter(
            provider__project=None,
            provider__removed_at=None,
            provider__name=name,
            provider__kind=kind,
            name=fields["name"],
        ).first()
        if shared is not None:
            return shared, True
        place, _ = Provider.objects.get_or_create(
            project_id=self._row.project_id,
            name=name,
            removed_at=None,
            defaults={"preset": preset, "kind": kind},
        )
        own = ModelSpec.objects.filter(provider=place, name=fields["name"]).first()
        if own is None:
            own = ModelSpec(provider=place, **fields)
            try:
                own.full_clean()
            except ValidationError as error:
                raise RefusedArchive(
                    "The model %(name)s: %(reason)s", name=own.name, reason=" ".join(error.messages)
                ) from None
            own.save()
        return own, False


def _keyed_by(table: Table, by_name: Mapping[str, Table]) -> Table:
    """The table whose keys are those of ``table``."""
    while not table.counted:
        table = by_name[table.references[0]]
    return table


def _undo(run: JobRun, row: ProjectImport) -> None:
    """Delete what was loaded, table by table from the last, in chunks."""
    blocks: dict[str, list[int]] = row.cursor.get("blocks", {})
    quote, by_name = connection.ops.quote_name, {table.name: table for table in tables()}
    for table in reversed(tables()):
        block = blocks.get(_keyed_by(table, by_name).name)
        if block is None:
            continue
        column, name = quote(table.model._meta.pk.column), quote(table.model._meta.db_table)
        deleted = 1
        while deleted:
            with run.chunk(), connection.cursor() as cursor:
                cursor.execute(
                    f"DELETE FROM {name} WHERE {column} IN (SELECT {column} FROM {name} "  # noqa: S608 - our own names
                    f"WHERE {column} BETWEEN %s AND %s ORDER BY {column} LIMIT {CHUNK})",
                    block,
                )
                deleted = cursor.rowcount
    with run.last_chunk():
        Project.objects.filter(pk=row.project_id or 0).delete()
        row.status, row.finished_at = Status.FAILED, timezone.now()
        ended = copy(row)
        row.stored_path, row.cursor, row.project_id = "", {}, None
        row.save()
    _discard(ended)
