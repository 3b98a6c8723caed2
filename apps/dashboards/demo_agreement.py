"""The demo's library desk: messages that author, crowd, experts and two offline runs labelled."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.accounts.models import User
from apps.debates.models import Run
from apps.debates.services import RunPlan, models_for_roles, run_slice, start_run
from apps.exchange.services import queue_import, receive_upload, run_import, store_upload
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from apps.projects.services import create_project
from labelhub.core.debate.single import AFTER_LABEL, QUOTES
from labelhub.core.schema import parse_schema

DATA = Path(__file__).parent / "demo"
SLUG = "library-desk"
#: Each run is an annotator of its own, and these two do not always say the same. Both quote what
#: their labels rest on, so that reviewers see it marked in the text.
PROTOCOLS: Mapping[str, Mapping[str, Any]] = {
    "single": {QUOTES.name: AFTER_LABEL},
    "self_refine": {},
}


def prepare_demo_agreement(manager: User) -> Project:
    """Make what is missing of the project; what is there stays as it is."""
    project = Project.objects.filter(slug=SLUG).first() or _project(manager)
    if not project.items.exists():
        import_file(project, manager, DATA / "desk_messages.jsonl")
    done = set(Run.objects.filter(project=project).values_list("protocol", flat=True))
    for protocol, settings in PROTOCOLS.items():
        if protocol not in done:
            run_offline(project, manager, protocol, settings)
    return project


def import_file(project: Project, manager: User, source: Path) -> None:
    """Upload and import a file that came with the demo."""
    path = store_upload([source.read_bytes()])
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


def _project(manager: User) -> Project:
    return create_project(
        actor=manager,
        slug=SLUG,
        name="Library desk",
        description=(
            "Who understands what the writer wanted? Messages, authors and people's labels were "
            "written for this demo."
        ),
        schema=parse_schema(json.loads((DATA / "desk_schema.json").read_text(encoding="utf-8"))),
        guideline=(DATA / "desk_guideline.md").read_text(encoding="utf-8"),
        blind_share=0,  # a tour: every item shows what it can show
    )
