"""/sites/<id>/offers/experiments/: designed, started, watched, ended."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.echo.models import Echo, Experiment
from apps.echo.services.experiments import start_experiment
from labelhub.core.errors import Conflict
from tests.authors.pages.reading import page, words
from tests.cases import all_cases
from tests.factories.authors import author_of
from tests.factories.echo import echo_of
from tests.factories.offers import decision_of, placed

pytestmark = pytest.mark.django_db

DESIGN = {
    "name": "Spring",
    "echo": "50",
    "keyword": "50",
    "control": "keyword",
    "planned_days": "28",
}


def designed(manager: Client, echo: Echo, **fields: str) -> Experiment:
    response = manager.post(page(echo.site, "offers/experiments/new/"), DESIGN | fields)
    assert response.status_code == 302
    return Experiment.objects.get(pk=response["Location"].rstrip("/").rpartition("/")[2])


def change(client: Client, experiment: Experiment, do: str) -> Any:
    place = page(experiment.echo.site, f"offers/experiments/{experiment.pk}/change/")
    return client.post(place, {"do": do})


def told(client: Client, experiment: Experiment) -> str:
    place = page(experiment.echo.site, f"offers/experiments/{experiment.pk}/")
    return words(client.get(place))


def running(manager: Client, echo: Echo, *, days: int = 3, **fields: str) -> Experiment:
    """Started so many days ago."""
    made = designed(manager, echo, **fields)
    change(manager, made, "start")
    Experiment.objects.update(started_at=timezone.now() - timedelta(days=days))
    made.refresh_from_db()
    return made


def fill(echo: Echo, experiment: Experiment, *, clicking: int, of: int = 20, days: int = 3) -> None:
    """Each day so many new authors in each arm; of Echo's ``clicking`` click, of the other two."""
    for day in range(days):
        time = timezone.now() - timedelta(days=day, minutes=5)
        for number in range(of):
            for arm, most in (("echo", clicking), ("keyword", 2)):
                author = author_of(echo.site, consent=False)
                fields = placed(experiment, author, arm)
                decision_of(echo, author, time, events=["clicked"] * (number < most), **fields)


def test_a_design_waits_for_its_start(manager: Client, echo: Echo) -> None:
    made = designed(manager, echo)
    shown = told(manager, made)
    assert "Not started" in shown
    assert "The experiment has not started" in shown
    assert made.started_at is None


def test_arms_that_take_turns_by_time_are_refused_with_the_reason(
    manager: Client, echo: Echo
) -> None:
    made = designed(manager, echo)
    Experiment.objects.update(design=made.design | {"windows": [["2026-11-20", "2026-11-21"]]})
    response = change(manager, made, "start")
    assert response.status_code == 409
    assert "Arms can no longer take turns by time" in words(response)
    assert "Not started" in told(manager, made)


@all_cases(
    ("fields", "message"),
    [
        pytest.param({"keyword": "40"}, "sum to 90 %", id="not-all"),
        pytest.param({"control": "random"}, "no share", id="control-without-a-share"),
        pytest.param(
            {"keyword": "", "nothing": "50", "control": "nothing"},
            "no clicks",
            id="control-without-offers",
        ),
        pytest.param({"echo": "100", "keyword": ""}, "99", id="one-arm"),
        pytest.param({"name": "  "}, "required", id="no-name"),
        pytest.param({"planned_days": "0"}, "1", id="no-days"),
        pytest.param({"control": "best"}, "valid", id="no-such-arm"),
    ],
)
def test_a_design_that_cannot_be_used_is_not_made(
    manager: Client, echo: Echo, fields: dict[str, str], message: str
) -> None:
    response = manager.post(page(echo.site, "offers/experiments/new/"), DESIGN | fields)
    assert response.status_code == 422
    assert message in words(response)
    assert not Experiment.objects.exists()


def test_it_is_started_and_ended_once(manager: Client, echo: Echo) -> None:
    made = designed(manager, echo)
    assert change(manager, made, "end").status_code == 409
    assert change(manager, made, "start").status_code == 302
    assert change(manager, made, "start").status_code == 409
    assert "Running" in told(manager, made)
    assert change(manager, made, "end").status_code == 302
    assert change(manager, made, "end").status_code == 409
    assert change(manager, made, "again").status_code == 422
    assert "Ended" in told(manager, made)


def test_of_two_who_start_it_at_once_one_does(manager: Client, echo: Echo) -> None:
    made = designed(manager, echo)
    seen_by_both = [Experiment.objects.get(pk=made.pk) for _ in range(2)]
    begun = start_experiment(seen_by_both[0]).started_at
    with pytest.raises(Conflict):
        start_experiment(seen_by_both[1])
    assert Experiment.objects.get(pk=made.pk).started_at == begun


def test_one_of_another_site_is_not_found(manager: Client, echo: Echo) -> None:
    made = designed(manager, echo)
    Experiment.objects.update(echo=echo_of())
    place = f"offers/experiments/{made.pk}/"
    assert manager.get(page(echo.site, place)).status_code == 404
    assert manager.post(page(echo.site, f"{place}change/"), {"do": "start"}).status_code == 404


def test_a_name_is_shown_as_text(manager: Client, echo: Echo) -> None:
    made = designed(manager, echo, name="<b>x</b>&")
    place = page(echo.site, f"offers/experiments/{made.pk}/")
    assert "<b>x</b>" not in manager.get(place).content.decode()


def test_the_conclusion_the_ratio_with_its_interval_and_the_looks_are_told(
    manager: Client, echo: Echo
) -> None:
    made = running(manager, echo)
    assert "“Echo” against “Words in common”: there are no messages yet." in told(manager, made)
    fill(echo, made, clicking=1, of=2, days=1)
    assert "no conclusion yet; fewer than 20 independent clicks yet." in told(manager, made)
    fill(echo, made, clicking=20)
    shown = told(manager, made)
    assert "“Echo” has 7.63 times (+662 %) as many clicks per message" in shown
    assert "The difference is significant, also with daily looks." in shown
    assert re.search(r"Echo 7\.63 \d\.\d\d to \d+\.\d\d · fewer than 10 clicks[^.]+ \+662 %", shown)
    assert re.search(r"7\.63 \d\.\d\d to \d+\.\d\d 0\.000 yes", shown)


def test_the_number_of_queries_does_not_grow(manager: Client, echo: Echo) -> None:
    made = running(manager, echo)
    told(manager, made)
    counts = []
    for _ in range(2):
        fill(echo, made, clicking=3, of=3)
        with CaptureQueriesContext(connection) as queries:
            told(manager, made)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 25
    fill(echo, made, clicking=3, of=1)
    manager.get(page(echo.site, "offers/experiments/"))
    with CaptureQueriesContext(connection) as few:
        manager.get(page(echo.site, "offers/experiments/"))
    designed(manager, echo)
    with CaptureQueriesContext(connection) as more:
        manager.get(page(echo.site, "offers/experiments/"))
    assert len(few) == len(more)
