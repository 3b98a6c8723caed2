"""Parallel runs of one function on all processors, and means over them."""

import math
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")
#: Called with the number of finished plays and of all plays.
Report: TypeAlias = Callable[[int, int], None]


def side_by_side(
    play: Callable[..., Result], plays: Mapping[Key, tuple[Any, ...]], report: Report | None = None
) -> dict[Key, Result]:
    """The result of ``play(*arguments)`` for each of ``plays``, by its key and in their order.

    ``play`` is a function of a module, and arguments and results can be pickled: each play runs in
    a process of its own. ``report`` is called after each.
    """
    found: dict[Key, Result] = {}
    # Spawned, because a fork would copy threads and connections of the caller half-way.
    with ProcessPoolExecutor(
        max_workers=max(1, min(len(plays), os.cpu_count() or 1)),
        mp_context=get_context("spawn"),
        initializer=_one_thread,
    ) as pool:
        jobs = {pool.submit(play, *arguments): key for key, arguments in plays.items()}
        for job in as_completed(jobs):
            found[jobs[job]] = job.result()
            if report is not None:
                report(len(found), len(plays))
    return {key: found[key] for key in plays}


def _one_thread() -> None:
    """Use one thread: with small matrices threads would wait for each other."""
    threadpool_limits(1)


Figure: TypeAlias = dict[str, Any]

CONFIDENCE = 0.95


def mean_figure(values: Sequence[float], over: str = "seeds") -> Figure:
    """The mean of one number per play; the interval is None for fewer than two.

    Returns {"value", "low", "high", "n", "method"}; ``over`` names what was repeated.
    """
    count, mean = len(values), float(np.mean(values))
    method = f"mean over {over}, Student's t, 95 %"
    if count < 2:
        return {"value": mean, "low": None, "high": None, "n": count, "method": method}
    error = float(np.std(values, ddof=1)) / math.sqrt(count)
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)) * error
    return {
        "value": mean, "low": mean - reach, "high": mean + reach, "n": count, "method": method,
    }  # fmt: skip
