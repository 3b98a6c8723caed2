"""From a key to the next item on the screen, in a real Chromium.

    python tests/bench/keys_bench.py [--items N] [--pause MS] [--json FILE] [--strict]

A reviewer answers N items by keyboard, without a pause and with one of MS milliseconds before each
answer, against the demo's server. Prints milliseconds from Enter to the frame that shows the next
item, and how many of those a load of the whole page takes in the same run. Ends with 1 when the
95th percentile with a pause is beyond its target and ``--strict`` was given. Browser and server
share the machine.
"""

import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles

from playwright.sync_api import Page

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.bench.report import option_parser, report
from tests.e2e.browser import find_chromium, launched
from tests.e2e.server import Server, served
from tests.e2e.steps import all_saved, press_and_go_on, review, sign_in

GOALS = {"thinking_p95_ms": ("<=", 100.0)}
#: Milliseconds from each Enter to the frame in which the next item is painted.
WATCH = """() => {
  window.painted = [];
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const from = performance.now(), before = document.querySelector("[data-task]");
    const look = () => {
      const now = document.querySelector("[data-task]");
      if (!now || now === before) return requestAnimationFrame(look);
      return requestAnimationFrame(() => window.painted.push(performance.now() - from));
    };
    requestAnimationFrame(look);
  }, { capture: true });
}"""
LOADED = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"


def main() -> int:
    """Run both; see the module's text."""
    parser = option_parser("From a key to the next item.")
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--pause", type=int, default=500, help="Milliseconds before each answer.")
    options = parser.parse_args()
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("It needs a Chromium: apt-get install chromium, or set CHROMIUM=path.")
    figures: dict[str, float] = {"items": options.items}
    with (
        tempfile.TemporaryDirectory(prefix="labelhub-bench-") as folder,
        served(Path(folder) / "server") as server,
        launched(chromium) as browser,
    ):
        page = browser.new_page(base_url=server.address)
        sign_in(page, "reviewer", server.passwords["reviewer"])
        for name, pause in (("at_once", 0), ("thinking", options.pause)):
            figures |= _answered(server, page, name, options.items, pause)
    figures["page_load_to_key"] = figures.pop("page_load_ms") / figures["thinking_p50_ms"]
    return report(figures, GOALS, options)


def _answered(server: Server, page: Page, name: str, items: int, pause: int) -> dict[str, float]:
    slug = server.project(
        f"bench-{name}".replace("_", "-"),
        [f"Text number {index}, with breakfast." for index in range(items + 1)],
    )
    review(page, slug)
    loaded = page.evaluate(LOADED)
    page.evaluate(WATCH)
    for index in range(items):
        page.wait_for_timeout(pause)
        press_and_go_on(page, str(1 + index % 5), "Enter")
    all_saved(page)
    painted = page.evaluate("window.painted")
    if len(painted) != items:
        raise SystemExit(f"{items} answers, but {len(painted)} items were painted after one.")
    found = {"p50": median(painted), "p95": quantiles(painted, n=20)[-1], "max": max(painted)}
    return {"page_load_ms": loaded} | {f"{name}_{key}_ms": ms for key, ms in found.items()}


if __name__ == "__main__":
    sys.exit(main())
