"""Rows that revise what their annotator said before, in whatever order and chunks they come."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.exchange.services import label_files
from apps.labels.models import Label
from apps.labels.services import import_labels, withdraw_label
from apps.projects.models import Project
from tests.exchange.helpers import labels_imported, lines
from tests.exchange.test_label_files import project_of
from tests.factories.labels import draft, person

pytestmark = pytest.mark.django_db

Row = tuple[str, str, bool]
AGAIN = {"supersedes": True}


def values_by(project: Project, who: str) -> list[Any]:
    """All that somebody said, oldest first; each revises the one before."""
    rows = list(Label.objects.filter(item__project=project, annotator__name=who).order_by("pk"))
    assert [row.supersedes_id for row in rows] == [None, *(row.pk for row in rows)][: len(rows)]
    return [row.value for row in rows]


@pytest.mark.thorough
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("vw"), st.sampled_from(["good", "bad"]), st.booleans()),
        min_size=1,
        max_size=10,
    )
)
def test_the_first_and_all_that_revise_it_come_in_once(
    rows: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_files, "CHUNK_ROWS", 3)
    project = project_of("1")
    names = ("item_id", "annotator_id", "label", "supersedes")
    content = lines(*(dict(zip(names, ("1", *row), strict=True)) for row in rows))

    first, second = (labels_imported(project, tmp_path, content).tally for _ in range(2))

    for who in "vw":
        own = [(what, again) for name, what, again in rows if name == who]
        assert values_by(project, who) == [
            what for index, (what, again) in enumerate(own) if again or not index
        ]
    assert first.created + first.unchanged + first.conflicts == len(rows)
    assert (second.created, second.failed) == (0, 0)


@pytest.mark.parametrize("chunk", [1, 1000])
def test_what_a_file_takes_back_stays_taken_back_when_it_comes_again(
    chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_files, "CHUNK_ROWS", chunk)
    project = project_of("1")
    own = {"item_id": "1", "annotator_id": "w"}
    rows = [own | {"label": "good"}, own | AGAIN | {"withdrawn": True}, own | {"label": "good"}]

    for created in (2, 0, 0):
        done = labels_imported(project, tmp_path, lines(*rows)).tally
        assert (done.created, done.unchanged) == (created, 3 - created)

    assert not Label.objects.current().exists()


def test_what_somebody_says_after_taking_it_back_revises_nothing() -> None:
    project = project_of("1")
    item = project.items.get()
    by = person(project)
    import_labels(project, [draft(item, by, "good")])
    withdraw_label(label=Label.objects.get())

    import_labels(project, [draft(item, by, "bad", supersedes_own=True)])

    assert Label.objects.current().get().value == "bad"
    assert Label.objects.current().get().supersedes is None
