"""Queries about runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Prefetch, QuerySet
from django.utils.translation import gettext

from apps.accounts.models import User
from apps.debates.models import Debate, Run, RunRole, Turn
from apps.debates.naming import protocol_title, role_words, setting_words
from apps.llm.models import PromptVersion
from apps.projects.models import Project
from labelhub.core.debate import PROTOCOLS
from labelhub.core.errors import InvalidInput, NotFound


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run and its counts, for lists."""

    run: Run
    total: int
    finished: int
    unlabelled: int

    @property
    def models(self) -> list[str]:
        """The titles of its models, each once."""
        return list(dict.fromkeys(role.model.title for role in self.run.roles.all()))


def may_watch(user: User | AnonymousUser, run_id: int) -> bool:
    """Whether the run exists and ``user`` may see it."""
    return Run.objects.visible_to(user).filter(pk=run_id).exists()


def get_run(project: Project, run_id: int) -> Run:
    """A run of ``project``.

    Raises:
        NotFound: no such run there.
    """
    run = (
        Run.objects.filter(project=project, pk=run_id).select_related("schema", "guideline").first()
    )
    if run is None:
        raise NotFound(
            "There is no run %(run_id)s in the project '%(slug)s'.",
            run_id=str(run_id),
            slug=project.slug,
        )
    return run


def visible_run(user: User | AnonymousUser, run_id: int) -> Run:
    """A run of any project that ``user`` may see, with its project.

    Raises:
        NotFound: no such run for this person.
    """
    run = (
        Run.objects.visible_to(user)
        .filter(pk=run_id)
        .select_related("project", "schema", "guideline")
        .first()
    )
    if run is None:
        raise NotFound("There is no run %(run_id)s.", run_id=str(run_id))
    return run


def runs_of(project: Project) -> QuerySet[Run]:
    """The project's runs for a list, newest first."""
    roles = RunRole.objects.select_related("model__provider", "prompt")
    return (
        Run.objects.filter(project=project)
        .select_related("created_by", "schema", "guideline")
        .prefetch_related(Prefetch("roles", queryset=roles))
    )


def run_rows(runs: Iterable[Run]) -> list[RunRow]:
    """Counts for a page of runs, in one query over an index."""
    page = list(runs)
    counts = status_counts([run.pk for run in page])
    return [
        RunRow(
            run=run,
            total=sum(counts[run.pk].values()),
            finished=sum(counts[run.pk].values()) - counts[run.pk][Debate.Status.WAITING],
            unlabelled=counts[run.pk][Debate.Status.FAILED]
            + counts[run.pk][Debate.Status.UNPARSED],
        )
        for run in page
    ]


def status_counts(run_ids: Iterable[int]) -> Mapping[int, Counter[str]]:
    """run id → debates by status."""
    counts: dict[int, Counter[str]] = {run_id: Counter() for run_id in run_ids}
    rows = (
        Debate.objects.filter(run__in=counts)
        .order_by()
        .values_list("run", "status")
        .annotate(n=Count("pk"))
    )
    for run_id, status, count in rows:
        counts[run_id][status] = count
    return counts


def roles_of(run: Run) -> list[RunRole]:
    """The roles of the run in the order of their turns."""
    return list(run.roles.select_related("model__provider", "prompt"))


@dataclass(frozen=True, slots=True)
class RunSetup:
    """``settings``: titles and values; ``prompts``: each prompt once, with roles; ``reused``: the
    number of reused answers."""

    title: str
    settings: tuple[tuple[str, Any], ...]
    roles: tuple[RunRole, ...]
    prompts: tuple[tuple[PromptVersion, tuple[str, ...]], ...]
    reused: int


def run_setup(run: Run) -> RunSetup:
    """All that determines the calls of the run."""
    roles = tuple(roles_of(run))
    prompts: dict[str, tuple[PromptVersion, tuple[str, ...]]] = {}
    for role in roles:
        _, speakers = prompts.get(role.prompt.hash, (role.prompt, ()))
        prompts[role.prompt.hash] = (role.prompt, (*speakers, role_words(role.role)))
    return RunSetup(
        title=protocol_title(run.protocol),
        settings=tuple(_settings(run)),
        roles=roles,
        prompts=tuple(prompts.values()),
        reused=Turn.objects.filter(debate__run=run, reused=True).count() if run.turns_count else 0,
    )


def _settings(run: Run) -> Iterator[tuple[str, Any]]:
    """Titles and values; unknown settings have their name as title."""
    titles = {}
    info = PROTOCOLS.get(run.protocol)
    if info is not None:
        try:
            known = info.known_settings(run.protocol_settings)
        except InvalidInput:
            known = info.settings
        own = {setting.name: setting.title for setting in known}
        for name, title in own.items():
            stage, dot, _ = name.partition(".")
            # ``then.judges`` names its stage.
            within = f"{gettext(own.get(stage, stage))}: {gettext(title)}"
            titles[name] = within if dot else gettext(title)
    for name, value in run.protocol_settings.items():
        shown = setting_words(value) if isinstance(value, str) and info else value
        yield titles.get(name, name), shown
