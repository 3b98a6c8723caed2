"""The agreement page: whom to trust for what, in words, pictures and files."""

import re
from datetime import date
from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.agreement.report.charts import CHARTS
from apps.agreement.report.over_time import Period, periods
from apps.agreement.report.sentences import sentences
from apps.agreement.report.services import agreement_report
from apps.projects.models import Project
from tests.agreement.page_help import B, G, moods, page
from tests.factories.labels import open_several
from tests.factories.ledger import ledger
from tests.factories.projects import MOODS, ProjectFactory, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Forty items with their author's answer; experts better than the crowd, a machine worst."""
    return moods()


def test_a_lead_that_is_not_significant_is_called_so() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    ledger(made, {"crowd:a": [G, B, G, B], "expert:e": [G, B, G, G], "author:w": [G, B, G, G]})

    assert "is not significant" in sentences(agreement_report(made))[1].text


def test_hostile_names_stay_text() -> None:
    evil = "<script>alert(1)</script>"
    made = ProjectFactory.create(
        definition={"task": "single", "question": "", "labels": [evil, "b"]}, overlap=20
    )
    items = open_several(made, 3, text=evil)
    ledger(made, {f"crowd:{evil}": [evil, "b", "b"], "crowd:b": ["b", "b", evil]}, items)

    for address in ("", "report.html", "annotators/", "figures/annotators.svg"):
        assert evil not in page(made, address).content.decode()


def test_the_report_is_one_file_that_loads_nothing(project: Project) -> None:
    answer = page(project, "report.html")

    html = answer.content.decode()
    assert "attachment" in answer["Content-Disposition"]
    assert "<script" not in html
    assert not re.findall(r'(?:src|href)="(?!#)', html)
    assert "@import" not in html
    assert "url(" not in html


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
    assert {(period.last - period.first).days + 1 for period in year[:-1]} == {35}


@pytest.mark.thorough
def test_the_queries_do_not_grow_with_the_ledger(
    project: Project, django_assert_max_num_queries: Any
) -> None:
    agreement_report(project)
    client = Client()
    client.force_login(member(project, Role.VIEWER))
    with django_assert_max_num_queries(26):
        client.get("/p/moods/agreement/")
