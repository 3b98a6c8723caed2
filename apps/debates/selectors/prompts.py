"""Queries about prompts: stored versions, a project's variants, and the results of trials."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext

from apps.accounts.models import User
from apps.debates.models import Debate, PromptVariant, Run, RunRole, Turn
from apps.debates.selectors.experiments import verified_items
from apps.labels.blindness import hidden_from
from apps.llm.models import PromptVersion
from apps.projects.changes import compared_schema
from apps.projects.models import Item, Project
from labelhub.core.errors import NotFound
from labelhub.core.llm.types import Status

SHOWN_TRIALS = 20
FOUND_ITEMS = 8


@dataclass(frozen=True, slots=True)
class Trial:
    """Two runs over the same items: ``run`` with the variant, ``beside`` with the present text."""

    variant: PromptVariant
    run: Run
    beside: Run

    @property
    def going(self) -> bool:
        """Whether a worker should drive one of them."""
        return self.run.going or self.beside.going


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One item: the answers of both runs, and the verified label if there is one.

    ``hidden``: the user has yet to audit the item blind.
    """

    item: Item
    debate: Debate
    beside: Debate
    known: bool
    gold: Any
    hidden: bool = False

    @property
    def ended(self) -> bool:
        """Whether both debates have ended."""
        return all(self._ended(debate) for debate in (self.debate, self.beside))

    @property
    def differs(self) -> bool:
        """Whether the two debates have different results."""
        return self.ended and self.debate.value != self.beside.value

    @property
    def right(self) -> bool:
        """Whether the variant's answer is correct."""
        return self.known and self.debate.value == self.gold

    @property
    def beside_right(self) -> bool:
        """Whether the present prompt's answer is correct."""
        return self.known and self.beside.value == self.gold

    @staticmethod
    def _ended(debate: Debate) -> bool:
        return debate.status in (Debate.Status.DONE, Debate.Status.UNPARSED)


@dataclass(frozen=True, slots=True)
class Side:
    """One of a trial's two runs: its debates by result, its correct answers to the ``known`` items,
    and the number of unreadable answers to the prompt."""

    title: str
    run: Run
    ends: Counter[str]
    right: int
    known: int
    unread: int

    @property
    def finished(self) -> int:
        """Items whose debate has ended."""
        return self.ends.total() - self.ends[Debate.Status.WAITING]

    @property
    def unlabelled(self) -> int:
        """Items whose debate ended without an offered label."""
        return self.ends[Debate.Status.UNPARSED]

    @property
    def failed(self) -> int:
        """Items whose debate failed."""
        return self.ends[Debate.Status.FAILED]


def variants_of(project: Project, name: str = "") -> QuerySet[PromptVariant]:
    """The project's variants with their versions, also retired ones; by ``name``: of one prompt."""
    found = PromptVariant.objects.filter(project=project, **({"name": name} if name else {}))
    return found.select_related("version", "created_by")


def get_variant(project: Project, pk: int) -> PromptVariant:
    """A variant of ``project``, retired or not.

    Raises:
        NotFound: no such variant there.
    """
    found = variants_of(project).filter(pk=pk).first()
    if found is None:
        raise NotFound(
            "There is no variant %(pk)s in the project '%(slug)s'.", pk=str(pk), slug=project.slug
        )
    return found


def versions_of(project: Project, name: str) -> QuerySet[PromptVersion]:
    """The versions of a prompt that the project wrote or its runs used, the newest first.

    Versions of other projects are hidden, also after their deletion.
    """
    ours = Q(hash__in=_used(project).filter(prompt__name=name).values("prompt__hash")) | Q(
        pk__in=PromptVariant.objects.filter(project=project).values("version")
    )
    return PromptVersion.objects.filter(ours, name=name).order_by("-pk")


def runs_by_version(project: Project, name: str) -> dict[str, int]:
    """Content hash → how many of the project's runs used it."""
    rows = _used(project).filter(prompt__name=name).order_by().values_list("prompt__hash")
    return dict(rows.annotate(runs=Count("run", distinct=True)))


def runs_by_prompt(project: Project) -> dict[str, int]:
    """Prompt name → how many of the project's runs used any version of it."""
    rows = _used(project).order_by().values_list("prompt__name")
    return dict(rows.annotate(runs=Count("run", distinct=True)))


def prompt_items(project: Project, query: str) -> list[Item]:
    """The first items with ``query`` in the id or text; an item with this id comes first."""
    items = Item.objects.filter(project=project).order_by("pk")
    if not query:
        return list(items[:1])
    exact = list(items.filter(external_id=query))
    hit = Q(external_id__icontains=query) | Q(text__icontains=query)
    rest = items.filter(hit).exclude(pk__in=[item.pk for item in exact])
    return exact + list(rest[:FOUND_ITEMS])


