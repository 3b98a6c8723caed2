"""Imports of archives: checked as a whole, then loaded in chunks that a kill can interrupt. Until
the last chunk nobody sees the project.

Each table gets a block of keys that nothing else has: a new key is the old one plus the shift of
its table. So order and references stay, no reference can lead out of the project, and nothing need
be remembered about single rows.
"""

import hashlib
import secrets
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, connection, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.authors.models import Author, Site
from apps.common import shared_files
from apps.common.audit import Action, record
from apps.common.bulk import insert_rows, refresh_statistics, reserve_block
from apps.common.jobs import (
    RETRY_AFTER,
    JobRun,
    Postponed,
    cancel_job,
    failure_message,
    job,
    start_job,
    work_on,
)
from apps.common.locks import lock
from apps.common.queues import HEAVY
from apps.common.rows import new_row
from apps.common.sealing import seal
from apps.debates.models import Run
from apps.echo.models import Experiment, LogEvent
from apps.exchange.archive.file import ArchiveFile, ContentCheck, Member, RefusedArchive
from apps.exchange.archive.tables import (
    EVENT_NAMES,
    JSON_KEYS,
    KEYS,
    LABEL,
    LOG,
    MODEL,
    PROGRESS,
    PROJECT,
    PROMPT,
    PROVIDER,
    STATE,
    STOPPED,
    USER,
    Table,
    tables,
    translate_event,
    translate_json,
)
from apps.exchange.models import ProjectImport
from apps.exchange.services.imports import discard_file
from apps.labels.models import Label
from apps.labels.services.item_ledger import read_ledgers
from apps.labels.services.states import lock_states, settle_states
from apps.llm.models import ModelSpec, PromptVersion, Provider
from apps.projects.models import Project
from apps.projects.selectors import free_slug
from labelhub.core.errors import Conflict, InvalidInput, NotFound, Unavailable
from labelhub.core.phrases import Phrase, join_sentences

KIND = "exchange.import_project"
Status = ProjectImport.Status
#: Imports that may wait or work at once.
CONCURRENT = 3
#: Rows of a transaction; longer rows make shorter chunks.
CHUNK, CHUNK_BYTES = 1000, 8 * 1024**2
#: Names in the result.
MOST_NAMES = 200


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
        with closing(ArchiveFile(path)) as archive:
            rows = sum(member.rows for member in archive.members.values())
        row = ProjectImport(
            file_name="".join(filter(str.isprintable, file_name))[:255],
            stored_path=shared_files.name_of(path),
            slug=slug.strip(),
            dry_run=dry_run,
            match_people=match_people,
            rows_total=rows,
            created_by=actor,
        )
        _check_slug(row.slug)
        with transaction.atomic():
            lock(KIND)
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
        if not locked.moving or locked.status == Status.UNDOING:
            raise Conflict("This import has ended already.")
        fail_import(row.pk, InvalidInput("It was stopped."))
        record(Action.IMPORT_STOPPED, row)


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
        row.save(update_fields=["status", "message"])
    else:
        _end(row, Status.FAILED)


def _end(row: ProjectImport, status: Status) -> None:
    """With the transaction, which also has the stored archive deleted."""
    if row.stored_path:
        transaction.on_commit(partial(shared_files.delete, row.stored_path))
    row.status, row.finished_at, row.stored_path, row.cursor = status, timezone.now(), "", {}
    row.save()


@job(KIND, fail=fail_import, queue=HEAVY)
def import_project(run: JobRun) -> None:
    """Check all of the archive, then load it; or delete what was loaded."""
    unended = ProjectImport.objects.exclude(status__in=ProjectImport.ENDED)
    row = unended.filter(pk=run.subject).first()
    if row is None:
        return
    try:
        if row.status == Status.UNDOING:
            delete_loaded(run, row)
            with run.last_chunk():
                Project.objects.filter(pk=row.project_id or 0).delete()
                row.project = None
                _end(row, Status.FAILED)
        else:
            _read(run, row)
    except (IntegrityError, DataError) as error:
        # Not an outage of the database: the rows contradict each other.
        raise RefusedArchive(
            "Rows of the archive contradict each other: %(reason)s", reason=str(error)[:300]
        ) from error


def _read(run: JobRun, row: ProjectImport) -> None:
    try:
        archive = ArchiveFile(shared_files.local_copy(row.stored_path))
    except Unavailable as error:
        raise Postponed(error.message, RETRY_AFTER) from error
    with closing(archive):
        if row.status != Status.LOADING:
            _check(run, row, archive)
        if not row.dry_run:
            _load(run, row, archive)


