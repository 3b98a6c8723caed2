"""Backups, restored elsewhere with other secrets; damaged, refused, interrupted ones."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.core.checks import run_checks
from django.db import connection
from pytest_django import Settings

from apps.authors.models import Author, Message
from apps.common.sealing import key_ids, opened_by, seal, unseal
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.management.recovery.archive import Archive, ArchiveWriter, DamagedBackup, Manifest
from labelhub.management.recovery.backup import write_backup
from labelhub.management.recovery.restore import lost_values, remarks_on
from labelhub.management.recovery.sealed import count_sealed, reseal_all
from tests.factories.accounts import UserFactory
from tests.factories.authors import author_of, message_of, site_with_features
from tests.fakes.client import Client
from tests.fakes.stack import MANAGE, ROOT, Stack

thorough = pytest.mark.thorough
LEDGER = """
    SELECT id, uid, item_id, value, action, created_at FROM labels_label WHERE id <= {} ORDER BY id
"""
#: Encrypted values of each kind, a saved export and an upload that waits.
FILL = """
import json
from uuid import uuid4
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.utils import timezone
from apps.accounts.models import User
from apps.authors.models import Message, Site, SiteKey
from apps.common.models import IdempotentRequest
from apps.common.sealing import seal
from apps.exchange.models import Webhook
from apps.exchange.services.imports import receive_upload, store_upload
from apps.llm.models import Provider
from apps.projects.models import Project
from tests.factories.authors import author_of, message_of
from tests.factories.exchange import saved
project = Project.objects.get(slug="hotel-reviews")
site = Site.objects.first()
message = message_of(author_of(site))
Message.objects.filter(pk=message.pk).update(sealed=seal(b"as written"))
SiteKey.objects.create(site=site, purpose="sign", kid="k-1", sealed=seal(b"signs"))
Webhook.objects.create(project=project, url="https://x.example", secret=seal(b"whsec_bmV3"),
                       old_secret=seal(b"whsec_b2xk"), status="off")
