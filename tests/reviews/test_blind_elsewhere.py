"""Audits are blind on every page and address that tells of debates, until they are answered."""

import pytest
from django.urls import reverse

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.debates.models import Debate, Run, Turn
from apps.debates.selectors import count_choices
from apps.debates.services import prompts
from apps.labels.models import ItemState
from apps.llm.services import ensure_builtin
from apps.projects.models import Item, Project
from tests.debates.routing_world import debated
from tests.factories.accounts import api_of, browser_of
from tests.factories.debates import finished_debate, started_run, variant_of
from tests.factories.labels import queued_items
from tests.factories.llm import PromptVersionFactory
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, reviewer

pytestmark = pytest.mark.django_db
PROJECT = {"review_scope": "doubtful"}


@pytest.fixture
def audited(project: Project) -> Item:
    (item,) = queued_items(project, 1)
    debated(item, "good", reasons=["audit"])
    return item


def seen_by(user: User, item: Item) -> dict[str, int | bool]:
    """What each address shows of the item's debate: its status, or whether it names it."""
    debate = Debate.objects.get(item=item)
    slug, run = item.project.slug, debate.run_id
    browser, api = browser_of(user), api_of(user)
    link = f"/p/{slug}/debates/{debate.pk}/"
    return {
        "debate": browser.get(link).status_code,
        "calls": browser.get(f"{link}calls/").status_code,
        "choices": count_choices(debate.run, user).statuses.total(),
        "run": link in browser.get(f"/p/{slug}/runs/{run}/").content.decode(),
        "item": link in browser.get(f"/p/{slug}/items/{item.pk}/").content.decode(),
        "rest": api.get(f"/api/v1/debates/{debate.pk}/").status_code,
        "rest list": bool(api.get(f"/api/v1/runs/{run}/debates/").data["count"]),
        "file": bool(b"".join(browser.get(f"/p/{slug}/runs/{run}/transcripts/"))),
    }


HIDDEN = {
    "debate": 404, "calls": 404, "choices": 0, "run": False, "item": False, "rest": 404,
    "rest list": False, "file": False,
}  # fmt: skip
SHOWN = {
    "debate": 200, "calls": 200, "choices": 1, "run": True, "item": True, "rest": 200,
    "rest list": True, "file": True,
}  # fmt: skip


@pytest.mark.thorough
def test_a_reviewer_finds_the_debate_nowhere_before_answering(
    project: Project, person: User, audited: Item
) -> None:
    assert seen_by(person, audited) == HIDDEN
    answer(claim(project, person), person, "bad")
    assert seen_by(person, audited) == SHOWN


def test_a_manager_reads_it(project: Project, audited: Item) -> None:
    assert seen_by(member(project, Role.MANAGER), audited) == SHOWN


def rendered(user: User, item: Item) -> str:
    """What the page of a prompt shows for the item, with the replies of its debate if any."""
    browser = browser_of(user)
    address = reverse("prompt_rendered", args=[item.project.slug, "ecj-critic"])
    return browser.get(address, {"q": item.external_id}).content.decode()


def test_a_prompt_is_not_rendered_with_what_a_reviewer_is_yet_to_audit(project: Project) -> None:
    (item,) = queued_items(project, 1)
    answers = dict.fromkeys(("extractor", "critic", "judge"), "good")
    finished_debate(started_run(project, "ecj"), answers, text="I call it good.")
    ItemState.objects.filter(item=item).update(reasons=["audit"], queued=True)
    person = reviewer(project)
    assert "I call it good." not in rendered(person, item)
    assert "I call it good." in rendered(member(project, Role.MANAGER), item)
    answer(claim(project, person), person, "bad")
    assert "I call it good." in rendered(person, item)


def test_a_trial_of_a_prompt_leaves_out_what_a_reviewer_is_yet_to_audit(
    project: Project, person: User, audited: Item
) -> None:
    variant = variant_of(project)
    models = dict.fromkeys(prompts.trial_roles(variant)[1], ensure_builtin())
    plans = prompts.trial_plans(project, variant, models)
    tried, _ = prompts.start_trial(project=project, actor=None, plans=plans)
    Debate.objects.filter(run__trial=True).update(status="done", value="good")
    client = browser_of(person)
    for name in ("prompt_trial", "prompt_trial_part"):
        page = client.get(reverse(name, args=[project.slug, tried.pk])).content.decode()
        assert audited.external_id not in page
        assert "1 item is left out until you have labelled it" in page
    answer(claim(project, person), person, "bad")
    page = client.get(reverse("prompt_trial", args=[project.slug, tried.pk])).content.decode()
    assert audited.external_id in page
    assert "left out" not in page


def test_troubles_tell_a_reviewer_only_of_debates_that_they_may_read(
    project: Project, audited: Item
) -> None:
    debate = Debate.objects.get(item=audited)
    Turn.objects.create(
        debate=debate,
        step="annotator",
        role="annotator",
        model=ensure_builtin(),
        prompt=PromptVersionFactory.create(),
        messages=[],
        status="failed",
        note="out of memory",
    )
    Run.objects.filter(pk=debate.run_id).update(turns_count=1)
    link = f"/p/{project.slug}/debates/{debate.pk}/"
    client = browser_of(reviewer(project))
    for rest in ("", "troubles/"):
        page = client.get(f"/p/{project.slug}/runs/{debate.run_id}/{rest}").content.decode()
        assert "out of memory" not in page
        assert link not in page
    client.force_login(member(project, Role.MANAGER))
    page = client.get(f"/p/{project.slug}/runs/{debate.run_id}/troubles/").content.decode()
    assert "out of memory" in page
    assert link in page


@pytest.mark.parametrize("stage", ["new", "suggested"])
def test_a_list_narrowed_by_stage_says_no_more_than_its_rows(
    project: Project, audited: Item, stage: str
) -> None:
    api = api_of(reviewer(project))
    address = f"/api/v1/projects/{project.slug}/items/?stage={stage}"
    shown = [row["stage"] for row in api.get(address).json()["results"]]
    assert shown == (["new"] if stage == "new" else [])
    api.force_authenticate(member(project, Role.MANAGER))
    assert len(api.get(address).json()["results"]) == (stage == "suggested")
