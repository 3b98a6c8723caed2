"""What can be taken along from the agreement page, what it is called, and what it costs to make."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.labels.services import annotator_for, import_labels
from apps.projects.models import Project
from tests.factories.labels import draft, queued_items
from tests.factories.projects import MOODS, ProjectFactory, member_browser

pytestmark = pytest.mark.django_db

G, B = "good", "bad"
DAYS = [datetime(2026, 11, day, 12, tzinfo=UTC) for day in (1, 2)]


@pytest.fixture
def project() -> Project:
    """Forty items on two days, with their author's answers."""
    return labelled(DAYS)


def labelled(days: list[datetime]) -> Project:
    """The items one after the other on the days in turn."""
    made = ProjectFactory.create(definition=MOODS, slug="moods", overlap=20)
    items = queued_items(made, 40)
    answers = {
        "llm:m": [G, B, B, B, B] * 8,
        "crowd:ann": [G, B, G, B, B] * 8,
        "crowd:bob": [G, G, G, B, B] * 8,
        "expert:eve": [G, B, G, B, B] * 8,
        "author:writer": [G, B, G, B, G] * 8,
    }
    for called, values in answers.items():
        kind, _, name = called.partition(":")
        by = annotator_for(made, kind=kind, name=name)
        pairs = enumerate(zip(items, values, strict=True))
        import_labels(
            made,
            [
                draft(item, by, value, created_at=days[number % len(days)])
                for number, (item, value) in pairs
            ],
        )
    return made


def viewer(project: Project) -> Client:
    """A client signed in as a viewer."""
    return member_browser(project, Role.VIEWER)


def page(project: Project, address: str, **query: Any) -> Any:
    """What a viewer gets at an address of the page."""
    return viewer(project).get(f"/p/{project.slug}/agreement/{address}", query)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The slices of which a report was computed, in order."""
    from apps.agreement.report import services  # noqa: PLC0415

    found: list[str] = []
    whole = services._compute

    def counted(project: Project, schema: Any, asked: Any, **more: Any) -> Any:
        found.append(asked.query)
        return whole(project, schema, asked, **more)

    monkeypatch.setattr(services, "_compute", counted)
    return found


def test_a_name_of_a_file_holds_nothing_of_a_tag_but_its_words(project: Project) -> None:
    header = page(project, "report.html", tag='folder="../x\r\n' + "y" * 150)["Content-Disposition"]

    assert header.startswith('attachment; filename="moods-agreement-folder-x-yyy')
    assert len(header) < 140


def test_what_is_kept_is_computed_once_for_page_parts_pictures_and_files(
    project: Project, computed: list[str]
) -> None:
    for address in (
        "",
        "details/annotators/",
        "figures/heatmap.svg",
        "figures/accuracy.csv",
        "report.html",
    ):
        assert page(project, address, kind="crowd").status_code == 200

    assert computed == ["kind=crowd"]


def test_with_many_labels_the_page_answers_before_its_numbers_are_computed(
    project: Project,
    computed: list[str],
    monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: Any,
) -> None:
    monkeypatch.setattr("apps.agreement.views.report.MOST_AT_ONCE", 10)
    client = viewer(project)

    with django_assert_max_num_queries(12):
        html = client.get(f"/p/{project.slug}/agreement/?since=2026-11-01").content.decode()

    assert computed == []
    assert html.count("hx-get") == 1
    assert "part=report&amp;since=2026-11-01" in html
    # Without scripts the same address is a page.
    whole = page(project, "", since="2026-11-01", part="report").content.decode()
    assert computed == ["since=2026-11-01"]
    assert "<html" in whole
    assert "Can I trust this label set?" in whole


def test_with_many_labels_a_stored_report_is_shown_at_once(
    project: Project,
    computed: list[str],
    monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: Any,
) -> None:
    monkeypatch.setattr("apps.agreement.views.report.MOST_AT_ONCE", 10)
    page(project, "", part="report")
    client = viewer(project)

    with django_assert_max_num_queries(20):
        html = client.get(f"/p/{project.slug}/agreement/").content.decode()

    assert computed == [""]
    assert "Can I trust this label set?" in html
    assert "Measuring" not in html


def test_a_tab_is_a_part_of_the_page_and_a_page_of_its_own(project: Project) -> None:
    whole = page(project, "details/coefficients/").content.decode()
    address = f"/p/{project.slug}/agreement/details/coefficients/"
    part = viewer(project).get(address, headers={"HX-Request": "true"}).content.decode()

    assert "<html" in whole
    assert "<html" not in part
    for html in (whole, part):
        assert 'aria-current="page">Coefficients</a>' in html
        assert "All coefficients" in html
    assert page(project, "details/astrology/").status_code == 404
