"""Authors, managers, keepers and tabs that all want the same rows at once."""

import random
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest
from django.utils import timezone

from apps.authors.errors import Erased
from apps.authors.models import Answer, Author, CarriedLimits, Payout, Question, Reward, Site
from apps.authors.selectors.sites import consent_hash, consent_words, current_consent, known_site
from apps.authors.services import authors
from apps.authors.services.answers import SubmittedAnswer, dismiss, record_answer, undo
from apps.authors.services.authors import (
    Arrival,
    admit_author,
    author_of_subject,
    consent_of,
    opt_in,
    opt_out,
)
from apps.authors.services.limits import inherit_limits
from apps.authors.services.privacy import erase_author, forget_old
from apps.authors.services.questions import mark_shown, next_question
from apps.authors.services.rewards import pay_out
from apps.authors.services.trust import judge_author, set_ruling
from apps.labels.models import Gold, Kind, Label
from apps.labels.services import record_label
from apps.projects.models import Item
from labelhub.core.errors import LabelhubError
from tests.authors.live import token
from tests.factories.authors import asked, author_of, message_of, site_with_features
from tests.factories.labels import draft, person
from tests.services.threads import in_thread, shared_database, together

# Ten seconds of races; on SQLite, where all writers take turns, there is little to win.
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(180),
    pytest.mark.thorough,
]

THREADS, PEOPLE, ACTS = 8, 4, 40
#: Of each kind of person, that say hello while they are erased.
HELLOS = 15
LONG_AGO = timedelta(minutes=1)


def _question(chance: random.Random, author: Author) -> UUID:
    """One of the author's last questions, on the screen for a minute."""
    uids = list(author.questions.order_by("-pk").values_list("uid", flat=True)[:4])
    if not uids:
        asked(author)
        uids = [Question.objects.filter(author=author).latest("pk").uid]
    uid = chance.choice(uids)
    shown = timezone.now() - LONG_AGO
    fresh = Question.objects.filter(uid=uid, status__in=["waiting", "pushed"])
    fresh.update(status="shown", pushed_at=shown, shown_at=shown)
    return uid


def _answer(chance: random.Random, author: Author) -> None:
    uid = _question(chance, author)
    answer = SubmittedAnswer(ref=f"a-{uid}-{chance.randrange(3)}", option="a", word="quiet")
    record_answer(author, uid, answer, consent=None, received=timezone.now())


def _undo(chance: random.Random, author: Author) -> None:
    undo(author, _question(chance, author))


def _dismiss(chance: random.Random, author: Author) -> None:
    dismiss(author, _question(chance, author), chance.choice(["skip", "close", "timeout"]))


def _write(chance: random.Random, author: Author) -> None:
    message_of(author, f"I need a lamp with {chance.randrange(10**6)} lumen for my desk, please.")
    next_question(author)


def _ask(chance: random.Random, author: Author) -> None:
    asked(author, f"I need a lamp with {chance.randrange(10**6)} lumen for my desk, please.")


def _show(chance: random.Random, author: Author) -> None:
    mark_shown(author.pk, _question(chance, author), timezone.now())


def _rule(chance: random.Random, author: Author) -> None:
    set_ruling(author, trusted=chance.choice([True, False, None]), reason="Ruled in a race.")


def _judge(_: random.Random, author: Author) -> None:
    judge_author(author.pk)


def _opt(chance: random.Random, author: Author) -> None:
    opt_out(author) if chance.random() < 0.3 else opt_in(author)
    consent_of(author, current_consent(author.site), author.site.consent_by)


def _pay(_: random.Random, author: Author) -> None:
    pay_out(author.site, None)


def _forget(_: random.Random, __: Author) -> None:
    forget_old(timezone.now())


def _review(chance: random.Random, author: Author) -> None:
    item = Item.objects.filter(author_question__site=author.site).order_by("?").first()
    if item is not None:
        who = person(author.site.project)
        record_label(draft(item, who, item.options[0] if item.options else "quiet"))


def _erase(chance: random.Random, author: Author) -> None:
    if chance.random() < 0.3:
        erase_author(author)


ACTIONS: tuple[Callable[[random.Random, Author], None], ...] = (
    *([_answer] * 4), _undo, _dismiss, _write, _ask, _show, _rule, _judge, _opt, _pay, _forget,
    _review, _erase,
)  # fmt: skip