def _check(run: JobRun, row: ProjectImport, archive: ArchiveFile) -> None:
    """Read everything once. Nothing is written but what people are told."""
    with run.chunk(further=False):
        row.status, row.rows_done = Status.CHECKING, 0
        row.save(update_fields=["status", "rows_done"])
    content, done = ContentCheck(), 0
    for name in archive.members:
        for _ in archive.rows(name, content=content):
            done += 1
            if done % CHUNK == 0:
                run.keep()
            if done % (20 * CHUNK) == 0:
                ProjectImport.objects.filter(pk=row.pk).update(rows_done=done)
    digest = hashlib.sha256()
    with shared_files.local_copy(row.stored_path).open("rb") as file:
        while piece := file.read(1024**2):
            digest.update(piece)
            run.keep()
    project = next(archive.rows(PROJECT))
    table = archive.members[PROJECT].table
    row.slug = row.slug or slug_for(project[table.named("slug")])
    row.result = _findings(row, archive) | {"sha256": digest.hexdigest()}
    if row.dry_run:
        with run.last_chunk():
            row.message = Phrase("The archive can be imported; nothing was changed.")
            _end(row, Status.DONE)
        return
    with run.chunk():
        row.status, row.rows_done = Status.LOADING, 0
        row.save(update_fields=["status", "rows_done", "slug", "result"])


def _findings(row: ProjectImport, archive: ArchiveFile) -> dict[str, Any]:
    """What people are told before and after."""
    people = People(row, archive)
    return {
        "software": archive.software,
        "server": str(archive.manifest.get("server", ""))[:200],
        "exported_at": str(archive.manifest.get("created_at", ""))[:40],
        "slug": row.slug,
        "counts": {name: member.rows for name, member in archive.members.items() if member.rows},
        "people_found": sorted(people.found)[:MOST_NAMES],
        "people_missing": sorted(people.missing)[:MOST_NAMES],
        "models_missing": _missing_models(archive)[:MOST_NAMES],
        "sites": [],
        "rows_left_out": 0,
    }


def _missing_models(archive: ArchiveFile) -> list[str]:
    """Models that no shared provider here has, as ``provider/model``."""
    if MODEL not in archive.members:
        return []
    providers = {row[0]: row for row in archive.rows(PROVIDER)}
    fields = archive.members[MODEL].table
    provider, name = fields.named("provider"), fields.named("name")
    return [
        f"{providers[row[provider]][1]}/{row[name]}"
        for row in archive.rows(MODEL)
        if row[provider] in providers and _shared_model(providers[row[provider]], row[name]) is None
    ]


def _shared_model(provider: Sequence[Any], name: str) -> ModelSpec | None:
    """The model here of that name, of a shared provider of that name and kind."""
    return ModelSpec.objects.filter(
        provider__project=None,
        provider__removed_at=None,
        provider__name=provider[1],
        provider__kind=provider[3],
        name=name,
    ).first()


def _load(run: JobRun, row: ProjectImport, archive: ArchiveFile) -> None:
    loader = Loader(run, row, archive)
    loader.reserve()
    loader.load()
    large = [member.table.model for member in archive.members.values() if member.rows >= CHUNK]
    refresh_statistics(*large)
    with run.last_chunk():
        loader.finish()
        row.message = Phrase("%(rows)s rows were loaded.", rows=row.rows_done)
        _end(row, Status.DONE)
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


def slug_for(slug: str) -> str:
    """A short name like it that no project has."""
    return free_slug(slug) or f"project-{secrets.token_hex(4)}"


class People:
    """The accounts of this server for the people in an archive, by their keys there."""

    def __init__(self, row: ProjectImport, archive: ArchiveFile) -> None:
        names = dict(archive.rows(USER)) if USER in archive.members else {}
        wanted = list(names.values()) if row.match_people else []
        here: dict[str, int] = {}
        for start in range(0, len(wanted), CHUNK):
            some = User.objects.filter(username__in=wanted[start : start + CHUNK])
            here |= dict(some.values_list("username", "pk"))
        self.by_key = {key: here[name] for key, name in names.items() if name in here}
        self.found = [name for name in names.values() if name in here]
        self.missing = [name for name in names.values() if name not in here]


def keyed_by(table: Table, by_name: Mapping[str, Table]) -> Table:
    """The table whose keys are those of ``table``."""
    while not table.counted:
        table = by_name[table.references[0]]
    return table


