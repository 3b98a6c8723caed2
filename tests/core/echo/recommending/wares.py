"""Items and features that several tests of recommending share."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from labelhub.core.echo.recommending.catalogue import Item, read_catalogue, read_item
from labelhub.core.echo.recommending.matching import ItemIndex, Match, Selected

DEMO = Path(__file__).parents[4] / "apps/dashboards/demo/shop_catalogue.csv"


def ware(name: str, text: str = "Plain.", **more: Any) -> Item:
    """An item of that id, which is also its title."""
    return read_item({"id": name, "title": name, "text": text, "link": "/", **more})


def says(
    key: str, value: str, probability: float = 1.0, relevance: float = 1.0, **more: Any
) -> Selected:
    """A selected feature."""
    return Selected(key, key.replace("_", " "), value, probability, relevance, **more)


def ids(matches: list[Match]) -> list[str]:
    """Which items, in their order."""
    return [match.item.id for match in matches]


@lru_cache(maxsize=1)
def demo_index() -> ItemIndex:
    """The demo's shop."""
    return ItemIndex(read_catalogue(DEMO.read_bytes()).items)
