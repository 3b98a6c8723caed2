"""The rooms of a project: nine entries of the menu, whose pages stand in tabs."""

from collections.abc import Collection
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.accounts.roles import Role

_MANAGER = (Role.MANAGER,)
_REVIEWER = (Role.REVIEWER,)
_REVIEWS = (Role.MANAGER, Role.REVIEWER)
_READS = (Role.MANAGER, Role.VIEWER)
_ALL = (Role.MANAGER, Role.REVIEWER, Role.VIEWER)


@dataclass(frozen=True, slots=True)
class Page:
    """A tab; ``key`` identifies it to views, ``name`` is the name of its URL.

    ``terms``: other words that people search it by. Both texts are English.
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
    Room("overview", _("Overview"), "overview", (
        Page("overview", _("Overview"), "project_overview"),
        Page("work", _("Progress"), "project_work", _MANAGER, _("workload pace forecast")),
        Page("mine", _("My work"), "my_work", _MANAGER, _("my annotations")),
    )),
    Room("review", _("Review"), "review", (
        Page("review", _("Review"), "review", _REVIEWS, _("annotate label queue")),
    )),
    Room("adjudication", _("Adjudicate"), "adjudication", (
        Page("adjudication", _("Adjudicate"), "adjudication", _REVIEWS,
             _("conflicts disagreement")),
    ), conditional=True),
    Room("mine", _("My work"), "mine", (
        Page("mine", _("My work"), "my_work", _REVIEWER, _("my annotations")),
    )),
    Room("data", _("Data"), "items", (
        Page("items", _("Items"), "item_list", terms=_("texts tasks records")),
        Page("import", _("Import"), "import_create", _MANAGER, _("upload file")),
        Page("filters", _("Saved filters"), "filter_list", _MANAGER, _("searches")),
        Page("bulk", _("Bulk edits"), "bulk_list", _MANAGER, _("jobs assign")),
        Page("comments", _("Comments"), "comment_list", terms=_("mentions")),
    )),
    Room("models", _("Models"), "model", (
        Page("runs", _("Runs"), "run_list", terms=_("pre-annotation predictions debates")),
        Page("experiments", _("Experiments"), "experiment_list", terms=_("compare")),
        Page("prompts", _("Prompts"), "prompt_list"),
        Page("routing", _("Routing"), "routing_rule", terms=_("uncertainty rule")),
        Page("automation", _("Auto-accept"), "automation", terms=_("automation error bound")),
        Page("learning", _("Learning"), "learning", terms=_("active classifier")),
        Page("providers", _("Providers"), "project_provider_list", _MANAGER,
             _("keys OpenAI Ollama")),
    )),
    Room("quality", _("Quality"), "quality", (
        Page("agreement", _("Agreement"), "agreement", terms=_("alpha kappa coefficients report")),
        Page("evaluation", _("Evaluation"), "evaluation", terms=_("accuracy F1 confusion matrix")),
        Page("quality", _("Annotators"), "quality", _REVIEWS, _("gold questions speed")),
    )),
    Room("sites", _("Widget"), "sites", (
        Page("sites", _("Sites"), "site_list", _READS, _("widget authors embed")),
    ), conditional=True),
    Room("export", _("Export"), "export", (
        Page("export", _("Files"), "export_page", terms=_("export download CSV JSONL Parquet")),
        Page("webhooks", _("Webhooks"), "webhook_list", _MANAGER),
        Page("api", "API", "project_api", terms="REST client Python"),
    )),
    Room("settings", _("Settings"), "settings", (
        Page("settings", _("General"), "project_settings", _MANAGER, _("settings name delete")),
        Page("labels", _("Labels"), "project_schema", _ALL, _("label schema question")),
        Page("guideline", _("Guideline"), "project_guideline", _ALL, _("instructions")),
        Page("plan", _("Review plan"), "review_plan", _MANAGER, _("overlap gold questions queue")),
        Page("people", _("People"), "project_people", _MANAGER, _("members roles invite")),
        Page("audit", _("Audit log"), "project_audit", _MANAGER, _("history changes who")),
    )),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tab:
    """A page as a link, for ``components/tabs.html``; found by its English name too."""

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
                gettext(page.text),
                reverse(page.name, args=[slug]),
                page.key == current,
                f"{page.text} {page.terms} {gettext(page.terms)}",
            )
            for page in room.pages
            if role in page.roles
        )
        shown = ShownRoom(room.key, gettext(room.text), room.icon, tabs)
        if tabs and (not room.conditional or room.key in present or shown.current):
            rooms.append(shown)
    return rooms
