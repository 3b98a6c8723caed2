"""``paper_table`` with models at an endpoint: what is asked, and what is not paid twice."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from apps.debates.models import Run, Turn
from apps.llm.models import ModelSpec
from tests.agreement.paper_help import aspects, moods, printed, told
from tests.factories.llm import ModelSpecFactory
from tests.fakes import fixtures
from tests.fakes.openai_server import FakeServer

pytestmark = pytest.mark.django_db(transaction=True)

one_model_server = fixtures.one_model_server
model_server = fixtures.model_server


@pytest.fixture(autouse=True)
def no_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test database is there already."""
    monkeypatch.setattr("apps.common.commands.prepare_database", lambda: None)


def model_at(server: FakeServer, **fields: Any) -> ModelSpec:
    """A model of that endpoint."""
    return ModelSpecFactory.create(provider__base_url=server.base_url, **fields)


@pytest.mark.thorough
def test_a_table_is_paid_for_once(model_server: FakeServer, tmp_path: Path) -> None:
    model = model_at(model_server)
    reviews = aspects(tmp_path)
    args = ("000.T3", reviews, "--aspect", "food", "--model", model.name, "--replicates", 2)

    table = told(*args, "--yes", "--budget", "1")

    assert model_server.stats["requests"] == Turn.objects.count() == 6 * 3 * 2
    assert table["cost_usd"] > 0
    run = Run.objects.get()
    assert (run.trial, run.replicates, run.budget_nanousd) == (True, 2, 10**9)
    assert told(*args)["rows"] == table["rows"]
    assert model_server.stats["requests"] == 36


@pytest.mark.thorough
def test_a_budget_stops_a_run_and_a_greater_one_goes_on(
    model_server: FakeServer, tmp_path: Path
) -> None:
    args = ("001.F2", moods(tmp_path), "--model", model_at(model_server).name, "--yes")
    with pytest.raises(CommandError, match=r"is paused: .*Call the command again"):
        told(*args, "--budget", "0.0001")
    asked = model_server.stats["requests"]

    told(*args, "--budget", "1")

    run = Run.objects.get()
    assert run.status == Run.Status.DONE
    assert asked < model_server.stats["requests"] == Turn.objects.filter(reused=False).count()


@pytest.mark.thorough
def test_what_nobody_has_a_price_for_is_said_and_done(
    model_server: FakeServer, tmp_path: Path
) -> None:
    model = model_at(model_server, price_in=None, price_out=None)
    args = ("002.T3", moods(tmp_path), "--model", model.name, "--judges", 1, "--precedents", 0)
    text = printed(*args, "--limit", 2)
    assert f"Cost: unknown, there is no price for {model.name}" in text
    assert told(*args, "--limit", 2)["cost_usd"] is None
    single = Turn.objects.filter(debate__run__protocol="single")
    assert {turn.params_asked["temperature"] for turn in single} == {0.5}
    with pytest.raises(CommandError, match=r"no budget can be kept"):
        told("002.T3", moods(tmp_path, "new"), "--model", model.name, "--budget", "1")
