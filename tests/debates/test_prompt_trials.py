"""Trying a variant: the same ten items twice, and what the page makes of it."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse

from apps.accounts.roles import Role
from apps.common.jobs import waiting_jobs
from apps.debates.forms import TrialForm
from apps.debates.models import Debate, PromptVariant, Run
from apps.debates.selectors.prompts import get_trial, trial_rows, trial_sides
from apps.debates.services import prompts, run_slice
from apps.debates.tasks import KIND
from apps.labels.models import Gold
from apps.llm.services import ensure_builtin
from apps.projects.models import Item
from apps.projects.selectors import current_schema, find_project
from labelhub.core.schema import LabelDef
from labelhub.core.schema.operations import Add, Operation, Rename
from tests.factories.debates import QUICK, Script, project_with_items, variant_of
from tests.factories.projects import member_browser
from tests.factories.schema_changes import changed

#: Runs are driven in threads of their own, which see only what was committed.
pytestmark = pytest.mark.django_db(transaction=True)


def verify(item: Item, value: Any) -> None:
    schema = current_schema(item.project)
    Gold.objects.create(item=item, schema=schema, value=value, basis=Gold.Basis.IMPORTED)


def usual_models(variant: PromptVariant) -> dict[str, Any]:
    """What the form says as it is shown."""
    ensure_builtin()
    return {name: field.initial for name, field in TrialForm(variant=variant).fields.items()}


@pytest.mark.thorough
def test_the_whole_way_from_a_variant_to_its_trial() -> None:
    project = project_with_items(12)
    for item in project.items.all()[:3]:
        verify(item, "good")
    variant, client = variant_of(project), member_browser(project)
    address = reverse("prompt_try", args=[project.slug, variant.pk])
    assert "A model for each role" in client.get(address).content.decode()
    form = usual_models(variant)
    part = client.get(reverse("prompt_try_preview", args=[project.slug, variant.pk]), form)
    assert "does not read prompts" in part.content.decode()
    response = client.post(address, form)
    tried, beside = Run.objects.order_by("pk")
    assert response.headers["Location"] == reverse("prompt_trial", args=[project.slug, tried.pk])
    assert waiting_jobs(KIND) == [tried.pk, beside.pk]
    assert tried.trial
    assert beside.trial
    items = [set(run.debates.values_list("item", flat=True)) for run in (tried, beside)]
    assert items[0] == items[1]
    assert len(items[0]) == 10
    assert {item.pk for item in project.items.all()[:3]} <= items[0]
    going = client.get(response.headers["Location"]).content.decode()
    assert 'hx-trigger="every 2s"' in going
    run_slice(tried.pk, open_models=Script("Final Decision: bad").open, pace=QUICK)
    run_slice(beside.pk, open_models=Script("Final Decision: good").open, pace=QUICK)
    _shows_the_end(client, response.headers["Location"])


def _shows_the_end(client: Client, address: str) -> None:
    page = client.get(address).content.decode()
    assert "every 2s" not in page
    assert "10 of 10 items" in page
    assert "0 of 3" in page
    assert "3 of 3" in page
    assert page.count("<strong>differs</strong>") == 10


def test_a_retired_variant_is_offered_no_more() -> None:
    project = project_with_items(1)
    variant, client = variant_of(project), member_browser(project)
    client.post(reverse("variant_retire", args=[project.slug, variant.pk]))
    address = reverse("prompt_detail", args=[project.slug, "single-annotator"])
    page = client.get(address, {"version": variant.version.hash[:12]}).content.decode()
    assert "retired variant" in page
    assert "Try it on 10 items" not in page
    tried = client.get(
        reverse("prompt_try_preview", args=[project.slug, variant.pk]),
        usual_models(variant),
    )
    assert "retired" in tried.content.decode()


def test_a_trial_page_asks_no_more_for_more_items(django_assert_num_queries: Any) -> None:
    project = project_with_items(5)
    variant = variant_of(project)
    models = dict.fromkeys(prompts.trial_roles(variant)[1], ensure_builtin())
    plans = prompts.trial_plans(project, variant, models)
    tried, _ = prompts.start_trial(project=project, actor=None, plans=plans)
    assert Debate.objects.count() == 10
    client = member_browser(project, Role.VIEWER)
    address = reverse("prompt_trial", args=[project.slug, tried.pk])
    # session, user, bell, project; run, variant, the run beside; debates, gold, unread answers;
    # unread comments
    with django_assert_num_queries(12):
        assert client.get(address).status_code == 200
    wrong = reverse("prompt_trial", args=[project.slug, tried.pk + 1])
    assert client.get(wrong).status_code == 404


def test_without_scripts_the_cost_of_a_trial_is_shown_before_it_starts() -> None:
    project = project_with_items(1)
    variant, client = variant_of(project), member_browser(project)
    address = reverse("prompt_try", args=[project.slug, variant.pk])
    assert 'name="show"' in client.get(address).content.decode()
    shown = client.post(address, usual_models(variant) | {"show": "yes"})
    assert shown.status_code == 200
    assert "Estimates for both runs" in shown.content.decode()
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    "operations", [[Rename("good", "fine")], [Rename("good", "fine"), Add(LabelDef("new"))]]
)
def test_a_trial_outlasts_renamed_labels(operations: list[Operation]) -> None:
    project = project_with_items(2)
    for item in project.items.all():
        verify(item, "good")
    variant = variant_of(project)
    models = dict.fromkeys(prompts.trial_roles(variant)[1], ensure_builtin())
    tried, beside = prompts.start_trial(
        project=project, actor=None, plans=prompts.trial_plans(project, variant, models)
    )
    run_slice(tried.pk, open_models=Script("Final Decision: good").open, pace=QUICK)
    run_slice(beside.pk, open_models=Script("Final Decision: bad").open, pace=QUICK)

    changed(project, *operations)

    trial = get_trial(find_project(project.slug), tried.pk)
    sides = trial_sides(trial, trial_rows(trial, AnonymousUser()))
    assert [(side.right, side.known) for side in sides] == [(2, 2), (0, 2)]
