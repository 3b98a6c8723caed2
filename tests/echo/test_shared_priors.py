"""What a site has learnt to matter is the prior of the other sites of the server."""

import pytest

from apps.authors.models import Feature
from apps.echo.models import Echo
from apps.echo.selectors.learning import feature_summaries
from apps.echo.services.configuration import change_echo, log_priors, set_priors
from apps.echo.services.events import log_events
from apps.echo.services.learning import keep_up_with
from apps.echo.states import stored_state
from labelhub.core.echo.events import Rewarded
from labelhub.core.echo.relevance import Relevance
from tests.factories.echo import echo_of
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def taught(echo: Echo) -> str:
    """The key of a feature that the first site has learnt to matter, by many clicks."""
    key = Feature.objects.filter(site=echo.site_id).order_by("pk")[0].key
    rewards = [
        (Rewarded(f"r{number}", "ada", True, ((key, 1.0),), 1.0), None) for number in range(8)
    ]
    log_events(echo, rewards)
    keep_up_with(echo)
    return key


def beliefs(echo: Echo) -> tuple[Relevance, dict[str, int]]:
    keep_up_with(echo)
    state = stored_state(Echo.objects.get(pk=echo.pk))
    return state.relevance, state.places


def shared(echo: Echo) -> dict[str, float]:
    logged = echo.log.filter(ref__startswith="shared-").order_by("number")
    return {row["feature"]: row["data"]["prior"] for row in logged.values("feature", "data")}


def test_a_new_site_begins_with_what_others_learnt(echo: Echo, taught: str) -> None:
    new = echo_of()
    assert shared(new).keys() == {taught}
    relevance, places = beliefs(new)
    gained = relevance.odds[places[taught]]
    first, known = beliefs(echo)
    evidence = first.odds[known[taught]] - first.prior_odds[known[taught]]
    usual = first.prior_odds[known[taught]]
    assert gained == pytest.approx(usual + min(3.0, evidence / 2))
    # The prior that came from the first site is no evidence for it.
    assert log_priors(echo) == 0
    assert shared(echo) == {}


@pytest.mark.django_db(transaction=True)
def test_workers_at_once_log_a_prior_once(echo: Echo, taught: str) -> None:
    new = echo_of()
    new.log.all().delete()
    assert sum(at_once(lambda _: log_priors(Echo.objects.get(pk=new.pk)))) == 1
    assert shared(new).keys() == {taught}


@pytest.mark.django_db(transaction=True)
def test_settings_and_priors_changed_at_once_do_not_deadlock(echo: Echo, taught: str) -> None:
    def change(number: int) -> None:
        found = Echo.objects.get(pk=echo.pk)
        for turn in range(10):
            if number % 2:
                set_priors(found.site, {taught: turn / 10 - 0.5})
            else:
                change_echo(found.site, {"on": turn % 2 == 0, "offers_on": True})

    at_once(change)
    echo.refresh_from_db()
    assert (echo.on, echo.offers_on) == (False, True)
    last = echo.log.filter(kind="expected", feature=taught).order_by("-number")[0].data["prior"]
    assert last == Feature.objects.get(site=echo.site_id, key=taught).parsed.prior == 0.9 - 0.5


def test_sites_that_have_learnt_nothing_yet_do_not_weaken_the_prior(
    echo: Echo, taught: str
) -> None:
    second = echo_of()
    keep_up_with(second)
    assert shared(echo_of()) == pytest.approx(shared(second))


def test_a_prior_of_the_owner_counts_instead_and_both_sites_may_decline(
    echo: Echo, taught: str
) -> None:
    new = echo_of()
    set_priors(new.site, {taught: -0.5})
    assert new.log.order_by("-number")[0].data["prior"] == -0.5
    declining = echo_of()
    change_echo(declining.site, {"shares_relevance": False})
    relevance, places = beliefs(declining)
    assert relevance.odds[places[taught]] == pytest.approx(relevance.odds.min(), abs=1e-9)
    change_echo(echo.site, {"shares_relevance": False})
    Echo.objects.filter(pk__in=[new.pk, declining.pk]).update(shares_relevance=False)
    assert shared(echo_of()) == {}


def test_a_feature_with_other_values_is_another_one(echo: Echo, taught: str) -> None:
    row = Feature.objects.get(site=echo.site_id, key=taught)
    values = {"values": ["calm", "upset"], "meanings": {}, "templates": {}}
    row.definition = row.definition | values
    row.save()
    assert shared(echo_of()) == {}


@pytest.mark.parametrize("damage", [b"damaged", b"\x04\x00\x00\x00null"])
def test_a_state_of_another_version_is_rebuilt_and_until_then_nothing_is_known_of_it(
    echo: Echo, taught: str, damage: bytes
) -> None:
    before = beliefs(echo)[0].odds.tolist()
    # As after an update of the server; another site could tell about the same features.
    other = echo_of()
    keep_up_with(other)
    Echo.objects.filter(pk=echo.pk).update(state=damage, erased=1)
    echo.refresh_from_db()
    assert log_priors(echo) == 0
    assert feature_summaries(echo, echo.site.features.order_by())
    assert shared(echo_of()) == {}
    assert beliefs(echo)[0].odds.tolist() == before
