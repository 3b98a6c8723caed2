"""Precedents by the vectors of a model of embeddings, and by words where it fails."""

import asyncio
import logging
from collections.abc import Iterator, Sequence

import pytest

from apps.debates.models import Run
from apps.debates.services import precedents
from apps.debates.services.precedents import PrecedentBook
from apps.labels.models import Gold
from apps.projects.models import Item, Project
from labelhub.core.llm.errors import ModelUnreachable
from labelhub.core.similarity import READ
from tests.factories.projects import ItemFactory, ProjectFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    yield
    precedents._kept.clear()


class Embedder:
    """Vectors by hand: how often a text has the letters s, r and b."""

    def __init__(self, failing: Exception | None = None, after: int = 0) -> None:
        self.asked: list[list[str]] = []
        self._failing, self._after = failing, after

    async def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.append(list(texts))
        await asyncio.sleep(0)
        if self._failing and len(self.asked) > self._after:
            raise self._failing
        return [[float(text.lower().count(letter)) for letter in "srb"] for text in texts]


def project_with(*texts: str) -> Project:
    """All of them good."""
    project = ProjectFactory.create()
    for text in texts:
        item = ItemFactory.create(project=project, text=text)
        Gold.objects.create(item=item, schema=project.schemas.get(), value="good", basis="review")
    return project


def book_of(project: Project) -> PrecedentBook:
    run = Run.objects.create(project=project, protocol="courtroom", schema=project.schemas.get())
    return PrecedentBook.of_run(run)


def found_for(book: PrecedentBook, items: Sequence[Item], embed: Embedder) -> list[list[str]]:
    """The texts found for each item, in one claim."""

    async def looked_up() -> list[list[str]]:
        await book.embed_by(embed, model="provider/small")
        found = await book.for_items(items)
        return [[precedent.text for precedent in found[item.pk]] for item in items]

    return asyncio.run(looked_up())


def test_the_nearest_by_vector_come_first() -> None:
    project = project_with("sss", "rrr", "bbb")
    items = [ItemFactory.create(project=project, text=text) for text in ("rrrrb", "sb b b")]
    embed = Embedder()
    book = book_of(project)
    assert found_for(book, items, embed) == [["rrr", "bbb", "sss"], ["bbb", "sss", "rrr"]]
    assert embed.asked == [["bbb", "rrr", "sss"], ["rrrrb", "sb b b"]]


def test_the_text_itself_is_hidden_from_vectors_too() -> None:
    project = project_with("sss", "SSS ", "rrr")
    items = [Item.objects.get(text="sss"), ItemFactory.create(project=project, text="Sss")]
    assert found_for(book_of(project), items, Embedder()) == [["rrr"], ["rrr"]]


def test_texts_are_sent_by_the_hundred_and_long_ones_in_part() -> None:
    project = project_with(*(f"s{number}" for number in range(150)), "r" * 9000)
    embed = Embedder()
    found_for(book_of(project), [], embed)
    assert [len(texts) for texts in embed.asked] == [100, 51]
    assert len(embed.asked[0][0]) == READ


def test_the_next_slice_does_not_ask_for_the_examples_again() -> None:
    project = project_with("sss", "rrr")
    item = ItemFactory.create(project=project, text="s")
    first, second, third = Embedder(), Embedder(), Embedder()
    found_for(book_of(project), [item], first)
    found_for(book_of(project), [item], second)
    assert (len(first.asked), second.asked) == (2, [["s"]])
    for number in range(precedents.KEPT):
        found_for(book_of(project_with(f"other {number}")), [], third)
    fourth = Embedder()
    found_for(book_of(project), [item], fourth)
    assert len(fourth.asked) == 2
    assert len(precedents._kept) == precedents.KEPT


@pytest.mark.parametrize("after", [0, 1], ids=["examples", "items"])
def test_where_the_endpoint_fails_words_are_compared_and_the_log_says_so(
    after: int, caplog: pytest.LogCaptureFixture
) -> None:
    project = project_with("warm soup", "cold rice", "bbb")
    items = [ItemFactory.create(project=project, text="rice, cold")]
    embed, book = Embedder(ModelUnreachable("Nobody answers."), after), book_of(project)
    with caplog.at_level(logging.WARNING):
        assert found_for(book, items, embed)[0][0] == "cold rice"
    assert "compared by words, as embeddings failed: Nobody answers." in caplog.text
    # For the rest of the slice: waiting for it again with each claim would keep the run.
    asyncio.run(book.for_items(items))
    assert len(embed.asked) == after + 1


@pytest.mark.parametrize(
    "answer",
    [[], [[1.0]], [[1.0], [1.0, 2.0]], [[float("nan")]] * 2, [["a"], ["b"]], [1.0, 2.0], None],
)
def test_vectors_that_cannot_be_used_are_as_good_as_none(answer: list[list[float]]) -> None:
    async def embed(texts: Sequence[str]) -> list[list[float]]:
        return answer

    book = book_of(project_with("soup", "rice"))
    asyncio.run(book.embed_by(embed, model="m"))
    assert book._measured is None


def test_a_fault_of_ours_is_not_taken_for_one_of_the_endpoint() -> None:
    with pytest.raises(ExceptionGroup) as raised:
        found_for(book_of(project_with("soup")), [], Embedder(KeyError("oops")))
    assert isinstance(raised.value.exceptions[0], KeyError)
