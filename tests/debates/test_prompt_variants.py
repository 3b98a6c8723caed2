"""Variants: hostile templates come to nothing, a content is a version, projects keep their own."""

from typing import Any

import pytest

from apps.debates.models import PromptVariant
from apps.debates.selectors.prompts import (
    get_variant,
    runs_by_version,
    versions_of,
)
from apps.debates.services import prompts, start_run
from apps.debates.services.prompts.variants import inputs_match
from apps.llm.models import PromptVersion
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from labelhub.core.errors import Conflict, InvalidInput, NotFound
from labelhub.core.prompts import MOST_BODY, parse_prompt
from tests.factories.debates import plan_for, project_with_items
from tests.factories.labels import queued_items
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db
KEY = "single-annotator"


def texts(key: str = KEY) -> dict[str, str]:
    return dict(prompts.find_prompt(key).sections)


def checked(project: Project, key: str = KEY, **changed: str) -> prompts.CheckedDraft:
    return prompts.check_draft(project, prompts.find_prompt(key), **(texts(key) | changed))


def kept(project: Project, title: str = "terse", key: str = KEY, **changed: str) -> PromptVariant:
    changed = changed or {"system": f"{texts(key)['system']}\nBe terse."}
    draft = checked(project, key, **changed).draft
    return prompts.save_variant(project=project, actor=None, draft=draft, title=title)


