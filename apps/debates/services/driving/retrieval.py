"""Retrieval of precedents for the debates of a slice, with the cost of embeddings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from apps.debates.models import Run
from apps.debates.services.author_examples import AuthorExamples
from apps.debates.services.driving.budget import Budget, BudgetReached, call_cost
from apps.debates.services.driving.results import ClaimedDebate
from apps.debates.services.driving.stop_signal import StopSignal
from apps.debates.services.precedents import PrecedentBook
from apps.llm.embedding import Embedded
from apps.llm.models import ModelSpec
from apps.llm.selectors import embedding_models
from apps.projects.models import Item
from labelhub.core.debate import predict
from labelhub.core.debate.outcome import Precedent
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.types import Usage


class Embedder(Protocol):
    """What retrieval needs of the gateway."""

    async def embed(self, spec: ModelSpec, texts: Sequence[str]) -> Embedded:
        """A vector for each text; raises ModelError."""
        ...


class Book(Protocol):
    """Examples by item."""

    def __len__(self) -> int:
        """The number of examples."""
        ...

    def for_item(self, item: Item) -> tuple[Precedent, ...]:
        """The examples for ``item``."""
        ...

    async def for_items(self, items: Sequence[Item]) -> Mapping[int, tuple[Precedent, ...]]:
        """The examples for each item, by its id."""
        ...


class Retrieval:
    """The examples of one slice. Without a book there are none.

    Args:
        book: the examples; None if the run needs none.
        model: of embeddings, for precedents; None to compare words.

    Attributes:
        unbooked: cost of embeddings that is not stored yet, nano-USD.
    """

    def __init__(self, book: Book | None, model: ModelSpec | None) -> None:
        self._book = book
        self.model = model
        self.unbooked = 0

    @classmethod
    def of_run(
        cls, run: Run, settings: Mapping[str, Any], models: Sequence[ModelSpec]
    ) -> "Retrieval":
        """The retrieval of the run's settings; embeddings only from providers that the run uses."""
        if not wants_precedents(settings):
            return cls(book_of(run, settings), None)
        providers = {model.provider_id for model in models}
        model = embedding_models(run.project).filter(provider__in=providers).first()
        if run.budget_nanousd is not None and model is not None and model.price_in is None:
            model = None
        return cls(book_of(run, settings), model)

    async def begin(self, models: Embedder, budget: Budget, stop_signal: StopSignal) -> None:
        """Compare by embeddings from now on if there is a model for them, paid from ``budget``."""
        if not isinstance(self._book, PrecedentBook) or self.model is None or not len(self._book):
            return
        spec = self.model

        async def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
            worst = call_cost(spec, Usage(tokens_in=sum(len(t.encode()) + 8 for t in texts))) or 0
            try:
                await budget.reserve(worst)
            except BudgetReached as error:
                stop_signal.stop_for(error)
                raise
            cost = 0
            try:
                found = await models.embed(spec, texts)
                cost = call_cost(spec, found.usage) or 0
            except LabelhubError as error:
                cost = call_cost(spec, Usage(**error.data.get("usage", {}))) or 0
                raise
            finally:
                budget.settle(worst, cost)
                self.unbooked += cost
            return found.vectors

        await self._book.embed_by(embed, model=f"{spec.provider_id}/{spec.name}")

    async def attach(self, claimed: Sequence[ClaimedDebate]) -> list[ClaimedDebate]:
        """The same debates, each with its precedents."""
        if self._book is None or not claimed:
            return list(claimed)
        found = await self._book.for_items([debate.item for debate in claimed])
        return [replace(debate, precedents=found[debate.item.pk]) for debate in claimed]


def book_of(run: Run, settings: Mapping[str, Any]) -> Book | None:
    """Precedents, or examples of an author, if the run shows any."""
    if run.protocol == predict.NAME:
        return AuthorExamples.of_run(run)
    return PrecedentBook.of_run(run) if wants_precedents(settings) else None


def wants_precedents(settings: Mapping[str, Any]) -> bool:
    """Whether a protocol, or a stage of it, is set to show precedents."""
    return any(value for name, value in settings.items() if name.rpartition(".")[2] == "precedents")
