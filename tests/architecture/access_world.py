"""A small world with one of everything, and somebody of every kind who asks for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker
from rest_framework.test import APIClient

from apps.accounts.models import ApiKey, User
from apps.accounts.roles import ReviewerKind, Role
from apps.authors.models import Payout, Site, SiteKey
from apps.authors.services.sites import add_key, set_consent_text, set_features
from apps.debates.models import Debate, Experiment, Run
from apps.echo.models import CatalogueItem, Decision, Selection
from apps.echo.services.configuration import switch_echo
from apps.echo.services.experiments import create_experiment
from apps.exchange.models import ProjectImport, SavedExport
from apps.exchange.saved import files
from apps.projects.models import Project, SchemaChange
from apps.projects.selectors import current_schema
from apps.reviews.models import BulkJob, Comment, SavedFilter
from labelhub.core.echo.experiments.assignment import Arm
from labelhub.core.interview.features import starter_library
from tests.architecture.access_table import Level
from tests.factories.accounts import ApiKeyFactory, UserFactory, browser_of
from tests.factories.authors import asked, author_of, server_key
from tests.factories.exchange import webhook_of
from tests.factories.labels import open_item
from tests.factories.llm import ModelSpecFactory
from tests.factories.projects import ImportBatchFactory, ProjectFactory, invited, member

SECRET = "only-members-may-read-this"
MANAGERS = {"manager", "operator"}
MEMBERS = {
    Level.VIEW: {"viewer", "reviewer", *MANAGERS},
    Level.REVIEW: {"reviewer", *MANAGERS},
    Level.ADJUDICATE: {"manager", "operator"},
    Level.MANAGE: MANAGERS,
}
ACTORS = (
    "anonymous",
    "stranger",
    "other_manager",
    "viewer",
    "reviewer",
    "manager",
    "operator",
    "server",
)


@dataclass(frozen=True)
class World:
    """The project under test, ids of one of everything in it, and the people."""

    project: Project
    foreign: Project
    ids: dict[str, Any]
    people: dict[str, User]
    #: Ids of what belongs to no project, for addresses outside of projects.
    shared: dict[str, Any]
    keys: dict[str, ApiKey] = field(default_factory=dict)
    server_key: str = ""
    _signed_in: dict[str, str] = field(default_factory=dict)

    def kwargs(self, wanted: set[str], actor: str, level: Level) -> dict[str, Any]:
        """Values for an address's parts; for :attr:`Level.OWN` the actor's own key."""
        ids = self.ids if "slug" in wanted else self.ids | self.shared
        if level is Level.OWN and actor in self.keys:
            ids = ids | {"key_id": self.keys[actor].pk}
        return {name: ids[name] for name in wanted}

    def page_client(self, actor: str) -> Client:
        """A browser of ``actor``."""
        client = Client(raise_request_exception=False)
        if actor in self.people:
            client.cookies[settings.SESSION_COOKIE_NAME] = self._signed_in[actor]
        return client

    def sign_in(self) -> None:
        """Everybody, once."""
        for name, user in self.people.items():
            client = browser_of(user)
            self._signed_in[name] = client.cookies[settings.SESSION_COOKIE_NAME].value

    def rest_client(self, actor: str) -> APIClient:
        """A program of ``actor``."""
        client = APIClient(raise_request_exception=False)
        if actor == "server":
            client.credentials(HTTP_AUTHORIZATION=f"Bearer {self.server_key}")
        if actor in self.people:
            client.force_authenticate(self.people[actor])
        return client


@contextmanager
def shared_world(blocker: DjangoDbBlocker) -> Iterator[World]:
    """One world for all tests of a file, in a transaction around theirs: to build it takes longer
    than most of them. Each undoes what it has changed."""
    around: Any = transaction.atomic()
    around._from_testcase = True  # as Django's own tests: what must commit may stand within
    with blocker.unblock(), around:
        yield build_world()
        transaction.set_rollback(True)


def build_world() -> World:
    """Everything an address can name, in one project; and a second project beside it."""
    project, foreign = ProjectFactory.create(), ProjectFactory.create()
    people = {
        "stranger": UserFactory.create(),
        "other_manager": member(foreign, Role.MANAGER, ReviewerKind.EXPERT),
        "viewer": member(project, Role.VIEWER),
        "reviewer": member(project, Role.REVIEWER),
        "manager": member(project, Role.MANAGER, ReviewerKind.EXPERT),
        "operator": UserFactory.create(is_superuser=True, is_staff=True),
    }
    site = _site(project)
    ids = _one_of_each(project) | _one_of_each_on(site)
    model = ModelSpecFactory.create()
    shared = {"provider_id": model.provider_id, "model_id": model.pk}
    keys = {name: ApiKeyFactory.create(user=user) for name, user in people.items()}
    world = World(project, foreign, ids, people, shared, keys, server_key(site))
    world.sign_in()
    return world


def _one_of_each(project: Project) -> dict[str, Any]:
    item = open_item(project, text=SECRET)
    experiment = Experiment.objects.create(project=project, title=SECRET)
    run = Run.objects.create(
        project=project,
        protocol="single",
        schema=current_schema(project),
        experiment=experiment,
    )
    debate = Debate.objects.create(run=run, item=item, status=Debate.Status.FAILED, error=SECRET)
    model = ModelSpecFactory.create(name=SECRET, provider__project=project)
    webhook = webhook_of(project, description=SECRET)
    export = SavedExport.objects.create(
        project=project, format="csv", file_name=SECRET, status="done", manifest={"of": SECRET},
        stored_name="of-the-access-test",
    )  # fmt: skip
    files.write_file(export.stored_name, [SECRET.encode()], lambda _: None)
    return {
        "slug": project.slug,
        "item_id": item.pk,
        "change_id": _change(project).pk,
        "pk": item.pk,
        "run_id": run.pk,
        "experiment_id": experiment.pk,
        "webhook_id": webhook.pk,
        "export_id": export.pk,
        "import_id": ProjectImport.objects.create(file_name=SECRET).pk,
        "debate_id": debate.pk,
        "batch_id": ImportBatchFactory.create(project=project).pk,
        "user_id": member(project, Role.VIEWER).pk,
        "comment_id": Comment.objects.create(project=project, item=item, text=SECRET).pk,
        "key_id": ApiKeyFactory.create().pk,
        "provider_id": model.provider_id,
        "model_id": model.pk,
        "job_id": BulkJob.objects.create(project=project, action="promote").pk,
        "filter_id": SavedFilter.objects.create(project=project, name=SECRET, query={"q": "a"}).pk,
        "token": uuid4(),
        "uidb36": "1",
        "key": "nothing",
        "notification_id": 1,
        "invitation": "nothing",
        "invitation_id": invited(project, email="secret@example.org").pk,
        "rule_id": project.group_roles.create(group=SECRET, role=Role.VIEWER).pk,
        "session_id": 1,
        "organization_slug": "sso",
        "uuid": "1",
        "picture": "heatmap",
        "tab": "tests",
        "form": "csv",
    }


def _change(project: Project) -> SchemaChange:
    operation = {"op": "rename", "label": "good", "to": SECRET}
    schema = current_schema(project)
    return SchemaChange.objects.create(project=project, from_schema=schema, operations=[operation])


def _site(project: Project) -> Site:
    """A site of the project, whatever the project's task."""
    site = Site.objects.create(
        project=project, name="Shop", public_key="pk_shop", languages=["en"],
        chat_instructions=SECRET,
    )  # fmt: skip
    set_consent_text(site=site, texts={"en": "May we ask you?"}, actor=None)
    set_features(site=site, features=starter_library()["shopping"])
    switch_echo(site, on=True)
    return site


