"""The rooms of a project: nine entries of the menu, whose pages stand in tabs."""

from collections.abc import Collection
from dataclasses import dataclass

from django.urls import reverse

from apps.accounts.roles import Role

_MANAGER = (Role.MANAGER,)
_REVIEWER = (Role.REVIEWER,)
_REVIEWS = (Role.MANAGER, Role.REVIEWER)
_READS = (Role.MANAGER, Role.VIEWER)
_ALL = (Role.MANAGER, Role.REVIEWER, Role.VIEWER)


@dataclass(frozen=True, slots=True)
class Page:
    """A tab; ``key`` identifies it to views, ``name`` is the name of its URL.

    ``terms``: other words that people search it by.
    """

    key: str
    text: str
    name: str
    roles: tuple[Role, ...] = _ALL
    terms: str = ""


@dataclass(frozen=True, slots=True)
class Room:
    """An entry of the menu, with its tabs in order.

    A ``conditional`` room is shown while there is something in it.
    """

    key: str
    text: str
    icon: str
    pages: tuple[Page, ...]
    conditional: bool = False


ROOMS = (
    Room("overview", "Overview", "overview", (
        Page("overview", "Overview", "project_overview"),
        Page("work", "Progress", "project_work", _MANAGER, "workload pace forecast"),
        Page("mine", "My work", "my_work", _MANAGER, "my annotations"),
    )),
    Room("review", "Review", "review", (
        Page("review", "Review", "review", _REVIEWS, "annotate label queue"),
    )),
    Room("adjudication", "Adjudicate", "adjudication", (
        Page("adjudication", "Adjudicate", "adjudication", _REVIEWS, "conflicts disagreement"),
    ), conditional=True),
    Room("mine", "My work", "mine", (
        Page("mine", "My work", "my_work", _REVIEWER, "my annotations"),
    )),
    Room("data", "Data", "items", (
        Page("items", "Items", "item_list", terms="texts tasks records"),
        Page("import", "Import", "import_create", _MANAGER, "upload file"),
        Page("filters", "Saved filters", "filter_list", _MANAGER, "searches"),
        Page("bulk", "Bulk edits", "bulk_list", _MANAGER, "jobs assign"),
        Page("comments", "Comments", "comment_list", terms="mentions"),
    )),
    Room("models", "Models", "model", (
        Page("runs", "Runs", "run_list", terms="pre-annotation predictions debates"),
        Page("experiments", "Experiments", "experiment_list", terms="compare"),
        Page("prompts", "Prompts", "prompt_list"),
        Page("routing", "Routing", "routing_rule", terms="uncertainty rule"),
        Page("automation", "Auto-accept", "automation", terms="automation error bound"),
        Page("learning", "Learning", "learning", terms="active classifier"),
        Page("providers", "Providers", "project_provider_list", _MANAGER, "keys OpenAI Ollama"),
    )),
    Room("quality", "Quality", "quality", (
        Page("agreement", "Agreement", "agreement", terms="alpha kappa coefficients report"),
        Page("evaluation", "Evaluation", "evaluation", terms="accuracy F1 confusion matrix"),
        Page("quality", "Annotators", "quality", _REVIEWS, "gold questions speed"),
    )),
    Room("sites", "Widget", "sites", (
        Page("sites", "Sites", "site_list", _READS, "widget authors embed"),
    ), conditional=True),
    Room("export", "Export", "export", (
        Page("export", "Files", "export_page", terms="export download CSV JSONL Parquet"),
        Page("webhooks", "Webhooks", "webhook_list", _MANAGER),
        Page("api", "API", "project_api", terms="REST client Python"),
    )),
    Room("settings", "Settings", "settings", (
        Page("settings", "General", "project_settings", _MANAGER, "settings name delete"),
        Page("labels", "Labels", "project_schema", _ALL, "label schema question"),
        Page("guideline", "Guideline", "project_guideline", _ALL, "instructions"),
        Page("plan", "Review plan", "review_plan", _MANAGER, "overlap gold questions queue"),
        Page("people", "People", "project_people", _MANAGER, "members roles invite"),
    )),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tab:
    """A page as a link, for ``components/tabs.html``."""

    key: str
    text: str
    url: str
    current: bool
    terms: str = ""


@dataclass(frozen=True, slots=True)
class ShownRoom:
    """A room with the pages that somebody may open; ``current`` if one of them is open."""

    key: str
    text: str
    icon: str
    tabs: tuple[Tab, ...]

    @property
    def url(self) -> str:
        """The address of the first page."""
        return self.tabs[0].url

    @property
    def current(self) -> bool:
        """Whether the open page stands in this room."""
        return any(tab.current for tab in self.tabs)


def shown_rooms(
    slug: str, *, role: Role, current: str, present: Collection[str]
) -> list[ShownRoom]:
    """The rooms that ``role`` sees in the project ``slug`` while the page ``current`` is open.

    ``present``: the keys of conditional rooms that have something in them. The room of the
    open page is shown in any case.
    """
    rooms = []
    for room in ROOMS:
        tabs = tuple(
            Tab(
                page.key,
                page.text,
                reverse(page.name, args=[slug]),
                page.key == current,
                page.terms,
            )
            for page in room.pages
            if role in page.roles
        )
        shown = ShownRoom(room.key, room.text, room.icon, tabs)
        if tabs and (not room.conditional or room.key in present or shown.current):
            rooms.append(shown)
    return rooms
