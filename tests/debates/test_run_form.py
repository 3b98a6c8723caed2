"""The page on which a run is planned: any protocol, any question, settings, models, preview."""

from typing import Any

import pytest
from django.urls import reverse

from apps.common.jobs import waiting_jobs
from apps.debates.forms import RunForm
from apps.debates.models import Run
from apps.debates.services import prompts
from apps.debates.tasks import KIND
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from labelhub.core.debate import LABELLING
from labelhub.core.schema import TASKS
from tests.factories.debates import project_with_items
from tests.factories.llm import ModelSpecFactory
from tests.factories.projects import ASPECTS, MOODS, member_browser

pytestmark = pytest.mark.django_db

STARS = {
    "task": "ordinal",
    "question": "",
    "labels": [{"name": str(n), "point": n} for n in (1, 2)],
}
QUESTIONS: dict[str, dict[str, Any]] = {
    "single": MOODS,
    "multi": ASPECTS,
    "ordinal": STARS,
    "text": {"task": "text", "question": "Sum it up."},
    "per_item": {"task": "per_item"},
}
PLAIN = {"replicates": "1", "reuse_answers": "on"}


def asked(project: Project, name: str, **data: Any) -> str:
    """What the part of the page called ``name`` shows for a form filled in so."""
    client = member_browser(project)
    return client.get(reverse(name, args=[project.slug]), PLAIN | data).content.decode()


def started(project: Project, **data: Any) -> Any:
    return member_browser(project).post(reverse("run_create", args=[project.slug]), PLAIN | data)


@pytest.mark.thorough
@pytest.mark.parametrize("task", QUESTIONS)
@pytest.mark.parametrize("name", LABELLING)
def test_the_page_shows_settings_and_roles_of_any_protocol_for_any_question(
    name: str, task: str
) -> None:
    fields = {"options": ["Yes", "No"]} if task == "per_item" else {}
    project = project_with_items(2, definition=QUESTIONS[task])
    project.items.update(**fields)
    client = member_browser(project)
    address = reverse("run_create", args=[project.slug])
    page = client.get(address, {"protocol": name}).content.decode()
    form = RunForm({"protocol": name}, task=TASKS[task])
    for field in form.fields:
        assert f'name="{field}"' in page
    seen = asked(project, "run_preview", protocol=name)
    if TASKS[task] in LABELLING[name].tasks:
        assert "Calls" in seen
        assert started(project, protocol=name).status_code == 302
    else:
        assert "Not for this project" in page
        assert "Not for this project" in seen
        refused = started(project, protocol=name)
        assert refused.status_code == 422
        assert not Run.objects.exists()


def test_a_run_is_planned_previewed_and_started() -> None:
    project = project_with_items(3)
    client = member_browser(project)
    page = client.get(reverse("run_create", args=[project.slug])).content.decode()
    assert "Extractor, critic, judge (ECJ)" in page
    model = ensure_builtin()
    form: dict[str, Any] = {
        "protocol": "ecj",
        "limit": "2",
        "replicates": "1",
        "model_judge": model.pk,
    }
    seen = client.get(reverse("run_preview", args=[project.slug]), form).content.decode()
    assert "nothing" in seen
    assert "It is not an LLM" in seen
    response = client.post(reverse("run_create", args=[project.slug]), form)
    run = Run.objects.get()
    assert response.headers["Location"] == reverse("run_detail", args=[project.slug, run.pk])
    assert run.debates.count() == 2
    assert not run.reuse_answers, "a box that is not ticked"
    assert waiting_jobs(KIND) == [run.pk]


def test_settings_and_models_reach_the_run() -> None:
    project = project_with_items(2)
    ensure_builtin()
    model = ModelSpecFactory.create(name="judging")
    settings = {"set_judges": "5", "set_precedents": "1", "set_temperature": "0.2"}
    models = {"model_judge": str(model.pk)}
    assert started(project, protocol="courtroom", **settings, **models).status_code == 302
    run = Run.objects.get()
    found = run.protocol_settings
    assert (found["judges"], found["precedents"], found["temperature"]) == (5, 1, 0.2)
    assert run.roles.get(role="judge").model == model
    assert run.roles.filter(role="reporter").exists()
    assert run.reuse_answers


