"""Projects in which authors have answered, and studies of them, driven by scripted models."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.test import Client

from apps.accounts.roles import Role
from apps.agreement.models import Study
from apps.agreement.predictivity.planning import StudyPlan
from apps.agreement.predictivity.slices import run_study
from apps.agreement.predictivity.studies import get_study, start_study
from apps.debates.services import SliceEnd
from apps.labels.models import Label
from apps.labels.services import annotator_for, record_label
from apps.llm.models import ModelSpec
from apps.projects.models import Item, Project
from labelhub.core.llm.types import Call
from tests.factories.debates import QUICK, Script
from tests.factories.labels import draft, open_item
from tests.factories.llm import ModelSpecFactory
from tests.factories.projects import ProjectFactory, member

PER_ITEM = {"task": "per_item", "question": ""}
OPTIONS = ["calm", "cross", "glad"]
SECRET = "the words of"


def say(item: Item, kind: str, value: str, name: str = "", **fields: Any) -> Label:
    """A label by an annotator of that kind."""
    by = annotator_for(item.project, kind=kind, name=name or f"a {kind}", **fields)
    return record_label(draft(item, by, value, action=Label.Action.IMPORTED))


def answered_item(project: Project, user: str, answer: str, **fields: Any) -> Item:
    """A question that ``user`` has answered, in a conversation of theirs."""
    count = project.items.count()
    usual: dict[str, Any] = {
        "text": f"{SECRET} {user}, number {count}",
        "question": f"How did {user} feel at {count}?",
        "options": OPTIONS,
        "meta": {"user_id": user, "conversation_id": f"talk of {user}"},
    }
    item = open_item(project, **(usual | fields))
    say(item, "author", answer, name=user)
    return item


def authors_project(
    users: int = 3, answers: int = 4, others: Mapping[str, str] | None = None, **fields: Any
) -> Project:
    """So many authors with so many answers each, all in one conversation; ``others``: kind → what
    it says of every item (the LLM calm, the crowd cross unless told otherwise)."""
    project = ProjectFactory.create(definition=PER_ITEM, **fields)
    said = {"llm": "calm", "crowd": "cross"} if others is None else others
    for user in range(users):
        for at in range(answers):
            item = answered_item(project, f"user {user}", OPTIONS[(user + at) % 3])
            for kind, value in said.items():
                say(item, kind, value)
    return project


def signed_in(project: Project, role: Role = Role.MANAGER) -> Client:
    """The browser of a member."""
    client = Client()
    client.force_login(member(project, role))
    return client


def plan_of(project: Project, model: ModelSpec | None = None, **fields: Any) -> StudyPlan:
    """A small plan: one and two examples, by a model with known prices."""
    usual: dict[str, Any] = {"examples": (0, 1, 2)}
    return StudyPlan(model=model or ModelSpecFactory.create(), **(usual | fields))


def started(project: Project, model: ModelSpec | None = None, **fields: Any) -> Study:
    """A study as the services start it."""
    return start_study(project=project, actor=None, plan=plan_of(project, model, **fields))


def driven(study: Study, script: Script, pace: Any = QUICK) -> SliceEnd:
    """One slice by a scripted model; the study is read anew."""
    end = run_study(study.pk, pace=pace, open_models=script.open)
    study.refresh_from_db()
    return end


def told(study: Study) -> Study:
    """The study as lists tell it."""
    found = get_study(study.project, study.pk)
    assert found is not None
    return found


def asked_text(call: Call) -> str:
    """All that a model sees of a call."""
    return "\n".join(message.content for message in call.messages)


def decides(answer: Callable[[Call], str]) -> Script:
    """A model that gives its answer in the form that the prompt asks for."""
    return Script(lambda call: f"Final Decision: {answer(call)}")


def last_shown(call: Call, options: Sequence[str] = OPTIONS) -> str:
    """The label of the last example in the prompt, as a model that learns from examples would say;
    the first option without any."""
    before = asked_text(call).partition("Now the text and the question to predict.")[0]
    places = {option: before.rfind(f"\n{option}\n") for option in options}
    found = max(places, key=lambda option: places[option])
    return found if places[found] >= 0 else options[0]
