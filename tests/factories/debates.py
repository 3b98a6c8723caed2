"""Runs as the real services start them, and models that say what a test wants."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from django.utils import timezone

from apps.debates.models import Debate, PromptVariant, Run, Turn
from apps.debates.services import RunPlan, WorkerTimings, prompts, start_run
from apps.debates.services.driving.worker import OpenModels
from apps.labels.models import Kind, Label
from apps.labels.services import annotator_for
from apps.llm.completion import CallRecord
from apps.llm.embedding import Embedded
from apps.llm.models import ModelSpec, Provider
from apps.llm.services import ensure_builtin
from apps.llm.traffic import LineState
from apps.projects.models import Project
from labelhub.core.debate import protocol
from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.types import Call, Completion, Usage
from tests.factories.labels import queued_items
from tests.factories.projects import ProjectFactory

#: A slice that does not linger.
QUICK = WorkerTimings(width=4, claim=5, lease=5.0, beat=0.05, flush=0.02, slice=20.0, announce=0.0)

Answer = Callable[[Call], str | ModelError]


class Script:
    """Stands in for the gateway: answers by ``answer``, remembers every call."""

    def __init__(
        self, answer: Answer | str = "Final Decision: good", *, seconds: float = 0.0
    ) -> None:
        self._seconds = seconds
        self._answering = 0
        self.calls: list[Call] = []
        self._answer = answer

    async def complete(
        self, spec: ModelSpec, call: Call, record: CallRecord | None = None
    ) -> Completion:
        """The answer, or the error, that the test wants."""
        self.calls.append(call)
        self._answering += 1
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self._answering -= 1
        reply = self._answer(call) if callable(self._answer) else self._answer
        if isinstance(reply, ModelError):
            raise reply
        return Completion(
            text=reply,
            usage=Usage(tokens_in=100, tokens_out=20),
            model_answered=f"{spec.name}-2026",
            effective_params={"max_tokens": spec.max_output_tokens},
        )

    async def embed(self, spec: ModelSpec, texts: Sequence[str]) -> Embedded:
        """No test that scripts its models has one for embeddings."""
        raise NotImplementedError

    def in_flight(self) -> int:
        """As the gateway."""
        return self._answering

    def hold(self) -> None:
        """As the gateway; nothing waits here."""

    def state_of(self, provider: Provider) -> LineState:
        """As the gateway; never in the way."""
        return LineState(provider.max_concurrency, self._answering, waiting=0)

    @property
    def open(self) -> OpenModels:
        """To pass as ``open_models``."""

        @asynccontextmanager
        async def opened(specs: Iterable[ModelSpec]) -> AsyncIterator[Script]:
            yield self

        return opened


def project_with_items(count: int, **fields: Any) -> Project:
    """A project whose ``count`` items are in its queue."""
    project = ProjectFactory.create(**fields)
    queued_items(project, count)
    return project


def plan_for(name: str = "single", model: ModelSpec | None = None, **fields: Any) -> RunPlan:
    """A plan in which one model (the offline one by default) plays every role."""
    played_by = model or ensure_builtin()
    return RunPlan(protocol=name, models=dict.fromkeys(_roles(name, fields), played_by), **fields)


def _roles(name: str, fields: Mapping[str, Any]) -> tuple[str, ...]:
    info = protocol(name)
    return info.roles(info.read_settings(fields.get("settings", {})))


def started_run(project: Project, name: str = "single", **fields: Any) -> Run:
    """A run over the project's items, queued."""
    return start_run(project=project, actor=None, plan=plan_for(name, **fields))


def variant_of(project: Project, key: str = "single-annotator") -> PromptVariant:
    """A variant of a prompt that says one sentence more."""
    present = prompts.find_prompt(key)
    given = dict(present.sections)
    draft = prompts.draft_variant(
        present, system=given["system"] + "\nBe terse.", user=given["user"]
    )
    return prompts.save_variant(project=project, actor=None, draft=draft, title="terse")


def finished_debate(
    run: Run,
    answers: Mapping[str, Any],
    *,
    text: str = "",
) -> Debate:
    """The run's first debate, ended: each role said its value, the last one's is the verdict."""
    debate = run.debates.select_related("item").order_by("pk")[0]
    for role in run.roles.select_related("model", "prompt"):
        Turn.objects.create(
            debate=debate,
            step=role.role,
            role=role.role,
            model=role.model,
            prompt=role.prompt,
            messages=[{"role": "user", "content": text or "?"}],
            text=text or f"Final Decision: {answers[role.role]}",
            value=answers[role.role],
            status="ok",
        )
    label = Label.objects.create(
        item=debate.item,
        annotator=annotator_for(run.project, kind=Kind.LLM, name=run.protocol, offline=True),
        schema=run.schema,
        value=list(answers.values())[-1],
        action=Label.Action.PROPOSED,
        run_uid=run.uid,
    )
    debate.label, debate.status = label, Debate.Status.DONE
    debate.finished_at = timezone.now()
    debate.save()
    return debate
