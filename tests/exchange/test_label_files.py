"""Files of labels: in whatever order their rows come, what they say is the same."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.exchange.services import label_files
from apps.exchange.services.label_files import LabelFileResult
from apps.labels.models import ItemState, Label
from apps.labels.services import imports
from apps.labels.services.item_ledger import ItemLedger
from apps.labels.services.states import refresh_locked
from apps.projects.models import Project
from tests.exchange.helpers import labels_imported, lines
from tests.factories.labels import queued_items
from tests.factories.projects import MOODS, ProjectFactory

pytestmark = pytest.mark.django_db

Row = tuple[str, str, str]


def project_of(*items: str) -> Project:
    made = ProjectFactory.create(definition=MOODS)
    for name in items:
        queued_items(made, 1, external_id=name)
    return made


def taken(project: Project, rows: list[Row], folder: Path) -> LabelFileResult:
    """What becomes of rows of item, annotator and label."""
    named = [dict(zip(("item_id", "annotator_id", "label"), row, strict=True)) for row in rows]
    return labels_imported(project, folder, lines(*named))


def ledger(project: Project) -> dict[tuple[str, str], str]:
    rows = Label.objects.filter(item__project=project)
    return {(row.item.external_id, row.annotator.name): str(row.value) for row in rows}


@pytest.mark.thorough
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["1", "2", "3", "nobody's"]),
            st.sampled_from("vw"),
            st.sampled_from(["good", "bad", "neither"]),
        ),
        min_size=1,
        max_size=25,
    ),
    window=st.sampled_from([1, 4, 100]),
    size=st.sampled_from([1, 60, 10**6]),
)
def test_the_first_row_that_can_be_used_stands_whatever_is_read_at_once(
    rows: list[Row], window: int, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_files, "WINDOW_ROWS", window)
    monkeypatch.setattr(label_files, "WINDOW_BYTES", size)
    monkeypatch.setattr(label_files, "CHUNK_ROWS", 3)
    project = project_of("1", "2", "3")

    tally = taken(project, rows, tmp_path).tally

    wanted: dict[tuple[str, str], str] = {}
    for item, who, value in rows:
        if item != "nobody's" and value != "neither":
            wanted.setdefault((item, who), value)
    assert ledger(project) == wanted
    assert tally.created + tally.unchanged + tally.conflicts + tally.failed == len(rows)


def test_an_item_is_brought_into_line_once_in_a_file_that_goes_by_annotators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_files, "CHUNK_ROWS", 6)
    refreshed: list[int] = []

    def refresh(
        project: Project, states: Mapping[int, ItemState], ledgers: Mapping[int, ItemLedger]
    ) -> None:
        refreshed.extend(ledgers)
        refresh_locked(project, states, ledgers)

    monkeypatch.setattr(imports, "refresh_locked", refresh)
    names = [str(number) for number in range(4)]
    project = project_of(*names)

    taken(project, [(item, who, "good") for who in "uvw" for item in names], tmp_path)

    assert len(refreshed) == len(set(refreshed)) == len(names)