def test_the_settings_of_a_stage_reach_the_run() -> None:
    project = project_with_items(2)
    settings = {"set_first": "vote", "set_then": "courtroom", "set_first.annotators": "2"}
    assert started(project, protocol="cascade", **settings, **{"set_then.judges": "1"})
    run = Run.objects.get()
    assert run.protocol_settings["first.annotators"] == 2
    assert run.protocol_settings["then.judges"] == 1
    assert run.roles.filter(role="first_annotator_b").exists()


def test_what_was_typed_is_kept_and_what_was_not_follows_the_protocol() -> None:
    project = project_with_items(1)
    model = ModelSpecFactory.create()
    kept = {"set_temperature": "0.9", "usual_set_temperature": "0.7"}
    page = asked(project, "run_parts", protocol="courtroom", model_judge=model.pk, **kept)
    assert 'name="set_temperature" value="0.9"' in page
    assert f'<option value="{model.pk}" selected>' in page
    untouched = {"set_temperature": "0.7", "usual_set_temperature": "0.7"}
    page = asked(project, "run_parts", protocol="courtroom", **untouched)
    assert 'name="set_temperature" value="0.5"' in page


def test_more_annotators_are_more_roles_and_the_same_is_not_sent_twice() -> None:
    project = project_with_items(1)
    page = asked(project, "run_parts", protocol="discussion", set_annotators="9")
    assert "Annotator I" in page
    form = RunForm(PLAIN | {"protocol": "discussion", "set_annotators": "9"}, task=TASKS["single"])
    response = member_browser(project).get(
        reverse("run_parts", args=[project.slug]),
        PLAIN | {"protocol": "discussion", "set_annotators": "9", "shape": form.shape},
    )
    assert response.status_code == 204


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("set_annotators", "12", "Give a whole number from 2 to 9."),
        ("set_annotators", "", "Give a whole number from 2 to 9."),
        ("set_rounds", "1.5", "Give a whole number from 1 to 5."),
        ("model_annotator_a", "999999", "Select a valid choice."),
    ],
)
def test_a_wrong_value_is_answered_at_its_field(field: str, value: str, words: str) -> None:
    project = project_with_items(1)
    page = started(project, protocol="discussion", **{field: value}).content.decode()
    position = page.index(f'id="id_{field}_error"')
    assert words in page[position : position + 400]
    assert f'value="{value}"' in page or field.startswith("model_") or not value
    assert words in asked(project, "run_preview", protocol="discussion", **{field: value})
    assert not Run.objects.exists()


def test_without_scripts_a_button_shows_the_settings_and_starts_nothing() -> None:
    project = project_with_items(1)
    response = started(project, protocol="courtroom", show="yes", limit="1")
    page = response.content.decode()
    assert response.status_code == 200
    assert 'name="set_judges"' in page
    assert 'name="limit" value="1"' in page
    assert "A courtroom without precedents" in page
    assert not Run.objects.exists()


def test_a_project_s_own_text_of_a_prompt_is_offered_and_used() -> None:
    project = project_with_items(2)
    present = prompts.find_prompt("single-annotator")
    texts = dict(present.sections)
    texts["system"] += "\nBe curt."
    draft = prompts.check_draft(project, present, **texts).draft
    variant = prompts.save_variant(project=project, actor=None, draft=draft, title="Curt")
    client = member_browser(project)
    address = reverse("run_create", args=[project.slug])
    wanted = {"protocol": "single", "prompt_single/annotator": variant.version.hash}
    page = client.get(address, wanted).content.decode()
    assert "Curt" in page
    response = client.post(address, PLAIN | wanted)
    assert response.status_code == 302
    role = Run.objects.get().roles.get()
    assert role.prompt == variant.version
