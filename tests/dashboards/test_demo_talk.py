"""The past of the demo's shop: what sample visitors said, answered and clicked, and what Echo
learnt from it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.services import create_user
from apps.authors.models import Answer, Message
from apps.dashboards.demo_site import MESSAGES, prepare_demo_site, sample_lines
from apps.echo.models import Echo, LogEvent, OfferEvent, Scored
from apps.echo.services import offer_decisions
from apps.echo.services.learning import rebuild_state
from apps.llm.services import ensure_builtin
from labelhub.core.interview.features import starter_library


def test_the_samples_speak_of_features_and_values_that_the_shop_asks_about() -> None:
    known = {feature.key: feature.values for feature in starter_library()["shopping"]}
    lines = list(sample_lines(2 * MESSAGES))
    assert lines == list(sample_lines(2 * MESSAGES))
    for line in lines:
        assert "{" not in line.text
        for key, value in line.answers.items():
            assert value in known[key]


@pytest.mark.thorough
@pytest.mark.django_db
def test_echo_has_learnt_from_two_weeks_of_offers_and_a_second_start_adds_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(offer_decisions, "MATTERED_SHARE", 1.0)
    ensure_builtin()
    manager = create_user(username="manager").user
    echo = Echo.objects.get(site=prepare_demo_site(manager, []))

    # Enough for its page to show curves.
    assert Scored.objects.filter(echo=echo).count() >= 100
    assert echo.logged == echo.learnt
    now = timezone.now()
    shown = echo.decisions.filter(shown_at__isnull=False)
    days = {decision.message_at.date() for decision in shown}
    assert len(days) >= 10
    assert all(now - timedelta(days=15) < day.message_at < now for day in echo.decisions.all())
    events = set(OfferEvent.objects.values_list("kind", flat=True))
    assert events == set(OfferEvent.Kind)
    rewards = echo.log.filter(kind=LogEvent.Kind.REWARDED).count()
    assert rewards >= shown.filter(policy="echo").count()
    assert echo.learnt > rewards

    before = _counts(echo)
    prepare_demo_site(manager, [])
    assert _counts(echo) == before
    assert rebuild_state(echo)


def _counts(echo: Echo) -> tuple[int, ...]:
    kept = (Message.objects, Answer.objects, echo.decisions, echo.experiments, echo.log)
    return tuple(rows.count() for rows in kept)
