"""Queries about the routing rule of a project and the debates that it routes."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet, Window
from django.db.models.functions import RowNumber

from apps.common.prepared import prepared
from apps.debates.models import Debate, RoutingRule
from apps.projects.changes import Translator
from apps.projects.models import Project, SchemaChange
from labelhub.core.debate.routing import Rule, read_rule

ENDED = (Debate.Status.DONE, Debate.Status.UNPARSED, Debate.Status.FAILED)


@dataclass(frozen=True, slots=True)
class EndedDebate:
    """An item's latest debate with all that its routing depends on.

    ``key``: the item's external id; ``reasons``: the stored reasons to ask people.
    """

    pk: int
    item_id: int
    key: str
    status: str
    value: Any
    signals: Mapping[str, Any]
    flags: tuple[str, ...]
    reasons: tuple[str, ...]

    @property
    def labelled(self) -> bool:
        """Whether it reached a label."""
        return self.status == Debate.Status.DONE

    @property
    def failed(self) -> bool:
        """Whether it failed: such items always go to people, until the debate is tried again."""
        return self.status == Debate.Status.FAILED


def rule_of(project: Project) -> Rule:
    """The project's routing rule; by default the default rule."""
    return routing_now(project.pk)[0]


def routing_now(project_id: int) -> tuple[Rule, str]:
    """The present rule, and which items people review at all (a ``Project.ReviewScope``).

    Fast enough to be called for each debate, because both may change during a run.
    """
    scope, definition = _rule_and_scope.first(project_id) or (Project.ReviewScope.ALL, None)
    return (Rule() if definition is None else read_rule(definition)), scope


def stored_rule(project: Project) -> RoutingRule | None:
    """The saved rule with its author; None if the project has the default rule."""
    rules = RoutingRule.objects.filter(project=project)
    return rules.select_related("changed_by").first()


def latest_debates(
    project: Project, item_ids: Collection[int] | None = None
) -> Iterator[EndedDebate]:
    """The latest ended debate of each item, by item, without trials. One query, or two if labels
    were changed since: values have their present names.

    Args:
        project: the project.
        item_ids: only these items.
    """
    rows = _latest_ended(project, item_ids).values_list(
        "pk", "item_id", "item__external_id", "status", "value",
        "signals", "uncertainty", "flags", "reasons", "run__schema__version", "old",
    )  # fmt: skip
    translator: Translator | None = None
    for (
        pk, item_id, key, status, value, signals, uncertainty, flags, reasons, version, old,
    ) in rows.iterator():  # fmt: skip
        if old:
            translator = translator or Translator.of(project.pk)
            value = translator.value(version, value)  # noqa: PLW2901 - as it is called now
        yield EndedDebate(
            pk=pk,
            item_id=item_id,
            key=key,
            status=status,
            value=value,
            signals={**signals, "uncertainty": uncertainty},
            flags=tuple(flags),
            reasons=tuple(reasons),
        )


def _latest_ended(project: Project, item_ids: Collection[int] | None) -> QuerySet[Any]:
    """These debates by item; ``old``: labels were changed since their run started."""
    ended = Debate.objects.filter(
        run__project=project, run__trial=False, status__in=ENDED, finished_at__isnull=False
    )
    if item_ids is not None:
        ended = ended.filter(item__in=item_ids)
    since = SchemaChange.objects.filter(
        project=project,
        to_schema__isnull=False,
        from_schema__version__gte=OuterRef("run__schema__version"),
    )
    # One pass, because for a subquery per debate PostgreSQL may read all debates each time.
    order = [F("finished_at").desc(), F("pk").desc()]
    nth = Window(RowNumber(), partition_by=[F("item")], order_by=order)
    return ended.annotate(old=Exists(since), nth=nth).filter(nth=1).order_by("item_id")


@prepared
def _rule_and_scope(project: int) -> QuerySet[Project, tuple[str, Any]]:
    found = Project.objects.filter(pk=project).order_by()
    return found.values_list("review_scope", "routing_rule__definition")
