"""A slice is what its address says, and any slice is measured or refused in words."""

from dataclasses import fields
from datetime import date, timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.agreement.report.label_matrix import read_label_matrix
from apps.agreement.report.slices import Slice, created_within
from apps.labels.models import Kind, Label
from apps.projects.models import Project
from labelhub.core.errors import InvalidInput, NotFound
from tests.agreement.report_help import six_moods

DAYS = st.none() | st.dates(date(1, 1, 2), date(9999, 12, 30))
TEXT = st.text(max_size=30)
SLICES = st.builds(
    Slice,
    kind=st.sampled_from(["", *Kind.values]) | TEXT,
    annotator=st.none() | st.integers(0, 2**63 - 1),
    run=st.none() | st.integers(0, 2**63 - 1),
    replicate=st.integers(1, 9),
    label=st.sampled_from(["", "good"]) | TEXT,
    since=DAYS,
    until=DAYS,
    tag=TEXT | st.builds("{}={}".format, TEXT, TEXT),
)


@given(SLICES)
def test_the_query_of_a_slice_says_all_that_is_not_by_default(asked: Slice) -> None:
    parameters = dict(parse_qsl(asked.query, keep_blank_values=True))
    assert parameters == dict(asked.given)
    for field in fields(Slice):
        value = getattr(asked, field.name)
        if value == field.default:
            assert field.name not in parameters
        else:
            assert parameters[field.name] == str(value)


@pytest.fixture
def project(db: None) -> Project:
    return six_moods()


@given(asked=SLICES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_slice_is_measured_or_refused_in_words(project: Project, asked: Slice) -> None:
    sheet, refused = None, ""
    try:
        sheet = read_label_matrix(project, asked)
    except (InvalidInput, NotFound) as error:
        refused = str(error)
    if sheet is None:
        assert refused.partition(":")[0] in {field.name for field in fields(Slice)}
        return
    known = set(project.annotators.values_list("pk", flat=True))
    heard = {sheet.raters[place] for place in sheet.ratings.raters.tolist()}
    assert {rater.kind for rater in heard} <= ({asked.kind} if asked.kind else set(Kind.values))
    assert {rater.id for rater in heard} <= ({asked.annotator} - {None} or known)


@pytest.mark.django_db
def test_both_days_of_a_span_count_and_none_beside_them(project: Project) -> None:
    there = Label.objects.filter(item__project=project).count()
    day = Label.objects.earliest("created_at").created_at.date()

    def within(**asked: Any) -> int:
        return Label.objects.filter(created_within(Slice(**asked))).count()

    step = timedelta(days=1)
    assert within(since=day, until=day + step) == there
    assert within(since=day + 2 * step) == within(until=day - step) == 0
    assert within() == there
