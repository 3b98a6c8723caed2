"""Limits of a day for one person, network and site, kept over several servers; costs and budget."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from apps.authors.errors import Erased
from apps.authors.models import (
    Author,
    CarriedLimits,
    DailyUse,
    Message,
    Question,
    Reward,
    Site,
    SiteUse,
)
from apps.authors.selectors.sites import current_consent, known_site
from apps.authors.services import limits
from apps.authors.services.authors import (
    Arrival,
    admit_author,
    author_of_subject,
    consent_of,
    network_hash,
)
from apps.authors.services.limits import (
    ASK,
    REPLY,
    LimitReached,
    Person,
    asked_before,
    budget_spent,
    count_cost,
    history_of,
    person_of,
    reserve,
    unknown_person,
)
from apps.authors.services.message_lease import claim_message
from apps.authors.services.privacy import erase_author, forget_old
from apps.authors.services.questions import _reply
from apps.authors.services.trust import judge_author, set_ruling
from apps.llm.models import ModelSpec
from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.types import Call, Completion
from labelhub.core.schema import parse_schema
from tests.authors.live import token
from tests.factories.authors import (
    answered_by,
    arrival_at,
    asked,
    author_of,
    message_of,
    site_with_features,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db
HOME = network_hash("203.0.113.0/24")


def times(site: Site, person: Person, kind: str = REPLY, most: int = 20) -> int:
    """How often models work until a limit is reached."""
    for done in range(most):
        try:
            reserve(site, kind, person)
        except LimitReached:
            return done
    return most


def anonymous(site: Site, network: str = "") -> Author:
    author = author_of(site)
    author.network = network
    author.save()
    return author


def test_each_person_has_a_limit_and_signed_in_ones_another() -> None:
    site = site_with_features(replies_anonymous=3, replies_verified=5)
    assert times(site, person_of(author_of(site))) == 3
    assert times(site, person_of(author_of(site))) == 3
    assert times(site, person_of(author_of(site, "customer"))) == 5


def test_a_network_has_a_limit_for_all_in_it_also_for_those_who_stay_unknown() -> None:
    site = site_with_features(replies_anonymous=3, replies_network=4)
    assert times(site, person_of(anonymous(site, HOME))) == 3
    assert times(site, person_of(anonymous(site, HOME))) == 1
    assert times(site, unknown_person("", HOME, "a socket")) == 0
    assert times(site, person_of(anonymous(site, network_hash("198.51.100.0/24")))) == 3


def test_whom_the_host_signs_in_has_their_limit_also_where_they_stay_unknown() -> None:
    site = site_with_features(replies_verified=4)
    assert times(site, unknown_person("customer-1", HOME, "a socket")) == 4
    assert times(site, person_of(author_of(site, "customer-1"))) == 0
    assert times(site, unknown_person("customer-2", HOME, "a socket")) == 4


def test_who_stays_unknown_has_the_limit_of_one_anonymous_person() -> None:
    site = site_with_features(replies_anonymous=3)
    away = network_hash("198.51.100.0/24")
    people = {
        "a socket": (unknown_person("", HOME, "first"), 3),
        "another one from the same network": (unknown_person("", HOME, "second"), 0),
        "one from another network": (unknown_person("", away, "third"), 3),
        "one whose network is not known": (unknown_person("", "", "fourth"), 3),
        "another one": (unknown_person("", "", "fifth"), 3),
    }
    wrong = {
        name: found
        for name, (person, most) in people.items()
        if (found := times(site, person)) != most
    }
    assert wrong == {}


def test_an_erasure_gives_an_anonymous_person_no_new_replies() -> None:
    site = site_with_features(replies_anonymous=3)
    done = []
    for _ in range(3):
        author = arrive(site, "203.0.113.0/24")
        done.append(times(site, person_of(author)))
        erase_author(author)
    assert done == [3, 0, 0]


def test_a_consent_that_the_host_said_before_an_erasure_makes_nobody() -> None:
    site = site_with_features(consent_by="host", identity="verified")
    known, arrival = known_site(site.public_key), Arrival(ident=token(site), consent_by="host")
    before = timezone.now()
    erase_author(admit_author(known, arrival).author)
    for moment in (None, before, timezone.now() + timedelta(days=365)):
        with pytest.raises(Erased):
            admit_author(known, replace(arrival, consented_at=moment))
        assert not Author.objects.exists()
    anew = admit_author(known, replace(arrival, consented_at=timezone.now()))
    assert anew.consent is not None
    assert admit_author(known, arrival).author == anew.author


def test_nobody_is_refused_for_whoever_was_erased_in_the_same_network() -> None:
    site = site_with_features(consent_by="host")
    known = known_site(site.public_key)
    arrival = Arrival(network="203.0.113.0/24", consent_by="host")
    erase_author(admit_author(known, arrival).author)
    assert admit_author(known, arrival).author.carried is not None


def test_a_site_has_a_limit_of_calls_and_what_was_refused_is_counted() -> None:
    site = site_with_features(calls_per_day=2)
    assert times(site, person_of(author_of(site))) == 2
    assert times(site, person_of(author_of(site)), most=3) == 0
    use = site.uses.get()
    assert (use.calls, use.refused) == (2, 2)


def test_the_next_day_begins_anew_and_the_day_before_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = site_with_features(replies_anonymous=1)
    person = person_of(anonymous(site, HOME))
    assert times(site, person) == 1
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(days=2))
    assert times(site, person) == 1
    before = set(DailyUse.objects.values_list("who", flat=True))
    forget_old(timezone.now())
    assert DailyUse.objects.count() == 2
    assert len(before) == 4, "a person has another hash each day"


@pytest.mark.django_db(transaction=True)
def test_many_at_once_do_not_get_more_than_there_is() -> None:
    site = site_with_features(replies_anonymous=5, replies_network=100)
    person = person_of(anonymous(site, HOME))
    assert sum(at_once(lambda _: times(site, person, most=4))) == 5
    assert max(DailyUse.objects.values_list("count", flat=True)) == 5


def again(site: Site, subject: str = "customer") -> Author:
    author = author_of_subject(site, subject)
    author.site = site
    return author


def test_who_erases_their_data_is_not_asked_anew_on_the_same_day() -> None:
    site = site_with_features(per_day=2)
    author = author_of(site, "customer")
    for number in range(2):
        asked(author, f"I need a warm lamp for my tent, number {number}.")
        Question.objects.update(status=Question.Status.ANSWERED)
    erase_author(author)
    author = again(site)
    message = message_of(author)
    now = timezone.now()
    assert history_of(author, message, asked_before(author.pk), now).surveys_today == 2
    tomorrow = now + timedelta(days=1)
    assert history_of(author, message, [], tomorrow).surveys_today == 0


def test_caps_of_rewards_are_not_earned_twice() -> None:
    site = site_with_features(reward_cents=5, reward_daily_cents=10, reward_total_cents=12)
    author = author_of(site, "customer")
    answered_by(author)
    erase_author(author)
    author = again(site)
    carried_on = author.carried
    assert carried_on is not None
    assert (carried_on.day_cents, carried_on.total_cents) == (5, 5)
    consent(author)
    answered_by(author)
    erase_author(author)
    author = again(site)
    consent(author)
    answered_by(author)  # the day's cap is reached
    assert not Reward.objects.exists()
    assert CarriedLimits.objects.count() == 1


def consent(author: Author) -> None:
    consent_of(author, current_consent(author.site), author.site.consent_by)


@pytest.mark.parametrize("ruling", [True, False])
def test_a_ruling_outlives_the_erasure_and_can_be_overruled(ruling: bool) -> None:
    site = site_with_features()
    author = author_of(site, "customer")
    set_ruling(
        author, trusted=ruling, reason="Sends the same from three names, such as Anna Example."
    )
    author.refresh_from_db()
    erase_author(author)
    author = again(site)
    assert author.counts is ruling
    assert "Anna" not in author.ruling_reason
    set_ruling(author, trusted=not ruling)
    author.refresh_from_db()
    assert author.counts is not ruling


def test_what_signals_said_outlives_the_erasure() -> None:
    site = site_with_features()
    author = author_of(site, "customer")
    Author.objects.update(trusted=False)
    author.refresh_from_db()
    erase_author(author)
    author = again(site)
    consent(author)
    answered_by(author)
    judge_author(author.pk)
    author.refresh_from_db()
    assert not author.counts
    assert author.trust["summary"] == limits.WHY


def test_what_is_kept_names_nobody_and_ends() -> None:
    site = site_with_features()
    author = author_of(site, "customer@example.org")
    author.site = site
    answered_by(author)
    erasure = erase_author(author)
    kept = CarriedLimits.objects.get()
    assert erasure.limits_until == kept.until
    assert kept.until - kept.erased_at == limits.KEPT_FOR
    assert "customer" not in str(CarriedLimits.objects.values().get())
    assert not {"receipt", "author"} & {field.name for field in CarriedLimits._meta.fields}
    forget_old(timezone.now() + limits.KEPT_FOR)
    assert not CarriedLimits.objects.exists()


def test_hashes_of_one_person_differ_from_quarter_to_quarter_and_site_to_site() -> None:
    site, other = site_with_features(), site_with_features()
    now = timezone.now()
    person, elsewhere = Author(site=site, subject="c"), Author(site=other, subject="c")
    present, later = (
        limits._person_hashes(person, now),
        limits._person_hashes(person, now + 2 * limits.KEPT_FOR),
    )
    assert not {*present} & {*later}
    assert not {*present} & {*limits._person_hashes(elsewhere, now)}
    assert present[0] in limits._person_hashes(person, now + limits.KEPT_FOR), (
        "found while it is kept"
    )


def arrive(site: Site, network: str) -> Author:
    return admit_author(known_site(site.public_key), arrival_at(site, network=network)).author


def test_one_newcomer_of_the_same_network_goes_on_where_an_anonymous_one_was_erased() -> None:
    site = site_with_features()
    author = arrive(site, "203.0.113.0/24")
    asked(author)
    erase_author(author)
    newcomers = [arrive(site, "203.0.113.0/24") for _ in range(2)]
    counts = [limits.surveys_before(newcomer, timezone.now()) for newcomer in newcomers]
    assert counts == [1, 0]
    assert all(newcomer.counts for newcomer in newcomers)


@pytest.fixture
def site() -> Site:
    return site_with_features(daily_budget_nanousd=1000)


def test_costs_of_a_day_add_up_to_one_row(site: Site) -> None:
    for cost in (400, 0, 599):
        count_cost(site.pk, cost)
    assert SiteUse.objects.get().cost_nanousd == 999
    assert not budget_spent(site)
    count_cost(site.pk, 1)
    assert budget_spent(site)


@pytest.mark.thorough
def test_a_budget_that_is_spent_ends_the_asking(site: Site) -> None:
    count_cost(site.pk, 1000)
    assert claim_message(message_of(author_of(site))) is None
    assert Message.objects.latest("pk").dropped_at == "budget"


@pytest.mark.parametrize(("usage", "cost"), [({}, 0), ({"tokens_in": 400, "tokens_out": 100}, 600)])
def test_a_call_that_fails_counts_with_what_was_paid_for_it(
    usage: dict[str, Any], cost: int
) -> None:
    class Failing:
        async def complete(self, spec: ModelSpec, call: Call) -> Completion:
            raise ModelError("No answer of use.", data={"usage": usage} if usage else {})

    spec = ModelSpec(price_in=Decimal(1), price_out=Decimal(2))
    schema = parse_schema({"task": "text", "question": "What is it?"})
    call = Call("word", "word", (), "", schema, "A lamp.")
    spent: list[int] = []
    assert not asyncio.run(_reply(spec, call, Failing(), spent)).ok
    assert spent == [cost * 1000]


def test_deleting_an_author_gives_nothing_back(site: Site) -> None:
    author = author_of(site, "customer-1")
    asked(author)
    erase_author(author)
    assert budget_spent(site)


def test_replies_and_questions_are_counted_apart() -> None:
    site = site_with_features(replies_anonymous=3)
    person = person_of(author_of(site))
    assert (times(site, person, REPLY), times(site, person, ASK)) == (3, 3)


def test_every_day_begins_anew_and_every_site_has_its_own(site: Site) -> None:
    count_cost(site_with_features().pk, 5000)
    count_cost(site.pk, 5000)
    SiteUse.objects.filter(site=site).update(day=timezone.now().date() - timedelta(days=1))
    assert not budget_spent(site)