def latest_debate(
    project: Project, item: Item, protocol_name: str, user: User | AnonymousUser
) -> Debate | None:
    """The latest ended debate of the protocol on ``item`` that ``user`` may see, with its turns."""
    ended = Debate.objects.open_to(user).filter(
        run__project=project, run__protocol=protocol_name, item=item, status=Debate.Status.DONE
    )
    return ended.select_related("run").prefetch_related("turns").order_by("-pk").first()


def trials_of(
    project: Project, variants: Iterable[PromptVariant]
) -> list[tuple[PromptVariant, Run]]:
    """The runs that tried these variants, the newest first."""
    tried = {variant.version_id: variant for variant in variants}
    roles = _used(project).filter(prompt__in=tried, run__trial=True, run__experiment=None)
    found = {role.run_id: role for role in roles.select_related("run").order_by("-run")}
    return [(tried[role.prompt_id], role.run) for role in list(found.values())[:SHOWN_TRIALS]]


def get_trial(project: Project, run_id: int) -> Trial:
    """The trial with this first run.

    Raises:
        NotFound: ``project`` has no such run, or the run tries no variant.
    """
    nothing = NotFound(
        "There is no trial %(run_id)s in the project '%(slug)s'.",
        run_id=str(run_id),
        slug=project.slug,
    )
    run = _trials(project).filter(pk=run_id).first()
    if run is None:
        raise nothing
    variant = variants_of(project).filter(version__in=run.roles.values("prompt")).first()
    if variant is None:
        raise nothing
    # Both runs are created together, first the variant's, then the present prompt's.
    later = _trials(project).filter(
        pk__gt=run.pk,
        protocol=run.protocol,
        protocol_settings=run.protocol_settings,
        created_by=run.created_by_id,
    )
    beside = later.exclude(roles__prompt=variant.version_id).order_by("pk").first()
    if beside is None:
        raise nothing
    return Trial(variant, run, beside)


def trial_rows(trial: Trial, user: User | AnonymousUser) -> list[TrialRow]:
    """The trial item by item for ``user``, all values under the same names of labels; in three
    queries."""
    version = trial.run.schema.version
    schema, versions, translator = compared_schema(trial.run.schema)
    held: dict[int, dict[int, Debate]] = {trial.run.pk: {}, trial.beside.pk: {}}
    blind: set[int] = set()
    debates = Debate.objects.filter(run__in=held)
    debates = debates.annotate(hidden=hidden_from(user.pk or 0, item="item"))
    for debate in debates.select_related("item").order_by("pk"):
        debate.value = translator.value(version, debate.value)
        held[debate.run_id][debate.item_id] = debate
        if getattr(debate, "hidden", False):
            blind.add(debate.item_id)
    first, second = held.values()
    gold = verified_items(trial.run.project, versions).filter(item__in=first)
    known = {} if schema.parsed.task.written else translator.values_of(gold)
    return [
        TrialRow(debate.item, debate, second[item], item in known, known.get(item), item in blind)
        for item, debate in first.items()
        if item in second
    ]


def trial_sides(trial: Trial, rows: Sequence[TrialRow]) -> tuple[Side, Side]:
    """The results of the variant and the present prompt, in one query."""
    unread, known = unread_answers(trial), [row for row in rows if row.known and row.ended]
    return (
        Side(
            title=gettext("Variant: %(title)s") % {"title": trial.variant.title},
            run=trial.run,
            ends=Counter(row.debate.status for row in rows),
            right=sum(row.right for row in known),
            known=len(known),
            unread=unread[trial.run.pk],
        ),
        Side(
            title=gettext("Present text"),
            run=trial.beside,
            ends=Counter(row.beside.status for row in rows),
            right=sum(row.beside_right for row in known),
            known=len(known),
            unread=unread[trial.beside.pk],
        ),
    )


def unread_answers(trial: Trial) -> dict[int, int]:
    """Run id → answers to the tried prompt that could not be read."""
    turns = Turn.objects.filter(
        debate__run__in=(trial.run.pk, trial.beside.pk),
        prompt__name=trial.variant.name,
        status=Status.UNPARSED,
    )
    rows = turns.order_by().values_list("debate__run").annotate(unread=Count("pk"))
    return {trial.run.pk: 0, trial.beside.pk: 0} | dict(rows)


def _used(project: Project) -> QuerySet[RunRole]:
    return RunRole.objects.filter(run__project=project)


def _trials(project: Project) -> QuerySet[Run]:
    """Trials without an experiment."""
    tried = Run.objects.filter(project=project, trial=True, experiment=None)
    return tried.select_related("project", "schema")
