"""Pages that renew themselves: of a feature, and of an experiment that runs."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.authors.models import Author
from apps.echo.models import Echo, Experiment
from apps.echo.services.experiments import create_experiment, end_experiment, start_experiment
from apps.echo.services.learning import keep_up_with
from labelhub.core.echo.experiments.assignment import Arm
from tests.authors.pages.reading import page, words
from tests.factories.echo import log_answers
from tests.factories.offers import decision_of, placed

pytestmark = pytest.mark.django_db

FEATURE = "echo/features/urgency/"


@pytest.fixture
def experiment(echo: Echo) -> Experiment:
    """Echo against words in common; it runs since yesterday."""
    arms = [Arm("echo", 0.5, "echo"), Arm("keyword", 0.5, "keyword")]
    made = create_experiment(echo, name="Spring", arms=arms, control="keyword", planned_days=7)
    start_experiment(made)
    Experiment.objects.update(started_at=timezone.now() - timedelta(days=1))
    made.refresh_from_db()
    return made


def marks(source: str) -> set[str]:
    return set(re.findall(r'data-mark="(\w+)"', source))


def renewed(client: Client, address: str, mark: str) -> int:
    """The status told to who has seen it with that mark."""
    return client.get(address, headers={"X-Seen": mark}).status_code


def test_the_page_of_a_feature_moves(manager: Client, echo: Echo) -> None:
    address = page(echo.site, FEATURE)
    whole = manager.get(address).content.decode()
    assert f'hx-get="{address}"' in whole
    (mark,) = marks(whole)
    assert renewed(manager, address, mark) == 204
    log_answers(echo, "urgency", [(1.0, 0.5)] * 3)
    keep_up_with(echo)
    assert "n 3" in words(manager.get(address, headers={"X-Seen": mark}))
    assert manager.get(page(echo.site, "echo/features/nothing/")).status_code == 404


def test_an_experiment_that_runs_moves(
    manager: Client, experiment: Experiment, author: Author
) -> None:
    address = page(experiment.echo.site, f"offers/experiments/{experiment.pk}/")
    whole = manager.get(address).content.decode()
    assert f'hx-get="{address}"' in whole
    (mark,) = marks(whole)
    assert renewed(manager, address, mark) == 204
    fields = placed(experiment, author, "echo")
    decision_of(experiment.echo, author, timezone.now(), events=["clicked"], **fields)
    assert "1" in words(manager.get(address, headers={"X-Seen": mark}))
    end_experiment(experiment)
    assert "data-echo" not in manager.get(address).content.decode()


def test_what_moves_takes_as_many_queries(
    manager: Client, experiment: Experiment, author: Author
) -> None:
    address = page(experiment.echo.site, f"offers/experiments/{experiment.pk}/")
    counts = []
    for _ in range(2):
        for _ in range(3):
            fields = placed(experiment, author, "echo")
            decision_of(experiment.echo, author, timezone.now(), **fields)
        with CaptureQueriesContext(connection) as queries:
            manager.get(address)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 20


def test_a_refresh_leaves_the_notices_of_another_tab_to_it(
    manager: Client, experiment: Experiment
) -> None:
    address = page(experiment.echo.site, f"offers/experiments/{experiment.pk}/")
    manager.post(f"{address}change/", {"do": "end"})
    assert "its results stay" not in manager.get(address, headers={"HX-Request": "true"}).text
    assert "its results stay" in manager.get(address).text
