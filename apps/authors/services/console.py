"""The test console: run a message through all stages without storing anything."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from apps.authors.models import Author, Message, Site
from apps.authors.services.message_lease import AskingTask, plan_of
from apps.authors.services.messages import screen_text
from apps.authors.services.questions import PATIENCE, OpenModels, interview
from apps.llm.services import ensure_builtin
from apps.llm.shared_gateway import close_all, shared_gateway
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.limits import minimum_ms
from labelhub.core.interview.pipeline import AuthorMessage, InterviewResult
from labelhub.core.interview.questions import Draft, shuffle_options


@dataclass(frozen=True, slots=True)
class DryQuestion:
    """A question as an author would see it, and which option the model expects."""

    feature: str
    text: str
    options: Sequence[tuple[str, bool]]
    language: str
    source: str
    seconds: float


@dataclass(frozen=True, slots=True)
class DryRun:
    """Result of a dry run.

    ``text``: as models see it; ``stages``: the verdicts as they would be stored; ``dropped_at`` is
    empty if there are questions.
    """

    text: str
    language: str
    stages: Sequence[dict[str, object]]
    dropped_at: str
    reason: str
    questions: Sequence[DryQuestion]
    model: str
    cost_nanousd: int


def dry_run(site: Site, text: str, open_models: OpenModels = shared_gateway) -> DryRun:
    """Pass ``text`` through all stages except the throttle; models are called, nothing is stored.

    An unreachable model is reported as the stage that dropped the message.
    """
    screened = screen_text(site, text)
    spec = site.model or ensure_builtin()
    spent: list[int] = []
    drafts: Sequence[Draft] = ()
    if not screened.dropped_at:
        features = list(site.features.asked())
        task = AskingTask(
            message=Message(
                author=Author(site=site), text=screened.text, language=screened.language
            ),
            spec=spec,
            author_message=AuthorMessage(text=screened.text, language=screened.language),
            plan=plan_of(site, [feature.parsed for feature in features], {}),
            propensity=1.0,
            features={feature.key: feature for feature in features},
        )
        try:
            asked = asyncio.run(_ask_models(task, spent, open_models))
        except LabelhubError as error:
            screened.note("model", passed=False, reason=error.message)
        else:
            drafts = asked.drafts
            for stage in asked.stages:
                screened.note(stage.stage, passed=stage.passed, reason=stage.reason, **stage.data)
    return DryRun(
        text=screened.text,
        language=screened.language,
        stages=screened.stages,
        dropped_at=screened.dropped_at,
        reason=screened.reason,
        questions=[_question(draft, screened.text) for draft in drafts],
        model=spec.name,
        cost_nanousd=sum(spent),
    )


async def _ask_models(
    task: AskingTask, spent: list[int], open_models: OpenModels
) -> InterviewResult:
    try:
        async with open_models(task.spec, PATIENCE) as models:
            return await interview(task, models, spent)
    finally:
        await close_all()


def _question(draft: Draft, text: str) -> DryQuestion:
    order = shuffle_options(draft, text)
    return DryQuestion(
        feature=draft.feature,
        text=draft.text,
        options=[(option, option == draft.predicted) for option in order],
        language=draft.language,
        source=draft.source,
        seconds=minimum_ms(draft.text, order) / 1000,
    )
