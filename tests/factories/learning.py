"""Projects with gold to learn from."""

from collections.abc import Sequence
from typing import Any

from apps.labels.services import NewGold, import_gold, open_items
from apps.learning.models import TrainedModel
from apps.learning.services import run_training, start_training, switch_learning
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from tests.factories.projects import ItemFactory, ProjectFactory
from tests.fakes.learner import NearLearner

GOOD, BAD = "delicious soup and friendly waiters", "dirty room and rude staff"
VALUES = ("good", "bad")


def open_texts(project: Project, texts: Sequence[str], **fields: Any) -> list[Item]:
    """Freshly imported items of these texts."""
    items = [ItemFactory.create(project=project, text=text, **fields) for text in texts]
    open_items(items, project)
    return items


def decide_items(items: Sequence[Item], values: Sequence[Any]) -> None:
    """Gold that came with an import."""
    project = items[0].project
    schema = current_schema(project)
    drafts = [
        NewGold(item_id=item.pk, schema=schema, value=value)
        for item, value in zip(items, values, strict=True)
    ]
    import_gold(project, drafts)


def taught_project(gold: int = 40, waiting: int = 4, **fields: Any) -> tuple[Project, list[Item]]:
    """A project that learns, with ``gold`` decided items and some that wait: good and bad in turn.

    Returns the project and the items that wait.
    """
    project = ProjectFactory.create(**fields)
    texts = [f"{(GOOD, BAD)[index % 2]} on visit {index}" for index in range(gold)]
    if gold:
        decide_items(open_texts(project, texts), [VALUES[index % 2] for index in range(gold)])
    switch_learning(project=project, on=True, actor=None)
    more = [f"{(GOOD, BAD)[index % 2]} on stay {index}" for index in range(waiting)]
    return project, open_texts(project, more)


def train(project: Project, learner: NearLearner | None = None) -> TrainedModel:
    """A model of the project's gold, applied to what waits."""
    model = start_training(project=project)
    run_training(model.pk, open_learner=learner or NearLearner())
    model.refresh_from_db()
    return model
