"""The question what mattered most for an offer: which offers ask it, which answers are taken, and
what is learnt of them."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.authors.errors import BadField, NotYours, UnknownQuestion
from apps.authors.models import Author, Message
from apps.authors.services.privacy import erase_author
from apps.authors.services.site_config import next_offer, offers
from apps.authors.services.trust import set_ruling
from apps.authors.translations import LANGUAGES
from apps.echo.models import Decision, Echo, LogEvent, OfferEvent
from apps.echo.offer_words import NONE_OF_THESE, WHAT_MATTERED
from apps.echo.services import offer_decisions
from apps.echo.services.events import log_events
from apps.echo.services.experiments import create_experiment, start_experiment
from apps.echo.services.learning import echoes_with_news, keep_up_with, rebuild_state
from apps.echo.states import stored_state
from labelhub.core.echo.events import Frozen
from labelhub.core.echo.experiments.assignment import Arm
from labelhub.core.errors import LabelhubError
from tests.echo.test_offering import OTHER, decided, offering_echo
from tests.factories.echo import learnt_digest

pytestmark = pytest.mark.django_db


@pytest.fixture
def echo() -> Echo:
    return offering_echo()


@pytest.fixture(autouse=True)
def _every_offer_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offer_decisions, "MATTERED_SHARE", 1.0)


def said(decision: Decision, feature: str, ref: str = "m1") -> None:
    offers().record_event(decision.author, decision.uid, "mattered", ref, feature)


def odds(echo: Echo, key: str) -> float:
    """The log-odds, less the prior ones, that a feature matters, as learnt by now."""
    state = stored_state(Echo.objects.get(pk=echo.pk))
    place = state.places.get(key)
    if place is None:
        return 0.0
    return float(state.relevance.odds[place] - state.relevance.prior_odds[place])


class TestAsking:
    def test_it_names_features_and_no_predicted_value(self, author: Author) -> None:
        decision = decided(author)
        offer = next_offer(author)
        assert offer is not None
        mattered = offer["helpful"]["mattered"]
        assert set(mattered) == {"ask", "options", "none"}
        assert mattered["ask"] == "What mattered most for this suggestion?"
        names = dict(author.site.features.values_list("key", "definition__name"))
        assert decision.selection is not None
        most_relevant = decision.selection.selected[:4]
        assert len(most_relevant) == 4
        assert sorted(mattered["options"]) == sorted([key, names[key]] for key in most_relevant)

    def test_it_is_the_same_for_the_same_decision(self, author: Author) -> None:
        decision = Decision.objects.get(pk=decided(author).pk)
        again = offer_decisions._mattered(decision, decision.author, "en")["mattered"]
        again["options"] = [list(option) for option in again["options"]]
        assert again == decision.offer["helpful"]["mattered"]

    def test_one_offer_in_five_asks_and_none_is_first_more_often(
        self, author: Author, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        decision, first = decided(author), list[str]()
        assert decision.message is not None
        author = decision.message.author
        author.uid = UUID(int=7)
        for number in range(400):
            decision.uid = UUID(int=number)
            first.append(
                offer_decisions._mattered(decision, author, "en")["mattered"]["options"][0][0]
            )
        assert all(70 < first.count(key) < 130 for key in set(first))
        monkeypatch.undo()
        asked = 0
        for number in range(1_000):
            decision.uid = UUID(int=number)
            asked += "mattered" in offer_decisions._mattered(decision, author, "en")
        assert 160 < asked < 240

    @pytest.mark.parametrize("count", [0, 1, 2])
    def test_it_needs_two_features(self, author: Author, count: int) -> None:
        kept = ["decision_stage", "when_to_buy"][:count]
        author.site.features.exclude(key__in=kept).update(active=False)
        decision = decided(author)
        assert decision.offer["helpful"]["ask"]
        assert sorted(decision.mattered_keys) == (kept if count == 2 else [])
        assert ("mattered" in decision.offer["helpful"]) == (count == 2)

    @pytest.mark.parametrize("policy", ["keyword", "random"])
    def test_offers_that_follow_no_feature_do_not_ask(
        self, echo: Echo, author: Author, policy: str
    ) -> None:
        arms = [Arm(policy, 0.5, policy), Arm("same", 0.5, policy)]
        start_experiment(create_experiment(echo, name="Words", arms=arms, control="same"))
        assert "mattered" not in decided(author).offer["helpful"]

    def test_every_language_of_the_widget_has_words_of_its_own(self) -> None:
        for words in (WHAT_MATTERED, NONE_OF_THESE):
            assert set(words) == set(LANGUAGES)
            assert len(set(words.values())) == len(LANGUAGES)


class TestAnswers:
    def test_the_first_one_counts(self, author: Author) -> None:
        decision = decided(author)
        first, second, *_ = decision.mattered_keys
        for ref, key in [("m1", first), ("m1", first), ("m2", second), ("m3", "")]:
            said(decision, key, ref)
        named = OfferEvent.objects.filter(kind="named")
        assert list(named.values_list("feature", flat=True)) == [first]
        decision.refresh_from_db()
        assert decision.status == Decision.Status.SHOWN

    def test_none_of_these_is_an_answer_too(self, author: Author) -> None:
        decision = decided(author)
        said(decision, "")
        said(decision, decision.mattered_keys[0], "m2")
        assert OfferEvent.objects.get(kind="named").feature == ""

    @pytest.mark.parametrize("key", ["color", "nobody_knows", "<script>", "x" * 500, "\u202e"])
    def test_what_was_no_option_is_refused(self, author: Author, key: str) -> None:
        decision = decided(author)
        assert key not in decision.mattered_keys
        with pytest.raises(BadField, match="about that feature"):
            said(decision, key)
        assert not OfferEvent.objects.exists()

    def test_offers_that_do_not_ask_and_those_of_others_are_refused(
        self, author: Author, other: Author, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        decision = decided(author)
        key = decision.mattered_keys[0]
        with pytest.raises(NotYours):
            offers().record_event(other, decision.uid, "mattered", "m1", key)
        with pytest.raises(UnknownQuestion):
            offers().record_event(author, uuid4(), "mattered", "m1", key)
        monkeypatch.setattr(offer_decisions, "MATTERED_SHARE", 0.0)
        silent = decided(other)
        for answer in (key, ""):
            with pytest.raises(BadField, match="does not ask"):
                said(silent, answer)
        assert not OfferEvent.objects.exists()

    @pytest.mark.thorough
    @settings(
        max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(
        st.lists(
            st.tuples(st.booleans(), st.integers(0, 3) | st.just("") | st.text(max_size=50)),
            min_size=1,
            max_size=6,
        )
    )
    def test_second_and_refused_answers_change_nothing(
        self, echo: Echo, author: Author, other: Author, tries: list[tuple[bool, int | str]]
    ) -> None:
        decision = Decision.objects.filter(author=author).first() or decided(author)
        said(decision, decision.mattered_keys[0])
        keep_up_with(echo)
        before, events = learnt_digest(echo), list(OfferEvent.objects.values())
        logged = Echo.objects.get(pk=echo.pk).logged
        for mine, answer in tries:
            key = decision.mattered_keys[answer] if isinstance(answer, int) else answer
            try:
                offers().record_event(
                    author if mine else other, decision.uid, "mattered", uuid4().hex, key
                )
            except LabelhubError:
                assert not (mine and key in {"", *decision.mattered_keys})
        keep_up_with(echo)
        assert list(OfferEvent.objects.values()) == events
        assert (learnt_digest(echo), Echo.objects.get(pk=echo.pk).logged) == (before, logged)


class TestLearning:
    def test_what_was_named_gains_and_the_other_options_lose(
        self, echo: Echo, author: Author
    ) -> None:
        decision = decided(author)
        first, *others = decision.mattered_keys
        said(decision, first)
        assert echoes_with_news(timezone.now(), timedelta(hours=1), trust=False) == {echo.pk}
        assert keep_up_with(echo) == 1
        (data,) = LogEvent.objects.filter(kind="named").values_list("data", flat=True)
        assert (data["named"], [key for key, _ in data["shown"]]) == (
            first,
            decision.mattered_keys,
        )
        assert odds(echo, first) > 0
        assert all(odds(echo, key) < 0 for key in others)
        assert keep_up_with(echo) == 0
        assert rebuild_state(Echo.objects.get())

    def test_where_none_mattered_all_options_lose(self, echo: Echo, author: Author) -> None:
        decision = decided(author)
        said(decision, "")
        keep_up_with(echo)
        assert all(odds(echo, key) < 0 for key in decision.mattered_keys)

    def test_it_weighs_as_much_as_the_authors_clicks(self, echo: Echo, author: Author) -> None:
        """Learnt in steps or rebuilt, with the belief about the author from events before."""
        for text in (OTHER, "Which kettle boils water fast on an open fire?"):
            offers().record_event(author, decided(author, text).uid, "click", "c1")
            assert keep_up_with(echo) == 1
        decision = decided(author)
        said(decision, decision.mattered_keys[0])
        assert keep_up_with(echo) == 1
        assert rebuild_state(Echo.objects.get())

    def test_nothing_is_learnt_while_learning_is_frozen(self, echo: Echo, author: Author) -> None:
        decision = decided(author)
        log_events(echo, [(Frozen("f", on=True), None)])
        said(decision, decision.mattered_keys[0])
        keep_up_with(echo)
        assert LogEvent.objects.filter(kind="named").exists()
        assert odds(echo, decision.mattered_keys[0]) == 0

    def test_of_who_is_not_believed_it_teaches_nothing_until_they_are(
        self, echo: Echo, author: Author
    ) -> None:
        decision = decided(author)
        key = decision.mattered_keys[0]
        said(decision, key)
        keep_up_with(echo)
        learnt = learnt_digest(echo)
        set_ruling(author, trusted=False, reason="names anything")
        keep_up_with(echo)
        assert odds(echo, key) == 0
        set_ruling(author, trusted=True, reason="a mistake")
        keep_up_with(echo)
        assert learnt_digest(echo) == learnt

    def test_of_who_was_not_believed_then_it_teaches_nothing(
        self, echo: Echo, author: Author
    ) -> None:
        decision = decided(author)
        set_ruling(author, trusted=False, reason="names anything")
        said(decision, decision.mattered_keys[0])
        keep_up_with(echo)
        assert odds(echo, decision.mattered_keys[0]) == 0

    def test_it_goes_with_its_author(self, echo: Echo, author: Author) -> None:
        decision = decided(author)
        key = decision.mattered_keys[0]
        said(decision, key)
        keep_up_with(echo)
        erase_author(author)
        keep_up_with(echo)
        assert odds(echo, key) == 0
        assert not LogEvent.objects.filter(kind="named").exists()
        assert not OfferEvent.objects.exists()

    def test_it_outlives_its_message_as_clicks_do(self, echo: Echo, author: Author) -> None:
        decision = decided(author)
        said(decision, decision.mattered_keys[0])
        Message.objects.all().delete()
        assert keep_up_with(echo) == 1
        assert odds(echo, decision.mattered_keys[0]) > 0
        assert rebuild_state(Echo.objects.get())
