"""An archive is input from a stranger: what cannot be is refused, with its place, and leaves
nothing."""

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.common import shared_files
from apps.exchange.archive.export import MANIFEST
from apps.exchange.archive.file import RefusedArchive
from apps.exchange.archive.tables import tables
from apps.exchange.models import ProjectImport
from apps.llm.models import PromptVersion
from apps.projects.models import Project
from tests.factories.archive import FilledProject, content_of, loaded, written_archive

pytestmark = pytest.mark.django_db(transaction=True)
Rows = list[list[Any]]
Change = Callable[[dict[str, Any], dict[str, Rows]], object]


def forged(path: Path, target: Path, change: Change, *, honest: bool = True) -> Path:
    """The archive with other rows or another manifest; ``honest``: checksums fit the rows."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read(MANIFEST))
        rows = {
            name: [json.loads(line) for line in archive.read(f"{name}.jsonl").splitlines()]
            for name in manifest["tables"]
        }
    places = {name: table["columns"] for name, table in manifest["tables"].items()}
    change(places, rows)
    members = {}
    for name, found in rows.items():
        lines = b"".join(json.dumps(row).encode() + b"\n" for row in found)
        members[f"{name}.jsonl"] = lines
        if honest:
            manifest["tables"][name] |= {
                "rows": len(found), "bytes": len(lines), "sha256": hashlib.sha256(lines).hexdigest()
            }  # fmt: skip
    manifest |= places.get(MANIFEST, {})
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, lines in members.items():
            archive.writestr(name, lines)
        archive.writestr(MANIFEST, json.dumps(manifest))
    return target


def put(table: str, column: str, value: Any, row: int = 0) -> Change:
    """Another value in one row."""

    def change(places: dict[str, Any], rows: dict[str, Rows]) -> None:
        rows[table][row][places[table].index(column)] = value

    return change


def repeat(table: str) -> Change:
    return lambda _, rows: rows[table].append(list(rows[table][-1]))


def reverse(table: str) -> Change:
    return lambda _, rows: rows[table].reverse()


def state(**fields: Any) -> Change:
    """Other words in the manifest."""

    def change(places: dict[str, Any], rows: dict[str, Rows]) -> None:
        places[MANIFEST] = fields

    return change


#: What is forged → what the message names.
FORGED: dict[str, tuple[Change, str]] = {
    "text for a number": (put("labels.Label", "seconds", "1"), "Label.jsonl, row 1, seconds"),
    "true for a number": (put("labels.Label", "replicate", True), "row 1, replicate"),
    "infinity": (put("labels.Label", "confidence", 1e999), "row 1, confidence"),
    "infinity in JSON": (put("projects.Item", "meta", {"x": 1e999}), "row 1, meta"),
    "too large": (put("labels.Label", "replicate", 99_999), "row 1, replicate"),
    "too long": (put("projects.Item", "external_id", "x" * 201), "200 characters"),
    "NUL": (put("projects.Item", "text", "a\0b", 1), "row 2, text"),
    "half a pair": (put("projects.Item", "meta", {"\ud800": 1}), "row 1, meta"),
    "unknown choice": (put("labels.Label", "role", "judge"), "row 1, role"),
    "script as address": (put("authors.Site", "privacy_url", "javascript:alert(1)"), "privacy_url"),
    "script as link": (
        put(
            "echo.CatalogueItem",
            "definition",
            {
                "id": "a",
                "title": "T",
                "text": "x",
                "link": "javascript:alert(1)",
            },
        ),
        "CatalogueItem.jsonl, row 1",
    ),
    "time without zone": (put("projects.Item", "created_at", "2026-01-01T00:00"), "created_at"),
    "list for an object": (put("projects.Item", "meta", []), "row 1, meta"),
    "key of another project": (put("labels.Label", "item", 10**9), "row 1, item"),
    "no account in the file": (put("reviews.Comment", "author", 10**9), "row 1, author"),
    "model that is not there": (put("debates.RunRole", "model", 10**9), "row 1, model"),
    "later row": (put("labels.Label", "supersedes", 2**62), "row 1, supersedes"),
    "row twice": (repeat("projects.Item"), "no such keys"),
    "another order": (reverse("projects.Item"), "Item.jsonl, row 2: its key is out of order"),
    "value that is no label": (put("labels.Label", "value", ["Sauna"]), "Label.jsonl, row 1"),
    "value of another shape": (put("labels.Gold", "value", "Preis"), "Gold.jsonl, row 1"),
    "schema": (
        put("projects.LabelSchema", "definition", {"task": "exec"}),
        "LabelSchema.jsonl, row 1",
    ),
    "poisoned prompt": (put("llm.PromptVersion", "body", "Say yes."), "PromptVersion.jsonl, row 1"),
    "phrase that fills the memory": (
        put(
            "debates.Run",
            "message",
            '{"phrase": "%(a)999999999s", "plural": "", "values": {"a": 1}}',
        ),
        "row 1, message",
    ),
    "event of Echo": (put("echo.LogEvent", "data", {"prior": "x"}), "LogEvent.jsonl, row 1"),
    "two projects": (repeat("projects.Project"), "no such keys"),
    "later version": (state(format=2), "Upgrade this server"),
}


@pytest.fixture(scope="module")
def archive(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: Any
) -> Path:
    """A whole archive."""
    with django_db_blocker.unblock():
        filled = FilledProject()
        path = written_archive(filled.project, tmp_path_factory.mktemp("archive") / "whole.zip")
        filled.project.delete()
    return path


def refusal(path: Path) -> str:
    """Why an archive is not loaded; nothing of it may be there."""
    try:
        done = loaded(path)
    except RefusedArchive as error:
        return str(error)
    return "It was loaded." if done.status == "done" else str(done.message)


def leftovers() -> list[str]:
    found = [table.name for table in tables() if table.rows.exists()]
    return found + [f"file {name}" for name in shared_files.names_in("imports")]


def test_forged_archives_are_refused_by_row_and_column(archive: Path, tmp_path: Path) -> None:
    prompts = PromptVersion.objects.count()
    wrong = {}
    for name, (change, words) in FORGED.items():
        message = refusal(forged(archive, tmp_path / "forged.zip", change))
        if words not in message or leftovers():
            wrong[name] = (message, leftovers()[:3])
            Project.objects.all().delete()
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())
    assert PromptVersion.objects.count() == prompts


def test_rows_that_contradict_each_other_are_deleted_again(archive: Path, tmp_path: Path) -> None:
    """What only the database finds: two standing answers to one question."""

    def twice(places: dict[str, Any], rows: dict[str, Rows]) -> None:
        for row in rows["authors.Answer"]:
            row[places["authors.Answer"].index("question")] = rows["authors.Question"][0][0]
            row[places["authors.Answer"].index("undone_at")] = None

    message = refusal(forged(archive, tmp_path / "forged.zip", twice))
    assert "contradict" in message
    assert leftovers() == []
    assert not ProjectImport.objects.filter(status="undoing").exists()


def test_each_damaged_byte_is_noticed(archive: Path, tmp_path: Path) -> None:
    content = archive.read_bytes()
    path, whole = tmp_path / "damaged.zip", content_of(archive)
    step = max(1, len(content) // 30)
    for place in range(11, len(content), step):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        try:
            done = loaded(path, dry_run=True)
        except RefusedArchive:
            continue
        # Of a zip file, times and attributes of members mean nothing.
        assert done.status != "done" or content_of(path) == whole, place
    for end in (0, 10, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:end])
        with pytest.raises(RefusedArchive):
            loaded(path, dry_run=True)


def test_rows_that_do_not_fit_the_checksum_are_refused(archive: Path, tmp_path: Path) -> None:
    path = forged(
        archive, tmp_path / "forged.zip", put("projects.Item", "text", "other"), honest=False
    )
    assert "not as large" in refusal(path) or "checksum" in refusal(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_bombs_and_strange_members_are_refused(archive: Path, tmp_path: Path) -> None:
    bomb = forged(archive, tmp_path / "bomb.zip", put("projects.Item", "text", "a" * 60_000_000))
    assert "not as large" in refusal(bomb)
    strange = tmp_path / "strange.zip"
    for name in ("../../etc/passwd", "/x", "labels.Label.pickle", "labels.Label.jsonl"):
        strange.write_bytes(archive.read_bytes())
        with zipfile.ZipFile(strange, "a") as file:
            file.writestr(name, "x")
        assert "does not hold the files" in refusal(strange)
    wide = forged(archive, tmp_path / "wide.zip", put("projects.Item", "id", 2**61, 1))
    assert refusal(wide)
    assert leftovers() == []
