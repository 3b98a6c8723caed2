"""Providers of a project: who may set them up and use them, and what becomes of their keys."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.sealing import unseal
from apps.debates.models import Run
from apps.debates.services import RunPlan, models_for_roles, start_run
from apps.debates.services.driving.worker import run_slice
from apps.llm import selectors, services
from apps.llm.models import ModelSpec, Provider
from apps.llm.probe import ProviderCheck
from apps.projects.models import Project
from apps.projects.services import delete_project
from labelhub.core.errors import InvalidInput, NotFound
from tests.factories.accounts import UserFactory, api_of, browser_of
from tests.factories.llm import ModelSpecFactory, ProviderFactory
from tests.factories.projects import ItemFactory, ProjectFactory, member
from tests.fakes.openai_server import FakeServer
from tests.llm.test_provider_pages import new_model

pytestmark = pytest.mark.django_db
KEY = "sk-very-secret-0123456789"
URL = "https://models.example.org/v1"
FORM = {
    "preset": "other",
    "name": "Lab",
    "base_url": URL,
    "key": KEY,
    "max_concurrency": "8",
    "connect_timeout": "5",
    "read_timeout": "60",
}


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create()


@pytest.fixture
def manager(project: Project) -> User:
    return member(project, Role.MANAGER)


@pytest.fixture
def browser(client: Client, manager: User) -> Client:
    client.force_login(manager)
    return client


@pytest.fixture
def rest(manager: User) -> APIClient:
    return api_of(manager)


def page(name: str, project: Project, *ids: int) -> str:
    return reverse(f"project_{name}", args=[project.slug, *ids])


def api(project: Project, *parts: object) -> str:
    return "/".join(["/api/v1/projects", project.slug, "providers", *map(str, parts), ""])


# Setting one up


def test_a_manager_adds_a_provider_with_its_models_on_one_page(
    browser: Client, project: Project
) -> None:
    sent = FORM | new_model("small")
    assert browser.post(page("provider_create", project), sent).status_code == 302
    provider = Provider.objects.get()
    sent = FORM | new_model("large", "1", "2")
    assert browser.post(page("provider_edit", project, provider.pk), sent).status_code == 302
    provider.refresh_from_db()
    assert (provider.project, provider.base_url) == (project, URL)
    assert unseal(provider.sealed_key or b"").decode() == KEY
    assert {model.name: model.prices_known for model in provider.models.all()} == {
        "small": False,
        "large": True,
    }
    listed = browser.get(page("provider_list", project)).content.decode()
    assert "the cost of a run is unknown" in listed


def test_a_kind_fills_in_what_it_needs(browser: Client, project: Project) -> None:
    shown = browser.get(page("provider_create", project) + "?kind=anthropic").content.decode()
    assert "https://api.anthropic.com/v1" in shown
    sent = FORM | {"preset": "anthropic"} | new_model("claude")
    browser.post(page("provider_create", project), sent)
    model = ModelSpec.objects.get()
    assert (model.structured, model.logprobs) == ("none", False)
    azure = browser.get(page("provider_create", project) + "?kind=azure").content.decode()
    assert "2024-10-21" in azure


def test_a_kind_that_needs_a_key_is_not_saved_without_one(
    browser: Client, project: Project
) -> None:
    sent = FORM | {"preset": "openai", "key": ""}
    answer = browser.post(page("provider_create", project), sent)
    assert answer.status_code == 422
    assert "Paste the key" in answer.content.decode()


def test_the_test_button_asks_before_anything_is_saved(
    browser: Client, project: Project, settings: Settings, model_server: FakeServer
) -> None:
    settings.LABELHUB_LLM_PRIVATE = True
    model_server.options.key = KEY
    model_server.options.models = ("small", "large")
    sent = FORM | new_model("small") | {"base_url": model_server.base_url, "test": "yes"}
    part = browser.post(
        page("provider_create", project), sent, headers={"HX-Request": "true"}
    ).content.decode()
    assert "&#x27;small&#x27; answers." in part
    assert '<option value="large">' in part
    assert "<form" not in part
    assert not Provider.objects.exists()


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"model-price_in": "1"}, "Model: This field is required."),
        ({"key": "line\nbreak"}, "Key: This cannot be a key"),
        ({"base_url": "ftp://x"}, "Base URL: &#x27;ftp://x&#x27;"),
    ],
)
def test_the_test_button_names_what_cannot_be_tested(
    browser: Client, project: Project, sent: dict[str, str], words: str
) -> None:
    create = page("provider_create", project)
    sent = FORM | {"test": "yes"} | sent
    part = browser.post(create, sent, headers={"HX-Request": "true"}).content.decode()
    assert words in part
    assert browser.post(create, sent).status_code == 422


def test_names_are_taken_once_in_a_project_and_free_in_others(
    browser: Client, project: Project
) -> None:
    ProviderFactory.create(name="Lab", project=ProjectFactory.create())
    ProviderFactory.create(name="Lab")
    create = page("provider_create", project)
    assert browser.post(create, FORM).status_code == 302
    again = browser.post(create, FORM)
    assert again.status_code == 422
    assert "already a provider of this name" in again.content.decode()


# Keys


def places_that_show(browser: Client, rest: APIClient, provider: Provider) -> Iterator[str]:
    project = provider.project
    assert project
    yield browser.get(page("provider_list", project)).content.decode()
    yield browser.get(page("provider_edit", project, provider.pk)).content.decode()
    yield rest.get(api(project)).content.decode()
    yield rest.get(api(project, provider.pk)).content.decode()
    operator = browser_of(UserFactory.create(is_superuser=True, is_staff=True))
    yield operator.get(reverse("provider_list")).content.decode()
    yield operator.get(reverse("admin:llm_provider_change", args=[provider.pk])).content.decode()


def test_a_key_is_shown_nowhere(
    browser: Client, rest: APIClient, project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answer = rest.post(api(project), {"kind": "openai", "key": KEY, "models": [{"name": "m"}]})
    assert answer.status_code == 201
    assert answer.json()["key"] == "stored"
    # A form that is shown again for an error does not repeat the key either.
    again = browser.post(page("provider_create", project), FORM | {"base_url": "ftp://x"})
    provider = Provider.objects.get()
    shown = [answer.content.decode(), again.content.decode(), caplog.text]
    shown += places_that_show(browser, rest, provider)
    assert bytes(provider.sealed_key or b"") not in {b"", KEY.encode()}
    assert not [text for text in shown if KEY in text or "very-secret" in text]


def test_a_stored_key_goes_to_no_other_server(rest: APIClient, project: Project) -> None:
    provider = services.save_provider(ProviderFactory.build(project=project, base_url=URL), key=KEY)
    for moved in ("https://evil.example.org/v1", "https://models.example.org:8443/v1"):
        answer = rest.patch(api(project, provider.pk), {"base_url": moved})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == "key"
    same = rest.patch(api(project, provider.pk), {"base_url": f"{URL}/beta"})
    assert same.json()["key"] == "stored"
    anew = rest.patch(api(project, provider.pk), {"base_url": moved, "key": "sk-new"})
    assert anew.status_code == 200


def test_a_stored_key_goes_to_no_other_server_when_two_change_it_at_once(project: Project) -> None:
    saved = services.save_provider(ProviderFactory.build(project=project, base_url=URL), key=KEY)
    first, second = Provider.objects.get(pk=saved.pk), Provider.objects.get(pk=saved.pk)
    first.base_url = second.base_url = "https://evil.example.org/v1"
    services.save_provider(first, key="sk-new")
    services.save_provider(second)
    saved.refresh_from_db()
    assert unseal(saved.sealed_key or b"") == b"sk-new"


def test_what_was_removed_does_not_return_with_an_older_form(project: Project) -> None:
    saved = services.save_provider(ProviderFactory.build(project=project, base_url=URL), key=KEY)
    first, second = Provider.objects.get(pk=saved.pk), Provider.objects.get(pk=saved.pk)
    services.remove_key(Provider.objects.get(pk=saved.pk))
    assert services.save_provider(first).key_state == Provider.KeyState.REMOVED
    services.remove_provider(first)
    with pytest.raises(NotFound):
        services.save_provider(second)


def test_rest_sends_headers_to_no_other_server(rest: APIClient, project: Project) -> None:
    provider = ProviderFactory.create(project=project, base_url=URL, headers={"X-Team": "hidden"})
    moved = {"base_url": "https://evil.example.org/v1", "key": "sk-new"}
    answer = rest.patch(api(project, provider.pk), moved)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "base_url"
    assert rest.patch(api(project, provider.pk), {"base_url": f"{URL}/beta"}).status_code == 200


def test_masked_headers_go_to_no_other_server(browser: Client, project: Project) -> None:
    provider = ProviderFactory.create(project=project, base_url=URL, headers={"X-Team": "hidden"})
    sent = FORM | {"base_url": "https://evil.example.org/v1", "headers": '{"X-Team": "••••••"}'}
    answer = browser.post(page("provider_edit", project, provider.pk), sent)
    assert answer.status_code == 422
    assert "Enter the values again" in answer.content.decode()


def test_a_project_cannot_name_a_variable_of_the_server(browser: Client, project: Project) -> None:
    sent = FORM | {"key": "", "api_key_env": "LABELHUB_LLM_API_KEY"}
    browser.post(page("provider_create", project), sent)
    assert Provider.objects.get().api_key_env == ""
    with pytest.raises(InvalidInput, match="Only operators may name"):
        services.save_provider(
            ProviderFactory.build(
                name="B", project=project, api_key_env="SOME_API_KEY", base_url=URL
            )
        )


def test_a_key_is_replaced_and_removed(rest: APIClient, project: Project) -> None:
    provider = services.save_provider(ProviderFactory.build(project=project, base_url=URL), key=KEY)
    rest.patch(api(project, provider.pk), {"key": "sk-other"})
    provider.refresh_from_db()
    assert unseal(provider.sealed_key or b"") == b"sk-other"
    assert rest.delete(api(project, provider.pk, "key")).status_code == 204
    assert rest.get(api(project, provider.pk)).json()["key"] == "removed"
    assert rest.delete(api(project, provider.pk, "key")).status_code == 409


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel", "x" * 1001])
def test_what_cannot_be_sent_is_no_key(project: Project, key: str) -> None:
    with pytest.raises(InvalidInput, match="key: "):
        services.save_provider(ProviderFactory.build(project=project, base_url=URL), key=key)


# Runs


def start(project: Project, model: ModelSpec) -> Run:
    ItemFactory.create(project=project)
    models = models_for_roles("single", {}, [model])
    return start_run(project=project, actor=None, plan=RunPlan(protocol="single", models=models))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("remove", "code", "words"),
    [
        (services.remove_key, "wrong_key", "was removed. Enter a new one"),
        (services.remove_provider, "provider_unreachable", "was removed, so its models cannot"),
    ],
)
def test_a_run_whose_key_or_provider_is_removed_pauses_and_says_why(
    project: Project, settings: Settings, remove: Any, code: str, words: str
) -> None:
    settings.LABELHUB_LLM_PRIVATE = True
    model = ModelSpecFactory.create(provider__project=project)
    services.save_provider(model.provider, key=KEY)
    run = start(project, model)
    remove(model.provider)
    run_slice(run.pk)
    run.refresh_from_db()
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, code)
    assert words in run.message


def test_a_worker_learns_of_a_removed_key(project: Project) -> None:
    model = ModelSpecFactory.create(provider__project=project, provider__base_url=URL)
    services.save_provider(model.provider, key=KEY)
    loaded = list(selectors.list_models(project))
    assert not selectors.keys_changed(loaded)
    services.remove_key(model.provider)
    assert selectors.keys_changed(loaded)


def test_a_project_is_deleted_with_its_providers_and_their_runs(
    project: Project, manager: User
) -> None:
    start(project, ModelSpecFactory.create(provider__project=project))
    delete_project(project=project, actor=manager)
    assert not Provider.objects.exists()


# Who may use whose


@pytest.fixture
def foreign() -> ModelSpec:
    return ModelSpecFactory.create(name="theirs", provider__project=ProjectFactory.create())


def test_a_project_uses_its_own_and_the_shared_models(project: Project, foreign: ModelSpec) -> None:
    ModelSpecFactory.create(name="shared")
    ModelSpecFactory.create(name="own", provider__project=project)
    gone = ModelSpecFactory.create(name="gone", provider__project=project)
    services.remove_provider(gone.provider)
    assert {model.name for model in selectors.list_models(project)} == {"shared", "own"}
    assert [model.name for model in selectors.list_models(None)] == ["shared"]


def test_services_refuse_the_models_of_another_project(
    project: Project, foreign: ModelSpec
) -> None:
    with pytest.raises(selectors.UnknownModelName, match="no model 'theirs'"):
        start(project, foreign)


def test_rest_lists_the_models_of_ones_own_projects(
    rest: APIClient, project: Project, foreign: ModelSpec
) -> None:
    ModelSpecFactory.create(name="own", provider__project=project)
    listed = rest.get("/api/v1/models/").json()["results"]
    assert [(row["name"], row["project"]) for row in listed] == [("own", project.slug)]
    of_project = rest.get(f"/api/v1/models/?project={project.slug}").json()
    assert of_project["count"] == 1
    other = foreign.provider.project
    assert other
    strange = rest.get(f"/api/v1/models/?project={other.slug}")
    assert strange.status_code == 404
    sent = {"protocol": "single", "model": "theirs"}
    refused = rest.post(f"/api/v1/projects/{project.slug}/runs/", sent)
    assert refused.status_code == 400


def test_a_model_of_the_project_comes_before_a_shared_one(project: Project) -> None:
    services.ensure_builtin()
    ModelSpecFactory.create(name="m", provider__name="Lab")
    own = ModelSpecFactory.create(name="m", provider__name="Lab", provider__project=project)
    assert services.known_model("Lab/m", project) == own
    assert selectors.default_models(project) == [own]


FAILED = "Its test failed before it was saved, so runs do not use it by default."


def chosen_by_default(browser: Client, project: Project) -> str:
    """The name of the model that a run takes when nobody chooses; the page of providers agrees."""
    (model,) = selectors.default_models(project)
    warned = FAILED in browser.get(page("provider_list", project)).content.decode()
    assert warned == (model.offline and project.providers.exists())
    return model.name


def save(
    browser: Client, address: str, form: dict[str, str], tested: dict[str, str] | None = None
) -> None:
    """Save ``form``, perhaps after a test of other settings."""
    stamp = ""
    if tested is not None:
        answer = browser.post(address, form | tested | {"test": "yes"})
        stamp = answer.context["stamp"]
        assert f'name="tested" value="{stamp}"' in answer.content.decode()
    assert browser.post(address, form | {"tested": stamp}).status_code == 302


@pytest.fixture
def lab(settings: Settings, model_server: FakeServer) -> dict[str, str]:
    """The form of a provider that passes its test."""
    settings.LABELHUB_LLM_PRIVATE = True
    model_server.options.key = KEY
    services.ensure_builtin()
    return FORM | new_model("small") | {"base_url": model_server.base_url}


WRONG = {"key": "sk-wrong"}


@pytest.mark.parametrize(
    ("saved", "tested", "default"),
    [
        ({}, None, "small"),
        ({}, {}, "small"),
        (WRONG, {}, "offline"),
        ({}, WRONG, "small"),
    ],
    ids=["not tested", "passed", "failed", "changed since it failed"],
)
def test_a_new_provider_becomes_the_default_unless_what_is_saved_failed_a_test(
    browser: Client,
    project: Project,
    lab: dict[str, str],
    saved: dict[str, str],
    tested: dict[str, str] | None,
    default: str,
) -> None:
    save(browser, page("provider_create", project), lab | saved, tested)

    assert chosen_by_default(browser, project) == default


@pytest.mark.django_db(transaction=True)  # what a test learns is stored by another thread
def test_a_saved_provider_is_the_default_unless_it_was_saved_after_its_test_failed(
    browser: Client, rest: APIClient, project: Project, lab: dict[str, str]
) -> None:
    save(browser, page("provider_create", project), lab)
    provider = project.providers.get()
    edit, check = (page(name, project, provider.pk) for name in ("provider_edit", "provider_check"))
    form = lab | {"key": "", "model-name": ""}

    found = []
    for change in (
        lambda: rest.post(api(project, provider.pk, "test"), {}),
        lambda: save(browser, edit, form | {"max_concurrency": "9"}),
        lambda: save(browser, edit, form, WRONG),
        lambda: browser.post(check),
        lambda: save(browser, edit, lab | {"base_url": URL, "model-name": ""}),
        lambda: browser.post(check),
        lambda: save(browser, edit, lab | WRONG | {"model-name": ""}, {}),
        lambda: browser.post(check),
        lambda: save(browser, edit, lab | {"model-name": ""}),
    ):
        change()
        found.append(chosen_by_default(browser, project))
    assert found == [
        "small", "small", "small", "small", "small", "small", "offline", "offline", "small",
    ]  # fmt: skip


@pytest.mark.parametrize("place", ["page", "REST"])
def test_a_test_says_nothing_of_what_was_saved_during_it(
    browser: Client, rest: APIClient, project: Project, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    fresh = ProviderFactory.build(project=project, base_url=URL)
    provider = services.save_provider(fresh, key=KEY, test_failed=True)

    def change_it(_tested: Provider, _model: ModelSpec | None = None) -> ProviderCheck:
        now = Provider.objects.get(pk=provider.pk)
        now.base_url = URL.replace("models", "elsewhere")
        services.save_provider(now, key=KEY, test_failed=True)
        return ProviderCheck(ok=True, found="It answers.")

    for module in ("views", "api"):
        monkeypatch.setattr(f"apps.llm.{module}.check_provider", change_it)

    if place == "page":
        browser.post(page("provider_check", project, provider.pk))
    else:
        rest.post(api(project, provider.pk, "test"), {})

    assert Provider.objects.get(pk=provider.pk).test_failed


# Switched off


def test_an_operator_switches_it_off(
    browser: Client, rest: APIClient, project: Project, settings: Settings
) -> None:
    UserFactory.create(is_superuser=True, username="rosa", first_name="", email="rosa@example.org")
    provider = services.save_provider(ProviderFactory.build(project=project, base_url=URL), key=KEY)
    settings.LABELHUB_PROJECT_PROVIDERS = False
    listed = browser.get(page("provider_list", project)).content.decode()
    assert "rosa@example.org" in listed
    assert "Add provider" not in listed
    for name, ids in (("provider_create", ()), ("provider_edit", (provider.pk,))):
        assert browser.post(page(name, project, *ids), FORM).status_code == 403
    assert browser.post(page("provider_check", project, provider.pk)).status_code == 403
    for answer in (
        rest.post(api(project), {"kind": "openai", "key": KEY}),
        rest.patch(api(project, provider.pk), {"name": "B"}),
        rest.post(api(project, provider.pk, "test"), {}),
    ):
        assert answer.status_code == 403
    # A key can always be taken back.
    assert rest.delete(api(project, provider.pk, "key")).status_code == 204


# Addresses


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:11434/v1", "http://localhost/v1", "http://10.0.0.1/v1",
            "http://[::1]/v1", "http://0x7f000001/v1", "http://169.254.169.254/v1"],
)  # fmt: skip
def test_a_project_reaches_public_addresses_only(
    rest: APIClient, project: Project, settings: Settings, url: str
) -> None:
    sent = {"kind": "other", "name": "Inside", "base_url": url}
    assert rest.post(api(project), sent).status_code == 422
    settings.LABELHUB_LLM_PRIVATE = True
    allowed = "169.254" not in url
    assert rest.post(api(project), sent).status_code == (201 if allowed else 422)


def test_a_name_that_leads_inside_is_refused_when_it_is_used(
    rest: APIClient, project: Project, model_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = [(2, 1, 6, "", ("127.0.0.1", model_server.port))]
    monkeypatch.setattr("apps.llm.addresses.socket.getaddrinfo", lambda *_, **__: inside)
    provider = ProviderFactory.create(
        project=project, base_url=f"http://models.example.org:{model_server.port}/v1"
    )
    found = rest.post(api(project, provider.pk, "test"), {}).json()
    assert not found["ok"]
    assert "in a private network" in found["words"]
    assert model_server.stats["requests"] == 0
