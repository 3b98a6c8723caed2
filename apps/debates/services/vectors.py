"""Vectors of texts by a model of embeddings: asked for in parts, checked, kept between slices."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core.errors import LabelhubError
from labelhub.core.similarity import UnusableVectors, VectorIndex, unit_rows

#: Texts in one request, and of how many lists of texts the vectors are kept.
TEXTS, KEPT = 100, 2

Embed: TypeAlias = Callable[[Sequence[str]], Awaitable[Sequence[Sequence[float]]]]

_kept: OrderedDict[str, VectorIndex] = OrderedDict()
_lock = Lock()


async def vector_index(texts: Sequence[str], embed: Embed, *, model: str) -> VectorIndex:
    """The vectors of ``texts`` by ``model``; of the last lists of texts they are still known.

    Raises:
        LabelhubError: as :func:`unit_vectors`.
    """
    digest = hashlib.sha256(model.encode())
    for text in texts:
        digest.update(f"\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
    key = digest.hexdigest()
    with _lock:
        known = _kept.get(key)
    if known is None:
        known = await asyncio.to_thread(VectorIndex, await unit_vectors(texts, embed))
    with _lock:
        _kept[key] = known
        _kept.move_to_end(key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return known


async def unit_vectors(texts: Sequence[str], embed: Embed) -> list[NDArray[np.float32]]:
    """Their vectors, of length one.

    Raises:
        LabelhubError: what ``embed`` raised for the first part of them that failed, or that its
            vectors cannot be used.
    """
    parts = [texts[at : at + TEXTS] for at in range(0, len(texts), TEXTS)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_part(part, embed)) for part in parts]
    found: list[NDArray[np.float32]] = []
    for task in tasks:
        rows = task.result()
        if isinstance(rows, LabelhubError):
            raise rows
        found.extend(rows)
    return found


async def _part(texts: Sequence[str], embed: Embed) -> NDArray[np.float32] | LabelhubError:
    """Their vectors, or why there are none: raised, it would cancel what is being paid for."""
    try:
        rows = unit_rows(await embed(texts))
    except LabelhubError as error:
        return error
    if len(rows) != len(texts):
        return UnusableVectors(f"{len(rows)} vectors came for {len(texts)} texts.")
    return rows
