"""The pages of a project in their one order: whose they are, and under which heading they stand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from apps.common.theme import NAV_COOKIE

_MANAGER = ("manager",)
_DECIDES = ("manager", "reviewer")
_ALL = ("manager", "reviewer", "viewer")


@dataclass(frozen=True)
class Page:
    """An entry of the navigation; ``name`` is that of its address, ``key`` what pages call it."""

    key: str
    text: str
    name: str
    icon: str
    roles: tuple[str, ...] = _ALL
    experts: bool = False  # of the members, for those alone who are experts


@dataclass(frozen=True)
class MenuGroup:
    """Pages under one heading; without a heading they always show.

    ``folded`` are the roles that find it shut until they open it: to decide takes five pages.
    """

    key: str
    text: str
    pages: tuple[Page, ...]
    folded: tuple[str, ...] = ()


GROUPS = (
    MenuGroup("", "", (
        Page("overview", "Overview", "project_overview", "overview"),
        Page("setup", "Set-up", "project_setup", "setup", _MANAGER),
    )),
    MenuGroup("labels", "Labels", (
        Page("review", "Review", "review", "review", _DECIDES),
        Page(
            "adjudication", "Adjudication", "adjudication", "adjudication", _DECIDES, experts=True
        ),
        Page("mine", "My work", "my_work", "mine", _DECIDES),
        Page("items", "Items", "item_list", "items"),
        Page("comments", "Comments", "comment_list", "comments"),
        Page("work", "Work", "project_work", "work", _MANAGER),
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
    """A group as somebody sees it on a page."""

    key: str
    text: str
    links: Sequence[Mapping[str, str]]
    open: bool


def shown_groups(
    slug: str, *, role: str, expert: bool, current: str, cookies: Mapping[str, str]
) -> Iterator[ShownGroup]:
    """The groups of which ``role`` may open a page; the one with the ``current`` page is open."""
    for group in GROUPS:
        pages = [
            page for page in group.pages if role in page.roles and (expert or not page.experts)
        ]
        if pages:
            links = [_link(page, slug) for page in pages]
            here = current in {page.key for page in pages}
            yield ShownGroup(group.key, group.text, links, here or _is_open(group, role, cookies))


def _link(page: Page, slug: str) -> dict[str, str]:
    address = reverse(page.name, args=[slug])
    return {"key": page.key, "text": page.text, "icon": page.icon, "url": address}


def _is_open(group: MenuGroup, role: str, cookies: Mapping[str, str]) -> bool:
    """As this browser left it; as it suits the role before that."""
    chosen = cookies.get(f"{NAV_COOKIE}_{group.key}")
    return chosen == "open" if chosen in {"open", "shut"} else role not in group.folded
