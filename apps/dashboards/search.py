"""What the search finds: pages and actions, projects and items."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.dashboards.rooms import ShownRoom, shown_rooms
from apps.dashboards.selectors import menu_facts
from apps.projects.models import Item, Project
from apps.projects.selectors import role_in

#: At most so many results of a kind.
MOST = 8
#: Shorter queries are no search for items: too many have every letter.
SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Action:
    """Something to do. ``role``: whose it is in a project; None for actions without a project.
    Its texts are English."""

    text: str
    name: str
    role: Role | None = None
    terms: str = ""


_MANAGER = Role.MANAGER
ACTIONS = (
    Action(_("Start a pre-annotation run"), "run_create", _MANAGER, _("LLM predictions debate")),
    Action(_("Start an experiment"), "experiment_create", _MANAGER, _("compare models prompts")),
    Action(_("Change labels in use"), "labels_change", _MANAGER, _("rename merge split retire")),
    Action(_("Add a site"), "site_create", _MANAGER, _("widget authors embed")),
    Action(_("Add a webhook"), "webhook_create", _MANAGER),
    Action(_("Create a project"), "project_create", terms=_("new")),
    Action(_("Create an API key"), "api_keys", terms="token REST"),
    Action(_("Choose your keys for Review"), "review_keys", terms=_("hotkeys shortcuts keyboard")),
    Action(_("Change your password"), "account_change_password"),
    Action(_("Set up two-step verification"), "mfa_index", terms="2FA TOTP passkey"),
    Action(_("See where you are signed in"), "session_list", terms=_("sessions devices")),
    Action(_("Read the API documentation"), "api_docs", terms="REST Swagger OpenAPI"),
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A page or an action; ``room`` is where the page stands."""

    text: str
    url: str
    room: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """The results of a search, at most :data:`MOST` of each kind."""

    pages: Sequence[Hit]
    actions: Sequence[Hit]
    projects: Sequence[Project]
    items: QuerySet[Item]

    def __bool__(self) -> bool:
        return bool(self.pages or self.actions or self.projects or self.items)


def search(user: User | AnonymousUser, query: str, project: Project | None = None) -> Found:
    """What ``user`` may open for ``query``; with pages and actions of ``project``.

    Without a query: the rooms of the project, all actions, and the user's first projects.
    """
    role = role_in(user, project) if project else None
    rooms: list[ShownRoom] = []
    if project and role:
        rooms = shown_rooms(
            project.slug, role=role, current="", present=menu_facts(project, user).present
        )
    named = Q()
    for word in query.split():
        named &= Q(name__icontains=word) | Q(slug__icontains=word)
    return Found(
        pages=list(islice(_pages(rooms, query), MOST if query else None)),
        actions=list(islice(_actions(query, project, role), MOST if query else None)),
        projects=list(Project.objects.visible_to(user).filter(named)[:MOST]),
        items=_items(user, query),
    )


def _pages(rooms: Iterable[ShownRoom], query: str) -> Iterator[Hit]:
    for room in rooms:
        for tab in room.tabs if query else room.tabs[:1]:
            if _fits(query, room.text, tab.text, tab.terms):
                text = tab.text if query else room.text
                yield Hit(text, tab.url, "" if text == room.text else room.text)


def _actions(query: str, project: Project | None, role: Role | None) -> Iterator[Hit]:
    for action in ACTIONS:
        text, terms = gettext(action.text), gettext(action.terms)
        known = (action.text, action.terms, text, terms)
        if action.role not in {None, role} or not _fits(query, *known):
            continue
        args = [project.slug] if action.role and project else []
        yield Hit(text, reverse(action.name, args=args))


def _items(user: User | AnonymousUser, query: str) -> QuerySet[Item]:
    if len(query) < SHORTEST:
        return Item.objects.none()
    hit = Q(external_id__icontains=query) | Q(text__icontains=query)
    return Item.objects.visible_to(user).filter(hit).select_related("project").order_by("pk")[:MOST]


def _fits(query: str, *texts: str) -> bool:
    """Whether every word of ``query`` begins a word of ``texts``."""
    words = " ".join(texts).casefold().replace("-", " ").split()
    asked = query.casefold().replace("-", " ").split()
    return all(any(word.startswith(part) for word in words) for part in asked)