Provider.objects.create(name="P", base_url="http://127.0.0.1:9/v1", sealed_key=seal(b"sk-1"))
Provider.objects.create(name="V", base_url="http://127.0.0.1:9/v1", api_key_env="GATE_API_KEY")
user = User.objects.first()
TOTP.activate(user, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
RecoveryCodes.activate(user)
IdempotentRequest.objects.create(user=user, key="k", token=uuid4(), started_at=timezone.now(),
                                 status=201, body=seal(b"answer"))
export = saved(project)
path = store_upload([b'{"text": "waits"}'])
batch = receive_upload(project=project, actor=None, path=path, file_name="x.jsonl")
print(json.dumps([export.stored_name, batch.stored_path]))
"""
#: Values that FILL and the demo encrypt.
SEALED = 9


def manifest_of(**fields: Any) -> Manifest:
    """What an archive says of itself."""
    return Manifest(
        **{
            "version": "1", "created_at": "2026-01-01", "database": "sqlite", "migrations": [],
            "rows": {}, "sealed": {}, "secret": "", "variables": [],
        } | fields
    )  # fmt: skip


def written(path: Path, **fields: Any) -> Path:
    """A small archive."""
    manifest = manifest_of(**fields)
    with path.open("w+b") as file:
        archive = ArchiveWriter(file)
        for name in ("database.sqlite3", "files/imports/a"):
            with archive.member(name) as member:
                member.write(name.encode() * 50)
        archive.finish(manifest)
    return path


def test_an_archive_gives_back_what_was_written(tmp_path: Path) -> None:
    archive = Archive(written(tmp_path / "a"))
    with (tmp_path / "out").open("wb") as out:
        archive.copy("files/imports/a", out)
    assert (tmp_path / "out").read_bytes() == b"files/imports/a" * 50
    assert archive.manifest.members["files/imports/a"].bytes == 750
    listed = subprocess.run(["tar", "tf", tmp_path / "a"], capture_output=True, check=True)
    names = "database.sqlite3.gz files/imports/a.gz manifest.json SHA256"
    assert listed.stdout.decode().split() == names.split()


def test_each_damaged_byte_and_each_missing_end_is_noticed(tmp_path: Path) -> None:
    content = written(tmp_path / "a").read_bytes()
    path = tmp_path / "damaged"
    damaged = [content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
               for place in range(len(content))]  # fmt: skip
    cut = [content[:place] for place in range(0, len(content), 97)]

    def opens(changed: bytes) -> bool:
        path.write_bytes(changed)
        try:
            Archive(path)
        except DamagedBackup:
            return False
        return True

    assert opens(content)
    changes = [*damaged, *cut, content + b"\0", content * 2]
    assert [number for number, changed in enumerate(changes) if opens(changed)] == []


def test_an_archive_of_a_later_format_names_the_version(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"LabelHub 9\.1"):
        Archive(written(tmp_path / "a", format=2, version="9.1"))


def test_lost_values_are_counted_by_kind(settings: Settings) -> None:
    settings.LABELHUB_TEXT_KEYS = ["first", "second"]
    settings.SECRET_KEY = "another"
    first, second = key_ids()
    manifest = manifest_of(
        sealed={"a": {first: 1, second: 2, "": 4}, "b": {"0" * 16: 8, second: 1}},
        variables=["NO_SUCH_API_KEY", "PATH"],
    )  # fmt: skip
    assert lost_values(manifest) == {"b": 8}
    remarks = " ".join(remarks_on(manifest))
    assert "not set here: NO_SUCH_API_KEY." in remarks
    assert "4 encrypted values were unreadable" in remarks
    assert "sign in again" in remarks


def sealed_message(author: Author, text: bytes) -> Message:
    """A message with its encrypted text."""
    message = message_of(author)
    Message.objects.filter(pk=message.pk).update(sealed=seal(text))
    return message


@pytest.mark.django_db
def test_all_is_encrypted_with_the_first_key_and_the_old_key_can_go(settings: Settings) -> None:
    author = author_of(site_with_features())
    settings.LABELHUB_TEXT_KEYS = ["lost"]
    lost = sealed_message(author, b"lost")
    settings.LABELHUB_TEXT_KEYS = ["old"]
    old = [sealed_message(author, b"%d" % number) for number in range(3)]
    settings.LABELHUB_TEXT_KEYS = ["new", "old"]
    sealed_message(author, b"new")
    message_of(author)
    counts = reseal_all()["authors.Message.sealed"]
    assert counts == {"resealed": 3, "current": 4, "unreadable": 1}
    settings.LABELHUB_TEXT_KEYS = ["new"]
    assert reseal_all()["authors.Message.sealed"]["resealed"] == 0
    for message in [*old, lost]:
        message.refresh_from_db()
    assert [unseal(message.sealed or b"") for message in old] == [b"0", b"1", b"2"]
    assert opened_by(lost.sealed or b"") == ""
    assert count_sealed(connection)["authors.Message.sealed"] == {key_ids()[0]: 4, "": 1}


@pytest.mark.django_db
def test_second_steps_are_checked_by_a_restore_and_work_with_the_new_key(
    settings: Settings,
) -> None:
    column, user = "mfa.Authenticator.data", UserFactory.create()
    settings.LABELHUB_TEXT_KEYS = ["old"]
    TOTP.activate(user, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    codes = RecoveryCodes.activate(user).get_unused_codes()
    backup = {"sealed": count_sealed(connection)}
    moved = UserFactory.create()
    moved_codes = {"migrated_codes": [seal(b"1111").decode(), seal(b"2222").decode()]}
    Authenticator.objects.create(user=moved, type="recovery_codes", data=moved_codes)
    # Not encrypted: what a passkey has is public, its name is anything.
    name = {"name": '"secret": "gAAAAAB', "credential": {}}
    Authenticator.objects.create(user=user, type="webauthn", data=name)

    settings.LABELHUB_TEXT_KEYS = ["new"]
    assert lost_values(manifest_of(**backup)) == {column: 2}
    assert reseal_all()[column] == {"resealed": 0, "current": 0, "unreadable": 4}
    settings.LABELHUB_TEXT_KEYS = ["new", "old"]
    assert lost_values(manifest_of(**backup)) == {}
    assert reseal_all()[column] == {"resealed": 4, "current": 4, "unreadable": 0}
    settings.LABELHUB_TEXT_KEYS = ["new"]
    app, recovery = (Authenticator.objects.get(user=user, type=kind).wrap()
                     for kind in ("totp", "recovery_codes"))  # fmt: skip
    counter = hotp_value("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", next(yield_hotp_counters_from_time()))
    assert app.validate_code(str(format_hotp_value(counter)))
    assert recovery.get_unused_codes() == codes
    assert Authenticator.objects.get(user=moved).wrap().get_unused_codes() == ["1111", "2222"]
    assert Authenticator.objects.get(type="webauthn").data == name


@pytest.mark.django_db
def test_resealing_says_that_a_server_still_has_another_first_key(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed_message(author_of(site_with_features()), b"text")
    settings.LABELHUB_TEXT_KEYS = ["new", settings.SECRET_KEY]
    # As if a server wrote the value again after each pass.
    monkeypatch.setattr("labelhub.management.recovery.sealed.reseal", bytes)
    with pytest.raises(Conflict, match="restart all of them"):
        reseal_all()


def test_production_warns_that_texts_have_no_key_of_their_own(settings: Settings) -> None:
    def ids() -> set[str | None]:
        return {found.id for found in run_checks(tags=["security"], include_deployment_checks=True)}

    settings.LABELHUB_TEXT_KEYS = []
    assert "labelhub.W001" in ids()
    settings.LABELHUB_TEXT_KEYS = ["own"]
    assert "labelhub.W001" not in ids()


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("precious")
    with pytest.raises(InvalidInput, match="exists already"):
        write_backup(tmp_path / "there")
    assert (tmp_path / "there").read_text() == "precious"


def stack_in(folder: Path, database: str, **env: str) -> Stack:
    """Programs with their own folder."""
    folder.mkdir(exist_ok=True)
    return Stack(folder, **({"DATABASE_URL": database} if database else {}), **env)


def refused(stack: Stack, *arguments: str) -> str:
    """Why a command failed."""
    done = subprocess.run(
        [*MANAGE, *arguments], cwd=ROOT, env=stack.env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    return done.stderr


def keep_writing(client: Client, stop: threading.Event) -> None:
    """Import items with labels until ``stop``."""
    number = 0
    while not stop.is_set():
        rows = [
            {"id": f"w{number}-{row}", "text": f"row {row}", "gold": ["Food"]} for row in range(20)
        ]
        client.post("projects/hotel-reviews/import/", rows)
        number += 1


@thorough
@pytest.mark.timeout(900)
def test_a_backup_under_load_is_restored_elsewhere_with_changed_secrets(  # noqa: PLR0915 - a drill
    tmp_path: Path, databases: list[str]
) -> None:
    here = stack_in(tmp_path / "here", databases[0])
    file, stop = tmp_path / "backup", threading.Event()
    with here:
        here.manage("demo", "--no-serve")
        names = json.loads(here.manage("shell", "-v", "0", "-c", FILL).splitlines()[-1])
        key = here.people("boss")["boss"]
        writer = threading.Thread(target=keep_writing, args=(Client(here.server()[1], key), stop))
        writer.start()
        try:
            made = json.loads(here.manage("backup", "--json", str(file)))
        finally:
            stop.set()
            writer.join()
        assert (file.stat().st_mode & 0o777, made["files"], made["unreadable"]) == (0o600, 2, 0)
        assert [path.name for path in tmp_path.glob("*backup*")] == ["backup"]
        assert "exists already" in refused(here, "backup", str(file))

        there = stack_in(tmp_path / "there", databases[1], LABELHUB_TEXT_KEYS="new")
        there.env["LABELHUB_SECRET_KEY"] = "another-secret"
        refusal = refused(there, "restore", str(file), "--dry-run")
        for column in (
            "Message.sealed",
            "SiteKey.sealed",
            "Webhook.old_secret",
            "sealed_key",
            "Request.body",
            "Authenticator.data",
        ):
            assert column in refusal
        assert f"do not open {SEALED} encrypted values" in refusal
        assert "LABELHUB_TEXT_KEYS" in refusal
        there.env["LABELHUB_TEXT_KEYS"] = "new,of-a-test-stack"
        with there:
            checked = json.loads(there.manage("restore", str(file), "--dry-run", "--json"))
            assert len(checked["remarks"]) == 2
            there.manage("restore", str(file))
            assert "not empty" in refused(there, "restore", str(file))
            counts = json.loads(there.manage("reseal", "--json"))
            assert sum(found["resealed"] for found in counts.values()) == SEALED
            there.env["LABELHUB_TEXT_KEYS"] = "new"
            counts = json.loads(there.manage("reseal", "--dry-run", "--json"))
            assert sum(found["current"] for found in counts.values()) == SEALED
            last = there.rows("SELECT MAX(id) FROM labels_label")[0][0]
            assert there.rows(LEDGER.format(last)) == here.rows(LEDGER.format(last))
            for name in (f"saved-exports/{names[0]}", names[1]):
                there_file = there.folder / name
                assert there_file.read_bytes() == (here.folder / name).read_bytes()
                assert there_file.stat().st_mode & 0o777 == 0o600
            server, address = there.server()
            assert "restored and is held" in server.printed
            client = Client(address, key)
            assert "held since" in client.health()[1]["parts"]["hold"]
            assert client.get("projects/hotel-reviews/")["slug"] == "hotel-reviews"
            rows = [{"id": "after", "text": "after", "gold": ["Food"]}]
            assert client.post("projects/hotel-reviews/import/", rows)["created"] == 1
            assert json.loads(there.manage("release_hold", "--json")) == {"released": True}
            assert "hold" not in client.health()[1]["parts"]
            there.env["LABELHUB_TEXT_KEYS"] = "of-a-test-stack"
            assert "stop" in refused(there, "restore", str(file), "--replace")
            server.kill()
            there.manage("restore", str(file), "--replace")
            assert there.rows("SELECT MAX(id) FROM labels_label")[0][0] == last


@thorough
@pytest.mark.timeout(600)
def test_what_cannot_be_restored_is_refused_before_any_change(
    tmp_path: Path, databases: list[str]
) -> None:
    stack = stack_in(tmp_path / "here", databases[0])
    assert "empty" in refused(stack, "backup", str(tmp_path / "b"))
    stack.people("boss")
    file = tmp_path / "backup"
    stack.manage("backup", str(file))
    archive = Archive(file).manifest
    migrations = [*archive.migrations, ("labels", "9999_of_tomorrow")]
    later = written(tmp_path / "later", database=archive.database, migrations=migrations)
    foreign = written(tmp_path / "foreign", database="oracle")
    for path, reason in {
        later: "labels.9999_of_tomorrow",
        foreign: "a backup of oracle",
        tmp_path / "none": "cannot be read",
        ROOT / "README.md": "no whole backup",
        file: "not empty",
    }.items():
        assert reason in refused(stack, "restore", str(path)), path
    # Whole as an archive, but no database: the old data stays.
    hollow = written(tmp_path / "hollow", database=archive.database)
    refused(stack, "restore", "--replace", str(hollow))
    assert stack.rows("SELECT username FROM accounts_user") == [("boss",)]


@thorough
@pytest.mark.timeout(600)
def test_the_backup_of_a_version_without_holds_is_migrated_and_held(
    tmp_path: Path, databases: list[str]
) -> None:
    here = stack_in(tmp_path / "here", databases[0])
    there = stack_in(tmp_path / "there", databases[1])
    here.people("boss")
    here.manage("migrate", "common", "0004")
    here.manage("backup", str(tmp_path / "backup"))
    there.manage("restore", str(tmp_path / "backup"))
    assert there.rows("SELECT username FROM accounts_user") == [("boss",)]
    assert json.loads(there.manage("release_hold", "--json")) == {"released": True}


@thorough
@pytest.mark.timeout(600)
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, databases: list[str]) -> None:
    stack = stack_in(tmp_path / "here", databases[0])
    stack.people("boss")
    folder = tmp_path / "backups"
    folder.mkdir()
    # SQLite needs 32 KB to open a database at all.
    for blocks in (4, 40) if databases[0] else (64, 256):
        command = f"ulimit -f {blocks}; exec {' '.join(MANAGE)} backup {folder}/b"
        done = subprocess.run(
            ["bash", "-c", command], cwd=ROOT, env=stack.env, capture_output=True, check=False
        )
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert not list(folder.iterdir())


KILLED = """
import os, signal, sys
import django
django.setup()
from django.core.management import call_command
command = sys.argv[1:]
MARKED = ("os.rename", "os.remove", "sqlite3.connect", "subprocess.Popen", "os.truncate")
at = 0
while True:
    at += 1
    child = os.fork()
    if not child:
        seen = 0
        def look(event, told):
            global seen
            if event in MARKED or event == "open" and told[2] & (os.O_WRONLY | os.O_RDWR):
                seen += 1
                if seen == at:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(look)
        call_command(*command)
        os._exit(0)
    if (status := os.waitpid(child, 0)[1]) != signal.SIGKILL:
        sys.exit(status != 0)
    print(at, flush=True)
    input()
"""


def kill_at_each_step(stack: Stack, *command: str) -> Iterator[int]:
    """Runs the command again and again, killed one step later each time, then to its end."""
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, *command],
        cwd=ROOT, env=stack.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        for line in process.stdout:
            if line.strip().isdigit():
                yield int(line)
                process.stdin.write("\n")
                process.stdin.flush()
    assert process.returncode == 0


@thorough
@pytest.mark.timeout(900)
def test_a_killed_backup_has_no_name_and_a_killed_restore_leaves_the_old_or_the_new(
    tmp_path: Path, databases: list[str]
) -> None:
    old, new = (stack_in(tmp_path / name, database)
                for name, database in zip(("old", "new"), databases, strict=True))  # fmt: skip
    new.people("new")
    old.people("old")
    file = tmp_path / "backup"
    steps = []
    for step in kill_at_each_step(new, "backup", str(file)):
        steps.append(step)
        if file.exists():
            Archive(file)
            file.unlink()
    assert len(steps) > 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "new", "old"]

    found: list[str] = []
    for step in kill_at_each_step(old, "restore", "--replace", str(file)):
        found += [name for (name,) in old.rows("SELECT username FROM accounts_user")]
        assert len(found) == step
        # Whatever is restored is held.
        assert bool(old.rows("SELECT id FROM common_hold")) == (found[-1] == "new")
    assert len(found) > 5
    assert found == sorted(found, reverse=True)  # first the old, then the new
    assert old.rows("SELECT username FROM accounts_user") == [("new",)]
    assert not list(old.folder.glob(".*"))
