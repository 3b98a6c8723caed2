"""The agreement page: whom to trust for what, in words, pictures and files."""

import re
from datetime import date
from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.agreement.over_time import Period, periods
from apps.agreement.reporting import agreement_report
from apps.agreement.standing.charts import CHARTS
from apps.agreement.standing.wording import sentences
from apps.projects.models import Project
from tests.agreement.page_help import B, G, moods, page
from tests.factories.accounts import UserFactory
from tests.factories.labels import open_item, open_several
from tests.factories.ledger import ledger
from tests.factories.projects import MOODS, ProjectFactory, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Forty items with their author's answer; experts better than the crowd, a machine worst."""
    return moods()


@pytest.mark.thorough
def test_it_says_first_who_is_right_most_often(project: Project) -> None:
    gold, first = (one.text for one in sentences(agreement_report(project))[:2])

    assert gold == "None of the gold decided here was made with a suggestion in view (0 of 40)."
    assert first.startswith("The experts are right most often about what the author said: 9")
    assert first.index("crowd") < first.index("the LLM")


def test_an_unsettled_lead_is_called_so() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    ledger(made, {"crowd:a": [G, B, G, B], "expert:e": [G, B, G, G], "author:w": [G, B, G, G]})

    assert "nothing is settled" in sentences(agreement_report(made))[1].text


def test_without_any_truth_it_says_so() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    ledger(made, {"llm:a": [G, B, G], "llm:b": [G, B, B]})

    assert "Nobody knows the truth here yet" in sentences(agreement_report(made))[0].text


def test_too_few_labels_for_the_alternative_annotator_test_are_counted() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    ledger(made, {"llm:m": [G] * 10, "crowd:a": [G] * 10, "crowd:b": [B] * 10})

    words = " ".join(sentence.text for sentence in sentences(agreement_report(made)))
    assert "the nearest annotator lacks 20" in words


@pytest.mark.thorough
def test_the_page_shows_words_tables_and_pictures(project: Project) -> None:
    answer = page(project)

    html = answer.content.decode()
    assert answer.status_code == 200
    for words in ("Whom to trust for what", "Who agrees with whom", "stand in for people"):
        assert words in html
    assert html.count('<svg class="plot') >= 5
    assert "style=" not in re.sub(r"<svg.*?</svg>", "", html, flags=re.DOTALL)


def test_an_empty_project_is_told_what_will_be_here() -> None:
    answer = page(ProjectFactory.create(definition=MOODS))

    assert "Nobody has labelled yet" in answer.content.decode()


def test_an_empty_slice_leads_back_to_all_labels(project: Project) -> None:
    assert (
        "No labels in this part"
        in page(project, since="2001-01-01", until="2001-01-02").content.decode()
    )


@pytest.mark.thorough
@pytest.mark.parametrize("query", [{"kind": "robot"}, {"since": "x"}, {"annotator": "-1"}])
def test_a_wrong_slice_is_refused_in_words(project: Project, query: dict[str, str]) -> None:
    assert page(project, "", Role.VIEWER, **query).status_code in (404, 422)


def test_strangers_find_nothing(project: Project) -> None:
    client = Client()
    client.force_login(UserFactory.create())
    for address in ("", "over-time/", "report.html", "figures/heatmap.svg"):
        assert client.get(f"/p/{project.slug}/agreement/{address}").status_code == 404


def test_hostile_names_stay_text() -> None:
    evil = "<script>alert(1)</script>"
    made = ProjectFactory.create(
        definition={"task": "single", "question": "", "labels": [evil, "b"]}, overlap=20
    )
    items = open_several(made, 3, text=evil)
    ledger(made, {f"crowd:{evil}": [evil, "b", "b"], "crowd:b": ["b", "b", evil]}, items)

    for address in ("", "report.html", "annotators/", "figures/annotators.svg"):
        assert evil not in page(made, address).content.decode()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["heatmap", "annotators", "accuracy", "agreeing", "replacement"])
def test_every_picture_can_be_taken_along(project: Project, name: str) -> None:
    svg = page(project, f"figures/{name}.svg")
    csv = page(project, f"figures/{name}.csv")

    assert svg["Content-Type"] == "image/svg+xml"
    assert "var(--" not in svg.content.decode()
    assert "attachment" in svg["Content-Disposition"]
    assert len(csv.content.decode().splitlines()) > 1


@pytest.mark.thorough
def test_a_picture_is_also_a_png(project: Project) -> None:
    answer = page(project, "figures/heatmap.png")

    assert answer.content.startswith(b"\x89PNG")


def test_a_picture_that_does_not_exist_is_not_found(project: Project) -> None:
    assert page(project, "figures/nothing.svg").status_code == 404
    assert page(project, "figures/heatmap.exe").status_code == 404


@pytest.mark.thorough
def test_the_report_is_one_file_that_loads_nothing(project: Project) -> None:
    answer = page(project, "report.html")

    html = answer.content.decode()
    assert "attachment" in answer["Content-Disposition"]
    assert "<script" not in html
    assert not re.findall(r'(?:src|href)="(?!#)', html)
    assert "@import" not in html
    assert "url(" not in html


@pytest.mark.thorough
def test_a_large_ledger_comes_after_the_page(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.agreement.views.agreement.MOST_AT_ONCE", 10)
    assert "Measuring" in page(project).content.decode()
    part = page(project, part="report").content.decode()
    assert "<html" not in part
    assert "In short" in part
    # Once it is stored the page has it at once.
    assert "In short" in page(project).content.decode()


@pytest.mark.thorough
def test_items_that_divide_people_lead_to_their_text(project: Project) -> None:
    html = page(project).content.decode()

    item = project.items.order_by("pk").first()
    assert item is not None
    assert f"/p/moods/items/{item.pk}/" in html


def test_options_of_single_items_are_measured_by_s_q() -> None:
    made = ProjectFactory.create(definition={"task": "per_item", "question": ""}, overlap=20)
    items = [open_item(made, options=["red", "blue", "green"]) for _ in range(12)]
    said = ["red", "blue", "red"] * 4
    ledger(made, {"crowd:a": said, "crowd:b": ["red"] * 12, "author:w": said}, items)

    html = page(made).content.decode()
    assert "S_q" in html
    assert "would measure positions" in html


def test_every_picture_is_left_out_where_there_is_nothing_to_draw() -> None:
    made = ProjectFactory.create(definition=MOODS)
    report = agreement_report(made)

    assert {name: draw(report) for name, draw in CHARTS.items()} == dict.fromkeys(CHARTS)


def test_over_time_a_day_is_a_period_and_long_spans_are_weeks() -> None:
    assert periods(date(2026, 1, 1), date(2026, 1, 3)) == [
        Period(date(2026, 1, day), date(2026, 1, day)) for day in (1, 2, 3)
    ]
    year = periods(date(2026, 1, 1), date(2026, 12, 31))
    assert len(year) <= 12
    assert year[-1].last == date(2026, 12, 31)
    assert {(each.last - each.first).days + 1 for each in year[:-1]} == {35}


def test_over_time_says_when_all_fell_on_one_day(project: Project) -> None:
    assert "on one day" in page(project, "over-time/").content.decode()


@pytest.mark.thorough
def test_the_queries_do_not_grow_with_the_ledger(
    project: Project, django_assert_max_num_queries: Any
) -> None:
    agreement_report(project)
    client = Client()
    client.force_login(member(project, Role.VIEWER))
    with django_assert_max_num_queries(26):
        client.get("/p/moods/agreement/")
