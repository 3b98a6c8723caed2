"""A page on a slow device is hardly made slower: one and the same page with the widget and without
it, in turns, in one run, at a quarter of the processor's speed.

What a task may take is not told in milliseconds, which mean another thing on every machine, but by
work of the page's own in the same visit: drawing a list of so many lines. The best of some visits
counts, since others share the processor.
"""

import statistics
from dataclasses import dataclass

from playwright.sync_api import Page, expect

from tests.e2e.conftest import OpenAs
from tests.e2e.widget_steps import (
    SAVED,
    Shop,
    asked,
    evaluated,
    inspector,
    options,
    ready,
)

SLOWER = 4
VISITS = 4
#: Shifts of the layout, long tasks, our part of frames that took long.
WATCH = """
window.shifts = 0;
window.long = [];
window.slow = [];
const watch = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take))
  .observe({ type, buffered: true });
watch("layout-shift", ({ value, hadRecentInput }) => { if (!hadRecentInput) shifts += value; });
watch("longtask", ({ duration }) => long.push(duration));
watch("long-animation-frame", ({ scripts }) => {
  for (const { sourceURL, duration } of scripts) slow.push([sourceURL, duration]);
});
"""
#: Milliseconds that the page itself needs to draw its list once more, at best.
DRAW = """() => {
  const once = () => {
    const began = performance.now();
    const list = document.createElement("ul");
    for (let line = 0; line < 1200; line += 1) {
      const item = document.createElement("li");
      item.textContent = `Line ${line} of a page that has something to say.`;
      list.append(item);
    }
    document.querySelector("main").append(list);
    list.getBoundingClientRect();
    const took = performance.now() - began;
    list.remove();
    return took;
  };
  return Math.min(...Array.from({ length: 5 }, once));
}"""
BODY = """<main><h1>Our shop</h1><label>Ask us <textarea rows="3"></textarea></label></main>
<script>
  const main = document.querySelector("main");
  for (let line = 0; line < 300; line += 1) {
    const item = document.createElement("p");
    item.textContent = `Ware ${line}: something that is for sale here.`;
    main.append(item);
  }
</script>"""


@dataclass(frozen=True)
class Visit:
    """What a page had to do: the sum of its shifts, by how much its long tasks were too long, the
    longest of our scripts, and, to compare with, what drawing its own list takes."""

    shifts: float
    blocked: float
    longest: float
    drawing: float


def measured(page: Page, address: str, *, server: str) -> Visit:
    """From the page's beginning until, with the widget, the first answer was taken."""
    page.add_init_script(WATCH)
    with inspector(page) as session:
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        page.goto(address)
        if server:
            asked(page)
            ready(page)
            options(page).first.click()
            expect(page.get_by_text(SAVED).first).to_be_visible()
        else:
            page.wait_for_timeout(2000)
        page.wait_for_timeout(500)
        tasks = evaluated(page, "long")
        own = [ms for url, ms in evaluated(page, "slow") if server and url.startswith(server)]
        return Visit(
            shifts=evaluated(page, "shifts"),
            blocked=sum(max(0.0, ms - 50) for ms in tasks),
            longest=max(own, default=0.0),
            drawing=page.evaluate(DRAW),
        )


def test_the_widget_costs_a_slow_page_little(open_as: OpenAs, shop: Shop) -> None:
    without, with_it = [], []
    for _ in range(VISITS):
        without.append(visit(open_as, shop, snippet=False))
        with_it.append(visit(open_as, shop, snippet=True))
        if not too_much(without, with_it):
            break
    told = "\n".join(map(str, [*without, *with_it]))
    print(told)
    assert {each.shifts for each in (*without, *with_it)} == {0}, told
    assert not too_much(without, with_it), told


def too_much(without: list[Visit], with_it: list[Visit]) -> list[str]:
    """What takes longer than drawing a list, at best."""
    drawing = statistics.median(each.drawing for each in (*without, *with_it))
    own = min(each.longest for each in with_it)
    added = min(each.blocked for each in with_it) - min(each.blocked for each in without)
    found = {"our longest task": own, "what long tasks take more than without": added}
    return [f"{name}: {ms:.0f} ms" for name, ms in found.items() if ms > drawing]


def visit(open_as: OpenAs, shop: Shop, *, snippet: bool) -> Visit:
    """A new visitor of the page, with or without the widget."""
    site, page = shop.site(), open_as(None)
    tag = site.snippet() if snippet else ""
    found = measured(page, shop.loose_page(BODY + tag), server=site.address if snippet else "")
    page.close()
    return found
