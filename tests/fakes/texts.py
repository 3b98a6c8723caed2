"""Short reviews put together from parts, with what each is about."""

from itertools import islice, product
from typing import Any

SCHEMA = {
    "task": "multi",
    "labels": [
        {"name": "Food", "description": "breakfast, dinner, coffee, the kitchen"},
        {"name": "Service", "description": "staff, reception, waiter, helpful people"},
        {"name": "Price", "description": "expensive, cheap, money, the bill"},
        {"name": "Cleanliness", "description": "clean, dirty, dusty, spotless rooms"},
    ],
}

_FIRST = (
    ("Breakfast was cold again", "Food"),
    ("The coffee alone is worth the trip", "Food"),
    ("Reception forgot about us", "Service"),
    ("The staff remembered our names", "Service"),
    ("We found it far too expensive", "Price"),
    ("It was money well spent", "Price"),
    ("A spotless bathroom welcomed us", "Cleanliness"),
    ("The shelves were dusty", "Cleanliness"),
    ("The tram stops at the corner", ""),
    ("It rained all week", ""),
)
_SECOND = (
    ("dinner came late", "Food"),
    ("the kitchen closes at eight", "Food"),
    ("the waiter made up for it", "Service"),
    ("nobody was helpful", "Service"),
    ("the bill held a surprise", "Price"),
    ("you get it cheap in winter", "Price"),
    ("the sheets looked dirty", "Cleanliness"),
    ("we read a lot", ""),
)
_DAYS = ("on Monday", "on Tuesday", "on Wednesday", "on Thursday", "on Friday")


def reviews(count: int) -> list[dict[str, Any]]:
    """Up to 400 item rows with gold; the same for the same count."""
    parts = islice(product(_DAYS, _FIRST, _SECOND), count)
    return [
        {
            "id": f"r{index:03}",
            "text": f"{first}, and {second} {day}.",
            "gold": sorted({about, also} - {""}),
        }
        for index, (day, (first, about), (second, also)) in enumerate(parts)
    ]
