"""From a message to an offer, from an offer to what is learnt of it, and its form in the widget."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.db.models import Sum
from django.utils import timezone

from apps.authors.errors import NotYours, UnknownQuestion
from apps.authors.models import Author, Message, SiteUse
from apps.authors.services.authors import opt_out
from apps.authors.services.questions import Models, OpenModels
from apps.authors.services.site_config import next_offer, offers
from apps.authors.services.trust import set_ruling
from apps.echo.models import Decision, Echo, LogEvent, OfferEvent
from apps.echo.reporting.funnel import offer_funnel
from apps.echo.services import offer_decisions, offer_ranking
from apps.echo.services.catalogue import forget_index, import_catalogue
from apps.echo.services.configuration import update_echo
from apps.echo.services.experiments import create_experiment, end_experiment, start_experiment
from apps.echo.services.learning import keep_up_with, rebuild_state
from apps.echo.services.offer_decisions import decide_about, expire_decisions, messages_due
from apps.echo.states import stored_state
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience
from labelhub.core.echo.events import CLICK, DISMISSED
from labelhub.core.echo.experiments.assignment import Arm
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.core.llm.errors import ModelUnreachable
from labelhub.core.llm.types import Call, Completion, Usage
from tests.factories.authors import author_of, message_of
from tests.factories.echo import Offline, echo_of, learnt_digest, processed

pytestmark = pytest.mark.django_db

CATALOGUE = """id,title,text,link,vertical,price,currency,attributes
tent,Two-person tent,"A light tent that is up in five minutes. Dry for three seasons.",/shop/#tent,sleeping,129,EUR,experience_level=first_time;some
lamp,Storm lamp,"Warm light for forty hours.",/shop/#lamp,light,34,EUR,
kettle,Camping kettle,"Boils a litre on anything that burns.",/shop/#kettle,cooking,22,EUR,
"""  # noqa: E501 - as a file has it
OTHER = "My old lamp is broken, which one gives warm light for a whole evening?"
TEXT = "Which light tent for two people would you buy for a first trip in autumn?"


@asynccontextmanager
async def offline(_spec: ModelSpec, _patience: Patience) -> AsyncIterator[Offline]:
    yield Offline()


@pytest.fixture
def echo() -> Echo:
    return offering_echo()


def offering_echo() -> Echo:
    echo = echo_of()
    import_catalogue(echo, CATALOGUE)
    forget_index(echo.pk)
    # Nothing is left to chance: what fits best is offered.
    return update_echo(
        echo, offers_on=True, offer_every_messages=1, offer_min_seconds=0, offer_explore=0
    )


def decided(author: Author, text: str = TEXT) -> Decision:
    message = processed(author, text)
    assert message.pk in messages_due(timezone.now())
    decision = decide_about(message.pk, offline)
    assert decision is not None
    return decision


def clicked(decision: Decision, ref: str = "c1", what: str = "click") -> None:
    offers().record_event(decision.author, decision.uid, what, ref)


def test_what_fits_is_offered_and_says_that_it_is_an_offer(author: Author) -> None:
    decision = decided(author)
    assert decision.status == Decision.Status.WAITING
    assert decision.item_ref == "tent"
    assert decision.offer["label"] == "Recommendation"
    assert decision.offer["title"] == "Two-person tent"
    assert decision.offer["link"] == "/shop/#tent"
    assert decision.propensity == decision.propensities["tent"]
    assert decision.selection is not None


def test_an_offer_is_brought_once(author: Author) -> None:
    decision = decided(author)
    assert offers().waiting([author.pk]) == [author.pk]
    offer = next_offer(author)
    assert offer is not None
    assert offer["oid"] == str(decision.uid)
    assert offers().waiting([author.pk]) == []
    assert next_offer(author) is None


def test_what_was_sent_and_never_shown_is_sent_again_while_its_moment_lasts(
    author: Author,
) -> None:
    decision = decided(author)
    next_offer(author)
    Decision.objects.update(sent_at=timezone.now() - timedelta(seconds=20))
    assert next_offer(author) is not None
    clicked(decision, what="shown")
    Decision.objects.update(sent_at=timezone.now() - timedelta(seconds=20))
    assert next_offer(author) is None


def test_of_two_offers_the_newer_one_is_brought(author: Author) -> None:
    decided(author)
    newer = decided(author, OTHER)
    offer = next_offer(author)
    assert offer is not None
    assert offer["oid"] == str(newer.uid)
    Decision.objects.update(sent_at=timezone.now() - timedelta(seconds=20))
    clicked(newer, what="shown")
    assert next_offer(author) is None


def test_an_item_is_not_offered_again_soon(author: Author, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offer_ranking, "SAME_ITEM_MESSAGES", 3)
    found = [decided(author, f"{TEXT} I asked {n} times.").item_ref for n in range(4)]
    assert [ref == "tent" for ref in found] == [True, False, False, True]


def test_every_click_counts_and_the_same_one_told_again_does_not(author: Author) -> None:
    decision = decided(author)
    for ref in ("c1", "c1", "c2"):
        clicked(decision, ref)
    assert OfferEvent.objects.filter(kind="clicked").count() == 2
    decision.refresh_from_db()
    assert decision.shown_at is not None


def test_offers_of_others_and_unknown_ones_are_refused(echo: Echo, author: Author) -> None:
    decision = decided(author)
    with pytest.raises(NotYours):
        offers().record_event(author_of(echo.site), decision.uid, "click", "c1")
    with pytest.raises(UnknownQuestion):
        offers().record_event(author, uuid4(), "click", "c1")


def test_a_click_is_learnt_of_at_once_and_only_once(echo: Echo, author: Author) -> None:
    decision = decided(author)
    clicked(decision)
    assert keep_up_with(echo) == 1
    before = learnt_digest(echo)
    clicked(decision, "c2")
    assert keep_up_with(echo) == 0
    assert learnt_digest(echo) == before
    assert rebuild_state(Echo.objects.get())


def test_none_is_learnt_of_when_the_time_for_it_is_over(echo: Echo, author: Author) -> None:
    clicked(decided(author), what="shown")
    assert keep_up_with(echo) == 0
    Decision.objects.update(shown_at=timezone.now() - timedelta(hours=2))
    base = stored_state(Echo.objects.get()).relevance.signal(CLICK).base
    assert keep_up_with(echo) == 1
    assert stored_state(Echo.objects.get()).relevance.signal(CLICK).base < base


@pytest.mark.parametrize(
    ("events", "value", "dismissed"),
    [(["shown"], 0.0, False), (["shown", "close"], 0.0, True), (["click", "close"], 1.0, None)],
)
def test_a_dismissal_teaches_only_where_nothing_was_clicked(
    echo: Echo, author: Author, events: list[str], value: float, dismissed: bool | None
) -> None:
    decision = decided(author)
    for number, what in enumerate(events):
        clicked(decision, f"e{number}", what)
    Decision.objects.update(shown_at=timezone.now() - timedelta(hours=2))
    assert keep_up_with(echo) == 1
    (data,) = LogEvent.objects.filter(kind="rewarded").values_list("data", flat=True)
    assert (data["value"], data["dismissed"]) == (value, dismissed)
    signals = stored_state(Echo.objects.get()).relevance.signals
    assert (DISMISSED in signals) == (dismissed is not None)


def test_clicks_teach_relevance_and_never_a_model(echo: Echo, author: Author) -> None:
    clicked(decided(author))
    keep_up_with(echo)
    state = stored_state(Echo.objects.get())
    assert state.models == {}
    assert state.uncertainty.answers.sum() == 0


def test_clicks_of_who_is_not_believed_any_more_have_taught_nothing(
    echo: Echo, author: Author
) -> None:
    clicked(decided(author))
    keep_up_with(echo)
    assert stored_state(Echo.objects.get()).features
    set_ruling(author, trusted=False, reason="clicks everything")
    keep_up_with(echo)
    assert stored_state(Echo.objects.get()).features == []


def test_nothing_is_offered_where_nothing_fits_and_the_reason_is_kept(author: Author) -> None:
    decision = decided(author, "How do I file a complaint about the noise in my street?")
    assert decision.status == Decision.Status.NOTHING
    assert decision.why in {"no_match", "weak_match", "off_topic"}
    assert decision.propensity >= 0.95


@pytest.mark.parametrize("text", ["hello", "thanks!", "I was diagnosed with cancer last week."])
def test_greetings_and_what_is_sensitive_are_never_offered_anything(
    author: Author, text: str
) -> None:
    processed(author, text)
    assert messages_due(timezone.now()) == []


@pytest.mark.parametrize("stage", ["", "throttle", "budget", "model", "relevance"])
def test_what_was_not_called_ordinary_is_offered_nothing(author: Author, stage: str) -> None:
    """Nobody has judged it, however long it waits, or the model was unsure of it."""
    message = message_of(author, TEXT)
    received = timezone.now() - timedelta(seconds=30)
    Message.objects.filter(pk=message.pk).update(
        status="dropped" if stage else "received",
        dropped_at=stage,
        reason="unsure" if stage == "relevance" else "",
        received_at=received,
    )
    assert messages_due(timezone.now()) == []


def test_an_ordinary_message_that_no_feature_is_about_is_offered_what_fits(author: Author) -> None:
    author.site.features.update(active=False)
    message = processed(author, TEXT)
    message.refresh_from_db()
    assert (message.dropped_at, message.reason) == ("relevance", "none_relevant")
    assert messages_due(timezone.now()) == [message.pk]


def test_who_has_opted_out_is_offered_nothing(author: Author) -> None:
    decided(author)
    opt_out(author)
    author.refresh_from_db()
    assert next_offer(author) is None
    processed(author, TEXT + " Please.")
    assert messages_due(timezone.now()) == []


CRISIS = "I want to kill myself"


def test_an_offer_that_is_being_worded_is_not_made_after_a_sign_of_danger(author: Author) -> None:
    message = processed(author, TEXT)
    assert messages_due(timezone.now()) == [message.pk]
    crisis = message_of(author, CRISIS, conversation="another")
    Decision.objects.update(status="pending")  # claimed at the same moment
    assert crisis.reason
    decision = decide_about(message.pk, offline)
    assert decision is not None
    assert decision.status == Decision.Status.EXPIRED
    assert offers().waiting([author.pk]) == []


def test_after_a_sign_of_danger_no_offer_stands(author: Author) -> None:
    decided(author)
    next_offer(author)
    shown = decided(author, OTHER)
    next_offer(author)
    clicked(shown, what="shown")
    waiting = decided(author, "Which kettle boils water fast on an open fire?")
    assert processed(author, "Which tent would you take for a week of rain?").pk in messages_due(
        timezone.now()
    )
    assert waiting.status == Decision.Status.WAITING
    message_of(author, CRISIS)
    assert set(Decision.objects.values_list("status", flat=True)) == {Decision.Status.EXPIRED}
    assert offers().withdrawn({shown.uid, uuid4()}) == {shown.uid}
    funnel = offer_funnel(Echo.objects.get())
    assert (funnel["sent"], funnel["shown"], funnel["late"]) == (2, 1, 1)


def test_an_offer_that_waited_when_danger_showed_is_not_brought(author: Author) -> None:
    decision = decided(author)
    message_of(author, CRISIS)
    Decision.objects.update(status="waiting")  # stored at the same moment
    assert next_offer(author) is None
    decision.refresh_from_db()
    assert decision.status == Decision.Status.EXPIRED


def test_that_it_was_shown_does_not_revive_an_offer(author: Author) -> None:
    decision = decided(author)
    next_offer(author)
    message_of(author, CRISIS)
    clicked(decision, what="shown")
    decision.refresh_from_db()
    assert decision.status == Decision.Status.EXPIRED
    assert decision.shown_at is not None


def test_the_kill_switch_stops_offers_at_once_also_those_that_wait(
    echo: Echo, author: Author
) -> None:
    decided(author)
    update_echo(echo, offers_on=False)
    assert next_offer(author) is None
    processed(author, TEXT + " Please.")
    assert messages_due(timezone.now()) == []


def test_a_message_is_decided_about_by_one(author: Author) -> None:
    message = processed(author, TEXT)
    assert messages_due(timezone.now()) == [message.pk]
    assert messages_due(timezone.now()) == []
    assert decide_about(message.pk, offline) is not None
    assert decide_about(message.pk, offline) is None


def test_what_a_killed_process_left_is_decided_while_its_moment_lasts(author: Author) -> None:
    message = processed(author, TEXT)
    messages_due(timezone.now())
    Decision.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert messages_due(timezone.now()) == [message.pk]


def test_pauses_may_be_as_long_as_the_settings_allow(author: Author, echo: Echo) -> None:
    """Decisions once failed above 10,000 messages or a year."""
    update_echo(echo, offer_every_messages=20_000, offer_min_seconds=40_000_000)
    assert decided(author).why == "good_match"


def test_what_was_never_brought_expires(author: Author) -> None:
    decision = decided(author)
    Decision.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    assert expire_decisions(timezone.now()) == 1
    decision.refresh_from_db()
    assert decision.status == Decision.Status.EXPIRED


def test_a_model_that_is_down_is_replaced_by_the_items_own_words(author: Author) -> None:
    class Down:
        async def complete(self, spec: ModelSpec, call: Call) -> Completion:
            raise ModelUnreachable("nobody there")

    message = processed(author, TEXT)
    messages_due(timezone.now())
    decision = decide_about(message.pk, _opening(Down()))
    assert decision is not None
    assert "tent" in decision.offer["text"].lower()


@pytest.mark.parametrize(
    "reply",
    [
        "Offer: Hurry, only today: guaranteed the cheapest tent on earth!",
        "Offer: <script>alert(1)</script> Buy at https://evil.example now.",
        "Offer: " + "very " * 400,
    ],
)
def test_what_a_model_may_not_say_is_not_said(author: Author, reply: str) -> None:
    class Bold:
        async def complete(self, spec: ModelSpec, call: Call) -> Completion:
            return Completion(text=reply, usage=Usage(10, 10))

    message = processed(author, TEXT)
    messages_due(timezone.now())
    decision = decide_about(message.pk, _opening(Bold()))
    assert decision is not None
    assert decision.offer["text"] not in reply
    assert len(decision.offer["text"]) <= 240


def _opening(models: Models) -> OpenModels:
    @asynccontextmanager
    async def opened(_spec: ModelSpec, _patience: Patience) -> AsyncIterator[Models]:
        yield models

    return opened


class TestExperiments:
    def arms(self, *policies: str) -> list[Arm]:
        return [Arm(policy, 1 / len(policies), policy) for policy in policies]

    @pytest.mark.thorough
    def test_an_author_stays_in_one_arm(self, echo: Echo) -> None:
        made = create_experiment(
            echo, name="Spring", arms=self.arms("echo", "nothing"), control="nothing"
        )
        start_experiment(made)
        seen = {}
        for _ in range(6):
            author = author_of(echo.site)
            arms = {decided(author, text).arm for text in (TEXT, OTHER)}
            assert len(arms) == 1
            seen[author.pk] = arms.pop()
        for decision in Decision.objects.all():
            assert decision.policy == decision.arm == seen[decision.author_id]
            if decision.arm == "nothing":
                assert decision.status == Decision.Status.NOTHING

    def test_who_wrote_while_it_ran_is_in_its_arm_also_where_it_has_ended_since(
        self, echo: Echo, author: Author
    ) -> None:
        made = create_experiment(
            echo, name="Words", arms=self.arms("keyword", "random"), control="random"
        )
        start_experiment(made)
        before = processed(author, TEXT)
        end_experiment(made)
        messages_due(timezone.now())
        during = decide_about(before.pk, offline)
        assert during is not None
        assert during.experiment == made
        assert decided(author, OTHER).experiment is None

    def test_offers_of_other_arms_teach_echo_nothing(self, echo: Echo, author: Author) -> None:
        made = create_experiment(
            echo, name="Words", arms=self.arms("keyword", "random"), control="random"
        )
        start_experiment(made)
        clicked(decided(author))
        assert keep_up_with(echo) == 0

    def test_of_two_experiments_one_runs(self, echo: Echo) -> None:
        made = [
            create_experiment(echo, name=name, arms=self.arms("echo", "random"), control="random")
            for name in ("one", "two")
        ]
        start_experiment(made[0])
        with pytest.raises(Conflict, match="Another experiment"):
            start_experiment(made[1])
        end_experiment(made[0])
        start_experiment(made[1])
        with pytest.raises(Conflict, match="is not running"):
            end_experiment(made[0])


class TestCatalogue:
    def test_what_has_the_same_name_is_replaced(self, echo: Echo) -> None:
        again = import_catalogue(echo, CATALOGUE.replace("129", "99"))
        assert again == {
            "created": 0, "changed": 1, "unchanged": 2, "retired": 0, "errors": [], "unused": [],
            "ignored": [],
        }  # fmt: skip

    def test_what_is_left_out_is_retired_where_that_is_asked_for(self, echo: Echo) -> None:
        shorter = "\n".join(CATALOGUE.splitlines()[:2])
        assert import_catalogue(echo, shorter)["retired"] == 0
        assert import_catalogue(echo, shorter, replace=True)["retired"] == 2
        assert echo.items.filter(active=True).count() == 1

    def test_bad_rows_are_told_and_the_good_ones_go_in(self, echo: Echo) -> None:
        bad = CATALOGUE + 'x,Trap,"Click me.",javascript:alert(1),light,,,\n'
        imported = import_catalogue(echo, bad)
        assert imported["unchanged"] == 3
        assert [(fault["row"], fault["field"]) for fault in imported["errors"]] == [(5, "link")]

    def test_a_file_without_a_usable_row_is_refused(self, echo: Echo) -> None:
        with pytest.raises(InvalidInput, match="link"):
            import_catalogue(echo, 'id,title,text,link\nx,Trap,"Click.",javascript:alert(1)\n')


GUIDE = Path(__file__).parents[2] / "docs" / "widget-protocol.md"


def test_an_offer_has_the_fields_that_the_guide_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offer_decisions, "MATTERED_SHARE", 1.0)
    echo = echo_of()
    import_catalogue(echo, CATALOGUE)
    forget_index(echo.pk)
    update_echo(echo, offers_on=True, offer_every_messages=1, offer_min_seconds=0)
    author = author_of(echo.site)
    message = processed(author, TEXT)
    assert messages_due(timezone.now()) == [message.pk]
    decide_about(message.pk, offline)
    sent = next_offer(author)
    assert sent is not None
    (example,) = re.findall(r"^\| `offer` \| `(.*)` \|$", GUIDE.read_text(), re.MULTILINE)
    example = example.replace("{ask yes no mattered{ask options none}}", "")
    assert set(example.split()) == set(sent)
    assert set(sent["helpful"]) == {"ask", "yes", "no", "mattered"}
    assert set(sent["helpful"]["mattered"]) == {"ask", "options", "none"}


def test_calls_that_word_an_offer_are_counted(author: Author) -> None:
    message = processed(author, TEXT)
    assert messages_due(timezone.now()) == [message.pk]
    before = SiteUse.objects.filter(site=author.site).aggregate(calls=Sum("calls"))["calls"] or 0
    decide_about(message.pk, offline)
    assert SiteUse.objects.get(site=author.site).calls == before + 1
