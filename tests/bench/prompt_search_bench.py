"""How often a search for an instruction finds what is better, and how often what is not.

``python -m tests.bench.prompt_search_bench [searches]``: made-up models of which the truth is known
(``tests/core/echo/searches.py``), told as shares of so many searches with 95 % intervals.
"""

import sys
import time

from labelhub.core.wilson import wilson_bounds
from tests.core.echo.searches import PROPOSED, World, labels, model, plan, played

#: Answers, authors, what the fourth instruction adds, and how far authors differ.
CASES = (
    (200, 200, 0.0, 0.0),
    (200, 60, 0.0, 0.3),
    (200, 200, 0.1, 0.0),
    (200, 60, 0.2, 0.3),
    (200, 200, 0.2, 0.0),
    (100, 100, 0.0, 0.0),
    (100, 100, 0.2, 0.0),
)


def shares(case: tuple[int, int, float, float], searches: int) -> tuple[int, int, int]:
    """In how many searches the present one was given up, and for the right one; mean calls."""
    count, authors, gain, by_author = case
    changed = right = calls = 0
    for seed in range(searches):
        known = labels(count, authors, seed)
        gains = ((PROPOSED[3], gain),)
        world = World(seed, gains=gains, by_author=by_author)
        found, _ = played(known, plan(), model(world, known))
        changed += not found.kept
        right += not found.kept and found.instruction == PROPOSED[3]
        calls += found.calls
    return changed, right, calls // searches


def main() -> None:
    """Every case, one line each."""
    searches = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for case in CASES:
        begin = time.process_time()
        changed, right, calls = shares(case, searches)
        rows = []
        for name, hits in (("changed", changed), ("rightly", right)):
            low, high = wilson_bounds(hits / searches, searches, 1.96)
            rows.append(f"{name} {hits / searches:.3f} ({low:.3f} to {high:.3f})")
        seconds = (time.process_time() - begin) / searches
        print(
            "{} answers, {} authors, gain {}, authors differ by {}: ".format(*case)
            + f"{', '.join(rows)}; {calls} calls, {seconds:.2f} s each",
            flush=True,
        )


if __name__ == "__main__":
    main()