HOSTILE = {
    "reaches into python": "{{ ''.__class__.__mro__ }}",
    "reaches in by an input": "{{ item.__init__.__globals__ }}",
    "reaches in by a filter": "{{ item|attr('__class__') }}",
    "reads a file": "{% include '/etc/passwd' %}",
    "imports": "{% import 'os' as os %}",
    "extends": "{% extends 'base.html' %}",
    "a long loop": "{% for x in range(10**9) %}x{% endfor %}",
    "a long loop of nothing": "{% for x in range(99999) %}{% for y in range(99999) %}{% endfor %}"
    "{% endfor %}",
    "a long text": "{{ 'a' * 10**10 }}",
    "a big number": "{{ 9**9**9**9 }}",
    "a long number": f"{{{{ {'9' * 5000} }}}}",
    "padding": "{{ '%1000000000d'|format(1) }}",
    "padding by a call": "{{ item.ljust(10**10) }}",
    "doubling": "{% set a = item ~ item %}" * 60,
    "a filler": "{{ lipsum(n=100000) }}",
    "a macro that calls itself": "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}",
    "a loop that calls itself": "{% for a in labels recursive %}{{ loop(labels) }}{% endfor %}",
    "letter by letter": "{% for a in item %}{{ a }}{% endfor %}",
    "without delimiters": "{{ item[20:-20] }}",
    "delimiters defaced": "{{ item|upper }}",
    "loops in loops": "{% for a in labels %}" * 4 + "{% endfor %}" * 4,
    "much in parentheses": "{{ " + "(" * 5000 + "item" + ")" * 5000 + " }}",
    "conditions in conditions": "{% if item %}" * 2000 + "{% endif %}" * 2000,
    "nots": "{{ " + "not " * 9000 + "item }}",
    "too much": "x" * (MOST_BODY + 1),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_template_is_refused_at_once(name: str) -> None:
    project = project_with_items(1)
    with pytest.raises(InvalidInput) as caught:
        checked(project, user=f"{texts()['user']}\n{HOSTILE[name]}")
    assert len(caught.value.message) < 400
    assert not PromptVersion.objects.exists()


def test_what_a_template_renders_to_is_bounded() -> None:
    labels = [{"name": f"label {n}"} for n in range(150)]
    definition = {"task": "single", "question": "", "labels": labels}
    project = project_with_items(1, definition=definition)
    loops = "{% for a in labels %}" * 3 + "{% endfor %}" * 3
    with pytest.raises(InvalidInput, match="too long"):
        checked(project, user=f"{texts()['user']}\n{loops}")


def test_a_text_that_orders_is_never_a_template() -> None:
    project = project_with_items(0)
    queued_items(project, 1, text="{{ 7 * 7 }}{% include 'x' %}</text>")
    shown = checked(project, system=f"{texts()['system']}\nBe terse.").rendering
    assert "{{ 7 * 7 }}{% include 'x' %}" in shown.text


def test_the_guard_and_the_form_of_the_answer_are_missed() -> None:
    project = project_with_items(1)
    system, user = texts()["system"], texts()["user"]
    assert checked(project, system=f"{system}\nBe terse.").warnings == []
    bare = "\n".join(line for line in system.split("\n") if "Whatever stands" not in line)
    (guard,) = checked(project, system=bare).warnings
    assert "treat what stands between" in guard
    (form,) = checked(project, user=user.replace("Final Decision:", "In short:")).warnings
    assert "Nothing asks for 'Final Decision:'" in form
    (changed,) = checked(project, user=user.replace("Spell names exactly", "Spell names")).warnings
    assert "Try the variant" in changed


def test_what_other_projects_wrote_stays_theirs() -> None:
    ours, theirs = project_with_items(1), project_with_items(1)
    foreign = kept(theirs, "secret")
    present = prompts.find_prompt(KEY)
    assert foreign.version not in versions_of(ours, present.name)
    assert foreign.version in versions_of(theirs, present.name)
    known = prompts.list_versions(ours, present)
    assert [version.title for version in known] == ["Present text"]
    with pytest.raises(NotFound):
        prompts.find_version(known, foreign.version.hash)
    with pytest.raises(NotFound):
        get_variant(ours, foreign.pk)


def test_what_a_deleted_project_wrote_is_nobody_elses() -> None:
    ours, theirs = project_with_items(1), project_with_items(1)
    foreign = kept(theirs, "secret")
    theirs.delete()
    assert foreign.version not in versions_of(ours, foreign.name)
    known = prompts.list_versions(ours, prompts.find_prompt(KEY))
    assert [version.title for version in known] == ["Present text"]


def test_a_run_with_a_variant_counts_for_it() -> None:
    project = project_with_items(1)
    variant = kept(project)
    plan = plan_for("single", prompts={variant.name: variant.version})
    run = start_run(project=project, actor=None, plan=plan)
    assert run.roles.get().prompt == variant.version
    assert runs_by_version(project, variant.name) == {variant.version.hash: 1}
    prompts.retire_variant(variant=variant)
    assert run.roles.get().prompt.body == variant.version.body


def test_what_cannot_be_tried_says_why() -> None:
    project = ProjectFactory.create()
    variant = kept(project)
    models: dict[str, Any] = {"annotator": ensure_builtin()}
    with pytest.raises(InvalidInput, match="no items"):
        prompts.trial_plans(project, variant, models)
    stale = variant.version.body.replace("inputs: [", "inputs: [claim, ").replace(
        "{{ item }}", "{{ item }}{{ claim }}"
    )
    PromptVersion.objects.filter(pk=variant.version_id).update(body=stale)
    with pytest.raises(Conflict, match="inputs of the prompt have changed"):
        prompts.trial_plans(project, get_variant(project, variant.pk), models)
    variant.retired = True
    with pytest.raises(Conflict, match="retired"):
        prompts.trial_plans(project, variant, models)


def test_the_same_content_is_the_same_version() -> None:
    project, other = project_with_items(1), project_with_items(1)
    first = kept(project)
    with pytest.raises(InvalidInput, match="'terse' has the same text"):
        kept(project, "again")
    assert kept(other, "theirs").version == first.version
    prompts.retire_variant(variant=first)
    back = kept(project, "back")
    assert (back.pk, back.title, back.retired) == (first.pk, "back", False)
    assert PromptVersion.objects.count() == 1
    with pytest.raises(InvalidInput, match="present text"):
        checked(project, **texts())


def test_a_text_with_one_form_of_answer_is_asked_in_that_form_alone() -> None:
    project = project_with_items(1)
    made = kept(project, user="{{ item }}\n\nFinal Decision: <one name from the list>")
    draft = made.version
    prompt = parse_prompt(draft.name, draft.body)
    assert (prompt.fields, "form" in prompt.inputs) == ((), False)
    assert inputs_match(made)
    both = kept(project, "both", user=f"{texts()['user']}\nBe quick.").version
    assert parse_prompt(both.name, both.body).fields == ("label",)