def _one_of_each_on(site: Site) -> dict[str, Any]:
    author = author_of(site, "customer")
    key, _ = add_key(site=site, purpose=SiteKey.Purpose.SIGN, actor=None)
    echo = switch_echo(site, on=True)
    item = CatalogueItem.objects.create(echo=echo, ref="tent", definition={"title": SECRET})
    selection = Selection.objects.create(
        echo=echo, author=author, number=0, selected=[],
        predicted={"urgency": {"value": SECRET, "sigma": 0.5}},
    )  # fmt: skip
    offer = Decision.objects.create(
        echo=echo, author=author, message_at=timezone.now(), policy="echo", item_ref="tent",
        item=item, vertical=SECRET,
    )  # fmt: skip
    arms = [Arm("echo", 0.5, "echo"), Arm("nothing", 0.5, "nothing")]
    experiment = create_experiment(echo, name=SECRET, arms=arms, control="nothing")
    return {
        "catalogue_item_id": item.pk,
        "ref": item.ref,
        "offer_experiment_id": experiment.pk,
        "echo_experiment_id": experiment.pk,
        "selection_uid": selection.uid,
        "offer_uid": offer.uid,
        "public_key": site.public_key,
        "build": "present",
        "name": "companion.js",
        "site_id": site.pk,
        "feature_key": "urgency",
        "author_uid": author.uid,
        "kid": key.kid,
        "uid": author.uid,
        "subject": author.subject,
        "qid": asked(author)[0].uid,
        "payout_id": Payout.objects.create(site=site, cents=0, rewards=0).pk,
    }