def _live(site: Site, seed: int) -> list[str]:
    """Do things at random; what went wrong that no refusal explains."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    wrong = []
    for _ in range(ACTS):
        act = chance.choice(ACTIONS)
        subject = f"customer-{chance.randrange(PEOPLE)}"
        try:
            author = author_of(site, subject)
            author.site = site
            act(chance, author)
        except (LabelhubError, Author.DoesNotExist, Question.DoesNotExist):
            continue  # it was refused, or they were deleted meanwhile
        except Exception as error:  # noqa: BLE001 - told in the end, with the others
            wrong.append(f"{act.__name__}: {type(error).__name__}: {error}")
    return wrong


def test_whatever_comes_at_once_the_ledger_says_what_stands(tmp_path: Path) -> None:
    site = site_with_features(reward_cents=3, reward_hold_days=0, per_day=10_000)
    with shared_database(tmp_path):
        troubles = together([partial(_live, site, seed) for seed in range(THREADS)])
        assert [
            trouble for batch in troubles for trouble in batch if not _erased_meanwhile(trouble)
        ] == []
        together([partial(_check, site)])


def _come_back(site: Site, arrival: Arrival) -> None:
    """Say hello again and again, until they were erased."""
    with suppress(Erased):
        while True:
            admit_author(known_site(site.public_key), arrival)


def test_an_author_is_not_erased_while_their_host_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_with_features()
    set_ruling(author_of_subject(site, "customer"), trusted=False)
    erase_author(Author.objects.get())  # their limits stay, for whoever comes by that name
    erasing: list[threading.Thread] = []

    def take_over_meanwhile(author: Author) -> CarriedLimits | None:
        erasing.append(threading.Thread(target=in_thread, args=[partial(_erase_all, site)]))
        erasing[0].start()
        erasing[0].join(timeout=1)
        return inherit_limits(author)

    monkeypatch.setattr(authors, "inherit_limits", take_over_meanwhile)
    with shared_database(tmp_path):
        (author,) = together([partial(author_of_subject, site, "customer")])
        erasing[0].join()
    assert author.ruling is False


def _erase_all(site: Site) -> None:
    for author in Author.objects.filter(site=site):
        erase_author(author)


def test_a_hello_beside_an_erasure_makes_nobody(tmp_path: Path) -> None:
    site = site_with_features()
    text = current_consent(site)
    words = consent_hash(consent_words(text, "en", "en"))
    first = Arrival(consent_version=text.version, consent_hash=words)
    signed = replace(first, ident=token(site))
    with shared_database(tmp_path):
        for arrival in [first, signed] * HELLOS:
            (found,) = together([partial(admit_author, known_site(site.public_key), arrival)])
            again = replace(arrival, sid=found.author.uid.hex, token=found.token)
            hello = partial(_come_back, site, again)
            at_once: list[Callable[[], object]] = [
                partial(erase_author, found.author),
                hello,
                hello,
            ]
            together(at_once)
            assert together([Author.objects.count]) == [0]


def _check(site: Site) -> None:
    for author in Author.objects.filter(site=site):
        judge_author(author.pk)
    _check_ledger()
    _check_rewards(site)


def _erased_meanwhile(trouble: str) -> bool:
    """An author's row that went while another was being written for it: nothing was stored."""
    return "IntegrityError" in trouble and "oreign key" in trouble.lower()


def _check_ledger() -> None:
    assert Answer.objects.exists(), "nobody answered: nothing was tried"
    for answer in Answer.objects.select_related("question", "author"):
        stands = answer.undone_at is None and answer.excluded_at is None
        item = answer.question.item_id
        mine = Label.objects.current().filter(item=item, annotator=answer.author.annotator_id)
        answers = [(label.value, label.abstained) for label in mine if not label.withdrawn]
        nofit = answer.outcome == Answer.Outcome.NOFIT
        if stands:
            assert answers == [(None if nofit else answer.value, nofit)]
        else:
            others = answer.question.answers.filter(undone_at=None, excluded_at=None).exists()
            assert others or answers == []
    # Nothing is left of those who were deleted.
    assert not Label.objects.filter(annotator__kind=Kind.AUTHOR, item=None).exists()
    assert not Item.objects.filter(author_question=None, golds__basis=Gold.Basis.AUTHOR).exists()


def _check_rewards(site: Site) -> None:
    for payout in Payout.objects.filter(site=site):
        standing = Reward.objects.filter(payout=payout)
        assert not standing.filter(void_at__isnull=False).exists()
    paid = Reward.objects.values_list("answer", flat=True)
    assert len(paid) == len(set(paid))
    for reward in Reward.objects.filter(void_at=None, payout=None).select_related("answer"):
        assert reward.answer is not None
        assert reward.answer.undone_at is None
        assert reward.answer.excluded_at is None
