"""Files that the real Label Studio wrote after people had worked there (``make test-peers``)."""

import pytest

from tests.exchange.helpers import counts, imported, ledger
from tests.exchange.studio_cases import (
    CASES,
    EXPORTS,
    FOLDER,
    ORIGINS,
    by_text,
    check_labels,
    check_origins,
)
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db
#: As Label Studio writes its tables: the newest annotation of a task first.
TABLE = """"annotation_id","annotator","created_at","id","lead_time","text","tone","updated_at"
2,"1","2026-11-23T10:00:02Z",7,"","Fine.","down, really","2026-11-23T10:00:02Z"
1,"1","2026-11-23T10:00:01Z",7,1.5,"Fine.","up","2026-11-23T10:00:01Z"
3,"b@example.org","2026-11-23T10:00:03Z",8,"","Bad.","","2026-11-23T10:00:03Z"
"","","",9,"","Nobody looked.","",""
"""
TONES = {"task": "single", "labels": ["up", "down, really"]}


@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("name", CASES)
def test_what_was_done_there_comes_in(name: str, origin: str, export: str) -> None:
    case, project = CASES[name], CASES[name].project()
    content = (FOLDER / f"{name}-{origin}.{EXPORTS[export]}").read_bytes()
    batch = imported(project, content, f"x.{EXPORTS[export]}")
    assert [note for note in batch.errors if note["kind"] != "remark"] == []
    check_labels(case, project, export)
    if export == "JSON":
        check_origins(case, project)
    before = by_text(case, project)
    again = imported(project, content, f"x.{EXPORTS[export]}")
    assert counts(again) == (0, batch.rows_done, 0, 0)
    assert by_text(case, project) == before


def test_a_row_without_a_time_is_a_label_and_no_gold() -> None:
    project = ProjectFactory.create(definition=TONES)
    assert counts(imported(project, TABLE.encode(), "x.csv")) == (3, 0, 0, 0)
    rows = {row["text"]: row for row in ledger(project)}
    assert [row["gold"] for row in rows.values()] == [None, None, None]
    first, second = rows["Fine."]["labels"]
    assert (first["value"], first["seconds"]) == ("up", 1.5)
    assert (second["value"], second["seconds"]) == ("down, really", None)
    assert (second["supersedes"], second["annotator"]) == (first["uid"], "Label Studio user 1")
    (empty,) = rows["Bad."]["labels"]
    assert (empty["abstained"], empty["role"]) == (False, "empty")
    assert rows["Nobody looked."]["labels"] == []
