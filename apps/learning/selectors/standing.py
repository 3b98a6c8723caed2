"""Where learning stands in a project, for its page, REST and the command."""

from dataclasses import dataclass

from django.db.models import F, QuerySet

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.labels.blindness import hidden_from
from apps.labels.models import ItemState
from apps.learning.models import LearningSwitch, Score, TrainedModel
from apps.projects.models import Project
from apps.projects.selectors import role_in
from labelhub.core.learning import LEAST_GOLD, growth


@dataclass(frozen=True, slots=True)
class Standing:
    """The switch, the newest model that is measured, and the one that is on its way, if any."""

    on: bool
    decided: int
    measured: TrainedModel | None
    going: TrainedModel | None
    last: TrainedModel | None

    @property
    def missing(self) -> int:
        """How many decisions there must be at least before anything can be learnt."""
        return max(0, LEAST_GOLD - self.decided)

    @property
    def next_at(self) -> int:
        """How many items are decided when it learns anew by itself."""
        return self.last.decided + growth(self.last.decided) if self.last else LEAST_GOLD

    @property
    def failed(self) -> TrainedModel | None:
        """The last one, where it failed."""
        failed = self.last is not None and self.last.status == TrainedModel.Status.FAILED
        return self.last if failed else None


def switch_of(project: Project) -> LearningSwitch:
    """The project's switch, off (and unsaved) where nobody has touched it."""
    found = LearningSwitch.objects.filter(project=project).first()
    return found or LearningSwitch(project=project)


def standing_of(project: Project) -> Standing:
    """How far learning is. Four queries."""
    models = TrainedModel.objects.filter(project=project).order_by("-version")
    last = models.first()
    measured = models.filter(quality__isnull=False).select_related("schema").first()
    return Standing(
        on=switch_of(project).on,
        decided=decided_items(project.pk),
        measured=measured,
        going=last if last is not None and last.unfinished else None,
        last=last,
    )


def decided_items(project_id: int) -> int:
    """How many items are decided: what growth is measured by, from an index."""
    decided = ItemState.objects.filter(project=project_id, stage=ItemState.Stage.DECIDED)
    return decided.count()


def may_see_suspects(user: User, project: Project) -> bool:
    """Reviewers may not: the list tells what was decided of items by which they may be tried, or
    that they may be about to label."""
    return role_in(user, project) in (Role.MANAGER, Role.VIEWER)


def suspects_of(project: Project, user: User) -> QuerySet[Score]:
    """Decisions that are probably wrong, the worst first; none that was changed since, none for
    reviewers, and nothing that somebody is still to audit blind."""
    if not may_see_suspects(user, project):
        return Score.objects.none()
    standing = Score.objects.filter(
        project=project, suspicion__isnull=False, item__state__gold=F("gold")
    )
    return (
        standing.exclude(hidden_from(user.pk or 0, item="item_id"))
        .select_related("item", "gold", "model")
        .order_by("-suspicion", "pk")
    )
