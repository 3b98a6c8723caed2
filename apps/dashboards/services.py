"""The demo: projects, their runs and three people, written for it and made once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.accounts.services import create_user
from apps.dashboards.demo_site import prepare_demo_site
from apps.debates.models import Run
from apps.debates.services import RunPlan, models_for_roles, run_slice, start_run
from apps.exchange.services.imports import queue_import, receive_upload, run_import, store_upload
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from apps.projects.services import create_project, set_member
from labelhub.core.debate.single import AFTER_LABEL, QUOTES
from labelhub.core.schema import parse_schema

DATA = Path(__file__).parent / "demo"
DESK_SLUG = "library-desk"
#: Each run is an annotator of its own, and these two do not always say the same. Both quote what
#: their labels rest on, so that reviewers see it marked in the text.
PROTOCOLS: Mapping[str, Mapping[str, Any]] = {
    "single": {QUOTES.name: AFTER_LABEL},
    "self_refine": {},
}


def prepare_demo_agreement(manager: User) -> Project:
    """Make what is missing of the project; what is there stays as it is."""
    project = _find_or_create_project(
        manager,
        DESK_SLUG,
        "desk",
        "Library desk",
        "Who understands what the writer wanted? Messages, authors and people's labels were "
        "written for this demo.",
    )
    if not project.items.exists():
        import_file(project, manager, DATA / "desk_messages.jsonl")
    done = set(Run.objects.filter(project=project).values_list("protocol", flat=True))
    for protocol, settings in PROTOCOLS.items():
        if protocol not in done:
            run_offline(project, manager, protocol, settings)
    return project


def _find_or_create_project(
    manager: User, slug: str, files: str, name: str, description: str
) -> Project:
    return Project.objects.filter(slug=slug).first() or create_project(
        actor=manager,
        slug=slug,
        name=name,
        description=description,
        schema=parse_schema(json.loads((DATA / f"{files}_schema.json").read_text("utf-8"))),
        guideline=(DATA / f"{files}_guideline.md").read_text("utf-8"),
        blind_share=0,  # a tour: every item shows what it can show
    )


def import_file(
    project: Project, manager: User, source: Path, *, with_gold: int | None = None
) -> None:
    """Upload and import a file that came with the demo; ``with_gold``: only so many of its rows
    keep their gold, and people label the others."""
    content = source.read_bytes()
    if with_gold is not None:
        rows = [json.loads(line) for line in content.splitlines()]
        for row in rows[with_gold:]:
            del row["gold"]
        content = "\n".join(map(json.dumps, rows)).encode()
    path = store_upload([content])
    batch = receive_upload(project=project, actor=manager, path=path, file_name=source.name)
    run_import(queue_import(batch, send=False).pk)


def run_offline(
    project: Project, manager: User, protocol: str, settings: Mapping[str, Any] | None = None
) -> None:
    """Let the offline model, which is no LLM, play every role of a protocol on all items."""
    models = models_for_roles(protocol, {}, [ensure_builtin()])
    plan = RunPlan(protocol=protocol, models=models, settings=settings or {})
    run = start_run(project=project, actor=manager, plan=plan)
    run_slice(run.pk)


SLUG = "hotel-reviews"
#: Reviews that come with gold: enough to evaluate a run, and as many wait for people.
WITH_GOLD = 40
#: Fixed on purpose where the demo listens on this machine only: it holds nothing of value.
PASSWORD = "labelhub-demo"  # noqa: S105 - printed at every start of the demo
#: Printed for a person with a password of their own.
SET_SINCE = "(the one set since)"
#: May do everything.
OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Login:
    username: str
    password: str
    role: str


LOGINS = (
    Login("manager", PASSWORD, "manages the project and reviews as an expert"),
    Login("reviewer", PASSWORD, "reviews as a crowd worker"),
    Login(OPERATOR, PASSWORD, "sees everything: providers, admin console"),
)


def prepare_demo(password: str = PASSWORD, origins: Sequence[str] = ()) -> tuple[Login, ...]:
    """Make what is missing of the demo; running it again changes nothing that is there.

    ``origins`` are those of this server: its own pages embed the demo's site.

    Another ``password`` than the one everybody knows is for a demo that others can reach: it is
    also given to existing people. The known one never is.
    """
    people = [_person(login, password) for login in LOGINS]
    manager, reviewer = people[0][0], people[1][0]
    ensure_builtin()
    description = "Which aspects does a guest write about? Reviews written for this demo."
    project = _find_or_create_project(manager, SLUG, "hotel", "Hotel reviews", description)
    if not project.items.exists():
        import_file(project, manager, DATA / "hotel_reviews.jsonl", with_gold=WITH_GOLD)
    if not Run.objects.filter(project=project).exists():
        run_offline(project, manager, "ecj")
    for made in (project, prepare_demo_agreement(manager)):
        set_member(
            project=made, user=reviewer, role=Role.REVIEWER, kind=ReviewerKind.CROWD, actor=manager
        )
    prepare_demo_site(manager, origins)
    return tuple(login for _, login in people)


def known_password_works() -> bool:
    """Whether the demo's operator, who may do everything, still has the password in this file."""
    found = User.objects.filter(username=OPERATOR, is_active=True).first()
    return found is not None and found.check_password(PASSWORD)


def _person(login: Login, password: str) -> tuple[User, Login]:
    """The person, and the login to print: they may have chosen a password of their own."""
    user = User.objects.filter(username=login.username).first()
    if user is not None and password == PASSWORD:
        known = user.check_password(password)
        return user, login if known else replace(login, password=SET_SINCE)
    if user is None:
        user = create_user(
            username=login.username,
            superuser=login.username == OPERATOR,
            makes_accounts=login.username == "manager",
        ).user
    user.set_password(password)  # past the rules for passwords: the known one is no secret
    user.must_change_password = False
    user.save(update_fields=["password", "must_change_password"])
    return user, replace(login, password=password)
