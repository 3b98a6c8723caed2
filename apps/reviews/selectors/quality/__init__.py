"""How well and how fast people work: everybody at a glance, and one person closely."""

from apps.reviews.selectors.quality.people import PeopleReport, PersonRow, people_report
from apps.reviews.selectors.quality.person import PersonReport, find_worker, person_report

__all__ = [
    "PeopleReport",
    "PersonReport",
    "PersonRow",
    "find_worker",
    "people_report",
    "person_report",
]
