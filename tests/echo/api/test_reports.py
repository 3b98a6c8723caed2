"""REST: sites/{public_key}/echo/report/, off-policy/ and experiments/N/report/."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from apps.authors.models import Site
from apps.echo.models import Echo, Experiment
from apps.echo.reporting import evaluate_candidates, make_report, offer_funnel
from apps.echo.services.experiments import create_experiment, start_experiment
from labelhub.core.echo.experiments.assignment import Arm
from tests.authors.api.calling import url
from tests.common.openapi import assert_matches_schema
from tests.factories.authors import author_of
from tests.factories.offers import chosen, decision_of, placed

pytestmark = pytest.mark.django_db
REPORT = "/api/v1/sites/{public_key}/echo/report/"


@pytest.fixture
def experiment(echo: Echo) -> Experiment:
    arms = [Arm("echo", 0.5, "echo"), Arm("nothing", 0.5, "nothing")]
    made = start_experiment(create_experiment(echo, name="A", arms=arms, control="nothing"))
    for at in range(6):
        author = author_of(echo.site, f"u-{at}")
        arm = "echo" if at % 2 else "nothing"
        told = ["clicked"] if at == 1 else []
        decision_of(
            echo, author, timezone.now(), shown=arm == "echo", told=told,
            **placed(made, author, arm),
        )  # fmt: skip
    return made


def test_an_experiment_is_reported_by_arm(
    echo: Echo, viewer: APIClient, experiment: Experiment
) -> None:
    path = url(echo.site, f"echo/experiments/{experiment.pk}/report/")
    response = viewer.get(path)
    assert_matches_schema(
        response, "GET", "/api/v1/sites/{public_key}/echo/experiments/{echo_experiment_id}/report/"
    )
    body = response.json()
    assert [arm["name"] for arm in body["arms"]] == ["echo", "nothing"]
    expected = make_report(echo, experiment).to_json()
    assert body["comparisons"] == expected["comparisons"]


def test_the_sites_offers_are_reported(
    echo: Echo, viewer: APIClient, experiment: Experiment
) -> None:
    response = viewer.get(url(echo.site, "echo/report/"))
    assert_matches_schema(response, "GET", REPORT)
    body = response.json()
    assert body["report"]["arms"][0]["figures"]["impressions"] == 3
    assert body["funnel"] == offer_funnel(echo).to_json()


def test_a_site_without_offers_has_an_empty_report(site: Site, viewer: APIClient) -> None:
    for rest in ("report/", "off-policy/"):
        response = viewer.get(url(site, f"echo/{rest}"))
        assert response.status_code == 200, response.content
    assert not Echo.objects.exists()


def test_other_policies_are_evaluated_by_the_log(echo: Echo, viewer: APIClient) -> None:
    author = author_of(echo.site, "anna")
    for at in range(5):
        moment = timezone.now() - timedelta(minutes=at)
        chosen(echo, author, moment, "tent", {"tent": 0.9, "lamp": 0.1}, score=0.5)
    response = viewer.get(url(echo.site, "echo/off-policy/"))
    assert_matches_schema(response, "GET", "/api/v1/sites/{public_key}/echo/off-policy/")
    names = [each["name"] for each in response.json()["candidates"]]
    assert names == [each.name for each in evaluate_candidates(echo).candidates]
    assert response.json()["n"] == 5


def test_a_report_takes_no_more_queries_when_the_log_is_long(
    echo: Echo, viewer: APIClient, experiment: Experiment, django_assert_max_num_queries: Any
) -> None:
    paths = [url(echo.site, f"echo/experiments/{experiment.pk}/report/")]
    paths += [url(echo.site, "echo/report/"), url(echo.site, "echo/off-policy/")]
    counts = []
    for more in (0, 20):
        for at in range(more):
            decision_of(echo, author_of(echo.site, f"more-{at}"), timezone.now())
        with django_assert_max_num_queries(60) as asked:
            assert [viewer.get(path).status_code for path in paths] == [200] * 3
        counts.append(len(asked))
    assert counts[1] <= counts[0]