class Loader:
    """Loads an archive into the blocks that were reserved for it."""

    def __init__(self, run: JobRun, row: ProjectImport, archive: ArchiveFile) -> None:
        self._run, self._row, self._archive = run, row, archive
        self._shifts: dict[str, int] = row.cursor.setdefault("shifts", {})
        self._people = People(row, archive).by_key
        self._tables = {table.name: table for table in tables()}
        #: Of shared tables, the rows here by the keys there.
        self._shared: dict[str, dict[str, int]] = row.cursor.setdefault("shared", {})
        #: What no file may say, or not as it is.
        self._changes: dict[str, Callable[[list[Any]], None]] = {
            PROJECT: self._change_project,
            LABEL: self._change_labels,
            LOG: self._change_log,
            "authors.Site": self._change_sites,
            "echo.Experiment": self._change_experiments,
        }

    def reserve(self) -> None:
        """Keys for each table, so that nothing else takes them; a kill loses one block at most."""
        for table in tables():
            member = self._archive.members.get(table.name)
            if member and member.rows and table.counted and table.name not in self._shifts:
                with self._run.chunk():
                    count = member.last - member.first + 1
                    first = reserve_block(table.model, count)
                    self._shifts[table.name] = first - member.first
                    blocks = self._row.cursor.setdefault("blocks", {})
                    blocks[table.name] = [first, first + count - 1]
                    self._row.save(update_fields=["cursor"])

    def load(self) -> None:
        """All tables, from where the last worker was."""
        cursor = self._row.cursor
        for table in tables():
            if table.name not in self._archive.members or table.name in cursor.get("loaded", []):
                continue
            rows = self._archive.rows(table.name, after=cursor.setdefault("row", 0))
            while chunk := self._next_rows(rows):
                with self._run.chunk():
                    self._insert(table, chunk)
                    cursor["row"] += len(chunk)
                    self._row.rows_done += len(chunk)
                    self._save()
            with self._run.chunk():
                if table.name == PROJECT:
                    self._match_shared()
                cursor.setdefault("loaded", []).append(table.name)
                cursor["row"] = 0
                self._save()

    def _next_rows(self, rows: Iterator[list[Any]]) -> list[list[Any]]:
        chunk: list[list[Any]] = []
        size = 0
        while len(chunk) < CHUNK and size < CHUNK_BYTES and (row := next(rows, None)):
            chunk.append(row)
            size += self._archive.row_size
        return chunk

    def finish(self) -> None:
        """Switch on what waited until all rows were there."""
        row = self._row
        project = Project.objects.get(pk=row.project_id or 0)
        Project.objects.filter(pk=project.pk).update(loading=False)
        row.project = project
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
        return key + self._shifts[keyed_by(member.table, self._tables).name]

    def _progress(self, target: str, key: int) -> int:
        """The last row up to a key."""
        member = self._archive.members.get(target)
        if member is None or not member.has(min(key, member.last)):
            return 0
        return self._shift(member, min(key, member.last))

    def _insert(self, table: Table, rows: list[list[Any]]) -> None:
        people = table.named("assignees") if table.name == STATE else None
        before = [] if people is None else [len(row[people]) for row in rows]
        kept = self._translate_rows(table, rows)
        self._row.result["rows_left_out"] += len(rows) - len(kept)
        names = [column.attname for column in table.fields]
        made: list[Any] = [new_row(table.model, dict(zip(names, row, strict=True))) for row in kept]
        if change := self._changes.get(table.name):
            change(made)
        self._renew(table, made)
        insert_rows(made, keyed=True)
        if table.name == PROJECT:
            self._row.project_id = made[0].pk
        states = zip(made, before, strict=True) if before else ()
        # Nothing is kept for people who are not here.
        if items := [state.pk for state, count in states if len(state.assignees) < count]:
            project = Project.objects.get(pk=self._row.project_id or 0)
            settle_states(project, lock_states(items), read_ledgers(items))

    def _translate_rows(self, table: Table, rows: list[list[Any]]) -> list[list[Any]]:
        """Rows with the keys of this server; without those of people who are not here."""
        kept = rows
        for place, column in enumerate(table.fields):
            change = self._change_of(table, place)
            if change is None:
                continue
            for row in kept:
                if row[place] is not None:
                    row[place] = change(row[place])
            if table.references.get(place) == USER and not column.null:
                kept = [row for row in kept if row[place] is not None]
        return kept

    def _change_of(self, table: Table, place: int) -> Callable[[Any], Any] | None:
        """What becomes of the values of a column; None: they stay."""
        column = table.fields[place]
        name = str(column)
        if target := table.references.get(place):
            return partial(self.translate, target)
        if column.primary_key:
            return partial(self._shift, self._archive.members[table.name])
        if key_of := KEYS.get(name):
            return lambda key: self.translate(key_of, key) or 0
        if target := PROGRESS.get(name):
            return partial(self._progress, target)
        if spec := JSON_KEYS.get(name):
            return partial(translate_json, spec=spec, translate=self.translate)
        if name in EVENT_NAMES:
            return partial(translate_event, translate=self.translate)
        if stops := STOPPED.get(name):
            return lambda status: stops.get(status, status)
        return None

    def _renew(self, table: Table, rows: list[Any]) -> None:
        """Other public names for those that somebody has here."""
        for column in table.fields:
            if not column.unique or column.primary_key or column.is_relation:
                continue
            names = [getattr(row, column.name) for row in rows]
            found = table.rows.filter(**{f"{column.name}__in": list(filter(None, names))})
            taken = set(found.values_list(column.name, flat=True))
            for row, name in zip(rows, names, strict=True):
                if name in taken:
                    setattr(row, column.name, self._other(name))

    def _other(self, name: Any) -> Any:
        """The same each time, so that references to it can be found."""
        if isinstance(name, uuid.UUID):
            return uuid.uuid5(name, str(self._row.pk))
        key = f"pk_{secrets.token_urlsafe(18)}"
        self._row.cursor.setdefault("renewed", []).append(key)
        return key

    def _change_project(self, rows: list[Project]) -> None:
        slug = self._row.slug
        if Project.objects.filter(slug=slug).exists():
            slug = self._row.slug = self._row.result["slug"] = slug_for(slug)
        rows[0].slug, rows[0].loading = slug, True

    def _change_labels(self, rows: list[Label]) -> None:
        """The uids of runs that got another one."""
        others = {self._other(uid): uid for row in rows if (uid := row.run_uid) is not None}
        renewed = Run.objects.filter(project=self._row.project_id, uid__in=list(others))
        changed = {others[uid]: uid for uid in renewed.values_list("uid", flat=True)}
        for row in rows:
            if row.run_uid in changed:
                row.run_uid = changed[row.run_uid]

    def _change_log(self, rows: list[LogEvent]) -> None:
        """The log names authors by their uid, which may be another one."""
        authors = Author.objects.filter(pk__in={row.author_id for row in rows} - {None})
        uids = dict(authors.values_list("pk", "uid"))
        for row in rows:
            if row.author_id in uids and "author" in row.data:
                row.data |= {"author": uids[row.author_id].hex}

    def _change_sites(self, rows: list[Site]) -> None:
        for row in rows:
            row.enabled = False

    def _change_experiments(self, rows: list[Experiment]) -> None:
        """Arms are assigned by a key that does not travel: a running experiment is over."""
        for row in rows:
            row.sealed_key = seal(secrets.token_bytes(32))
            if row.started_at is not None and row.ended_at is None:
                row.ended_at = timezone.now()

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
        for row in self._archive.rows(MODEL):
            fields = {column.name: value for column, value in zip(table.fields, row, strict=True)}
            key, provider = fields.pop("id"), providers.get(fields.pop("provider"))
            if provider is None:
                raise RefusedArchive("The model %(name)s has no provider.", name=fields["name"])
            model = _shared_model(provider, fields["name"]) or self._own_model(provider, fields)
            self._shared[MODEL][str(key)] = model.pk

    def _own_model(self, provider: Sequence[Any], fields: dict[str, Any]) -> ModelSpec:
        _, name, preset, kind = provider
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
        return own


def delete_loaded(run: JobRun, row: ProjectImport) -> None:
    """Delete what was loaded but the project, table by table from the last, in chunks."""
    blocks: dict[str, list[int]] = row.cursor.get("blocks", {})
    quote, by_name = connection.ops.quote_name, {table.name: table for table in tables()}
    for table in reversed(tables()):
        block = blocks.get(keyed_by(table, by_name).name)
        if block is None or table.name == PROJECT:  # the project at last, with its providers
            continue
        column, name = quote(table.model._meta.pk.column), quote(table.model._meta.db_table)
        deleted = 1
        # The newest first: rows refer to earlier ones.
        while deleted:
            with run.chunk(), connection.cursor() as cursor:
                cursor.execute(
                    f"DELETE FROM {name} WHERE {column} IN (SELECT {column} FROM {name} "  # noqa: S608 - our own names
                    f"WHERE {column} BETWEEN %s AND %s ORDER BY {column} DESC LIMIT {CHUNK})",
                    block,
                )
                deleted = cursor.rowcount
