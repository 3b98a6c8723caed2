"""The pages of prompts: what members read there, and the way from a variant to a trial."""

import re
from typing import Any

import pytest
from django.urls import reverse

from apps.accounts.roles import Role
from apps.debates.models import PromptVariant
from apps.debates.services import prompts
from apps.llm.models import PromptVersion
from tests.factories.debates import finished_debate, project_with_items, started_run, variant_of
from tests.factories.labels import queued_items
from tests.factories.projects import ProjectFactory, member_browser

pytestmark = pytest.mark.django_db
CRITIC = "ecj-critic"


def texts(key: str = CRITIC) -> dict[str, str]:
    return dict(prompts.find_prompt(key).sections)


def test_a_prompt_shows_its_text_escaped_and_what_it_renders_to(
    django_assert_num_queries: Any,
) -> None:
    project = ProjectFactory.create()
    queued_items(project, 1, text="Nice <b>place</b>", external_id="first")
    client = member_browser(project, Role.VIEWER)
    address = reverse("prompt_detail", args=[project.slug, CRITIC])
    # session, user, bell, project; runs by version, variants, versions; trials; item, debate;
    # schema, guideline
    with django_assert_num_queries(12):
        page = client.get(address).content.decode()
    assert "{{ extractor }}" in page
    assert "Nice &lt;b&gt;place&lt;/b&gt;" in page
    assert "<b>place" not in page
    assert "replies of other roles are samples" in page
    assert "the reply of the extractor, delimited" in page


def test_a_prompt_is_rendered_with_the_replies_of_a_real_debate() -> None:
    project = project_with_items(2)
    run = started_run(project, "ecj")
    debate = finished_debate(
        run, dict.fromkeys(("extractor", "critic", "judge"), "good"), text="I quote the text."
    )
    client = member_browser(project)
    address = reverse("prompt_rendered", args=[project.slug, CRITIC])
    part = client.get(address, {"q": debate.item.external_id}).content.decode()
    assert "I quote the text." in part
    assert ">sample<" not in part
    other = client.get(address, {"q": run.debates.last().item.external_id}).content.decode()  # type: ignore[union-attr]
    assert ">sample<" in other
    assert "No item has" in client.get(address, {"q": "xyzzy"}).content.decode()


@pytest.mark.thorough
def test_every_prompt_renders_for_a_project() -> None:
    project = project_with_items(1)
    client = member_browser(project)
    for group in prompts.list_prompts(project):
        for prompt in group.prompts:
            page = client.get(reverse("prompt_detail", args=[project.slug, prompt.key]))
            assert "untrusted__word" in page.content.decode(), prompt.prompt.name


def test_the_difference_of_two_versions_is_shown_line_by_line() -> None:
    project = project_with_items(1)
    variant = variant_of(project)
    client = member_browser(project, Role.VIEWER)
    address = reverse("prompt_diff", args=[project.slug, "single-annotator"])
    page = client.get(address, {"after": variant.version.hash[:12]}).content.decode()
    assert "0 lines removed, 1 added" in page
    assert "Be terse." in page
    assert '<span class="visually-hidden">added</span>' in page
    assert "the same text" in client.get(address).content.decode()
    assert client.get(address, {"after": "abcdef123456"}).status_code == 404


def test_a_variant_is_written_checked_and_kept() -> None:
    project = project_with_items(1)
    client = member_browser(project)
    address = reverse("variant_create", args=[project.slug, CRITIC])
    assert "You are the second of three readers" in client.get(address).content.decode()
    form = {"title": "kinder", **texts()}
    form["system"] = form["system"].replace("the one who disagrees", "the one who agrees")
    checked = client.post(address, {**form, "check": "yes"})
    assert checked.status_code == 200
    assert "The draft is valid" in checked.content.decode()
    assert not PromptVariant.objects.exists()
    response = client.post(address, form)
    made = PromptVariant.objects.select_related("version").get()
    assert response.headers["Location"].endswith(f"?version={made.version.hash[:12]}")
    page = client.get(response.headers["Location"]).content.decode()
    assert "the one who agrees" in page
    assert f"prompt_ecj/critic={made.version.hash}" in page
    again = client.post(address, {**form, "title": "same"})
    assert again.status_code == 422
    assert "has the same text" in again.content.decode()
    assert PromptVersion.objects.filter(name="ecj/critic").count() == 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("user", "{{ item }}\n\n{{ extractor", "Line 3"),
        ("user", "{{ item }} {{ extractor }}\n{{ other }}", "Line 2: It uses"),
        ("user", "{{ item }}", "Every input must be used, but &#x27;extractor&#x27; is not."),
        (
            "user",
            "{% if 0 %}{{ item }}{% endif %}{{ extractor }}",
            "does not show the text to label",
        ),
        ("system", "{% for a in range(10**9) %}{% endfor %}", "is not allowed in a prompt"),
        ("system", "## user\nhello", "Line 1: &#x27;## user&#x27; would begin a section"),
        ("system", "", "required"),
    ],
)
def test_what_is_refused_keeps_what_was_written(field: str, text: str, message: str) -> None:
    project = project_with_items(1)
    address = reverse("variant_create", args=[project.slug, CRITIC])
    given = {"title": "broken", **texts(), field: text}
    response = member_browser(project).post(address, given)
    page = response.content.decode()
    assert response.status_code == 422
    assert message in page
    assert "the one who disagrees" in page if field == "user" else "First your verdicts" in page
    assert not PromptVariant.objects.exists()


def test_the_list_links_every_prompt(django_assert_num_queries: Any) -> None:
    project = project_with_items(1)
    started_run(project, "ecj")
    variant = variant_of(project)
    client = member_browser(project, Role.VIEWER)
    # session, user, bell, project by membership, variants, runs by prompt
    with django_assert_num_queries(7):
        page = client.get(reverse("prompt_list", args=[project.slug])).content.decode()
    for group in prompts.list_prompts(project):
        for prompt in group.prompts:
            assert reverse("prompt_detail", args=[project.slug, prompt.key]) in page
    assert variant.title in page
    assert not re.search(r"[Pp]aper 0", page)
