"""The menu of a project: its pages in groups, by role."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from apps.common.theme import NAV_COOKIE

_MANAGER = ("manager",)
_DECIDES = ("manager", "reviewer")
_ALL = ("manager", "reviewer", "viewer")


@dataclass(frozen=True)
class Page:
    """A menu entry; ``name`` is the name of its URL, ``key`` identifies it to pages."""

    key: str
    text: str
    name: str
    icon: str
    roles: tuple[str, ...] = _ALL
    experts: bool = False  # among members, only for experts


@dataclass(frozen=True)
class MenuGroup:
    """Pages under one heading; a group without heading is always visible.

    ``folded``: roles for which the group is closed until they open it.
    """

    key: str
    text: str
    pages: tuple[Page, ...]
    folded: tuple[str, ...] = ()


GROUPS = (
    MenuGroup("", "", (
        Page("overview", "Overview", "project_overview", "overview"),
    )),
    MenuGroup("labels", "Labels", (
        Page("review", "Review", "review", "review", _DECIDES),
        Page(
            "adjudication", "Adjudication", "adjudication", "adjudication", _DECIDES, experts=True
        ),
        Page("mine", "My work", "my_work", "mine", _DECIDES),
        Page("items", "Items", "item_list", "items"),
        Page("comments", "Comments", "comment_list", "comments"),
        Page("work", "Progress", "project_work", "work", _MANAGER),
    )),
    MenuGroup("annotators", "Annotators", (
        Page("runs", "Runs", "run_list", "runs"),
        Page("prompts", "Prompts", "prompt_list", "chat"),
        Page("experiments", "Experiments", "experiment_list", "table"),
        Page("learning", "Learning", "learning", "model"),
        Page("sites", "Sites", "site_list", "sites"),
    ), folded=("reviewer",)),
    MenuGroup("measures", "Measures", (
        Page("evaluation", "Evaluation", "evaluation", "evaluation"),
        Page("agreement", "Agreement", "agreement", "agreement"),
        Page("quality", "Quality", "quality", "quality", _DECIDES),
        Page("automation", "Automation", "automation", "check"),
    ), folded=("reviewer",)),
    MenuGroup("project", "Project", (
        Page("export", "Export", "export_page", "export"),
        Page("webhooks", "Webhooks", "webhook_list", "link", _MANAGER),
        Page("people", "People", "project_people", "people", _MANAGER),
        Page("settings", "Settings", "project_settings", "settings", _MANAGER),
    ), folded=("reviewer",)),
)  # fmt: skip


@dataclass(frozen=True)
class ShownGroup:
    """A group with the links that a role sees."""

    key: str
    text: str
    links: Sequence[Mapping[str, str]]
    open: bool


def shown_groups(
    slug: str, *, role: str, expert: bool, current: str, cookies: Mapping[str, str]
) -> Iterator[ShownGroup]:
    """The groups with pages for ``role``; the group of the ``current`` page is open."""
    for group in GROUPS:
        pages = [
            page for page in group.pages if role in page.roles and (expert or not page.experts)
        ]
        if pages:
            links = [
                {
                    "key": page.key,
                    "text": page.text,
                    "icon": page.icon,
                    "url": reverse(page.name, args=[slug]),
                }
                for page in pages
            ]
            chosen = cookies.get(f"{NAV_COOKIE}_{group.key}")
            is_open = chosen == "open" if chosen in {"open", "shut"} else role not in group.folded
            here = current in {page.key for page in pages}
            yield ShownGroup(group.key, group.text, links, here or is_open)
