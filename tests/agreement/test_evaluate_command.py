"""``manage.py evaluate``."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.projects.models import Project
from tests.factories.agreement import compared_project, decide, propose, run_of
from tests.factories.labels import machine, open_item
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """A single project of good or bad."""
    return ProjectFactory.create()


def evaluate(*arguments: Any, **options: Any) -> str:
    """What the command prints."""
    out = StringIO()
    call_command("evaluate", *arguments, stdout=out, **options)
    return out.getvalue()


def test_a_run_a_replicate_or_an_annotator_can_be_asked_for(project: Project) -> None:
    item = open_item(project)
    decide(item, "good")
    run = run_of(project, replicates=2)
    propose(run, item, "good")
    propose(run, item, "bad", replicate=2)

    def accuracy(*options: str) -> float:
        found = json.loads(evaluate(project.slug, "--json", *options))
        return float(found["overall"]["accuracy"]["value"])

    assert accuracy("--run", str(run.pk)) == 1.0
    assert accuracy("--run", str(run.pk), "--replicate", "2") == 0.0
    assert accuracy("--annotator", str(machine(project).pk)) == 0.0


def test_what_is_missing_is_one_clear_line(project: Project) -> None:
    with pytest.raises(CommandError, match="There is no project 'nowhere'"):
        evaluate("nowhere")
    with pytest.raises(CommandError, match="Nothing is predicted"):
        evaluate(project.slug)
    compared_project(project, [("good", None)])
    with pytest.raises(CommandError, match="no gold yet"):
        evaluate(project.slug)
    with pytest.raises(CommandError, match="no run 999"):
        evaluate(project.slug, "--run", "999")
