"""Projects, members and items."""

from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone
from factory.declarations import Sequence, SubFactory
from factory.django import DjangoModelFactory
from factory.helpers import post_generation
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.common.sealing import digest
from apps.projects.models import (
    Guideline,
    ImportBatch,
    Invitation,
    Item,
    LabelSchema,
    Membership,
    Project,
)
from tests.factories.accounts import UserFactory, api_of, browser_of

ASPECTS = {"task": "multi", "question": "", "labels": [{"name": "Food"}, {"name": "Service"}]}
MOODS = {"task": "single", "question": "", "labels": [{"name": "good"}, {"name": "bad"}]}


class ProjectFactory(DjangoModelFactory[Project]):
    """A project with version 1 of a single-label schema; ``definition=None`` for none."""

    slug = Sequence(lambda n: f"project-{n}")
    name = Sequence(lambda n: f"Project {n}")

    class Meta:
        model = Project
        skip_postgeneration_save = True

    @post_generation  # type: ignore[untyped-decorator]
    def definition(self: Any, create: bool, given: dict[str, Any] | None, **_: Any) -> None:
        """The label schema's JSON; by default good or bad."""
        if create:
            LabelSchemaFactory(project=self, definition=given or MOODS)


class LabelSchemaFactory(DjangoModelFactory[LabelSchema]):
    """One version of a schema."""

    project = SubFactory(ProjectFactory)
    version = 1
    definition = MOODS

    class Meta:
        model = LabelSchema


class GuidelineFactory(DjangoModelFactory[Guideline]):
    """One version of a guideline."""

    project = SubFactory(ProjectFactory)
    version = 1
    text = "Label what the text says."

    class Meta:
        model = Guideline


class MembershipFactory(DjangoModelFactory[Membership]):
    """A reviewer of the crowd, unless told otherwise."""

    project = SubFactory(ProjectFactory)
    user = SubFactory(UserFactory)
    role = Role.REVIEWER
    kind = ReviewerKind.CROWD

    class Meta:
        model = Membership


class ImportBatchFactory(DjangoModelFactory[ImportBatch]):
    """An import that is done."""

    project = SubFactory(ProjectFactory)
    file_name = "reviews.csv"
    format = "csv"
    status = ImportBatch.Status.DONE

    class Meta:
        model = ImportBatch


class ItemFactory(DjangoModelFactory[Item]):
    """One text."""

    project = SubFactory(ProjectFactory)
    external_id = Sequence(lambda n: f"item-{n}")
    text = Sequence(lambda n: f"Review number {n}: the food was good.")
    content_hash = Sequence(lambda n: f"{n:032x}")

    class Meta:
        model = Item


def member(project: Project, role: Role, kind: ReviewerKind = ReviewerKind.CROWD) -> User:
    """A new person with ``role`` in ``project``."""
    return MembershipFactory.create(project=project, role=role, kind=kind).user


def member_browser(project: Project, role: Role = Role.MANAGER) -> Client:
    """A browser in which a new member of ``project`` is signed in."""
    return browser_of(member(project, role))


def member_api(project: Project, role: Role = Role.MANAGER) -> APIClient:
    """REST as a new member of ``project``."""
    return api_of(member(project, role))


def invited(project: Project, link: str = "the-link", **fields: Any) -> Invitation:
    """An invitation of a reviewer, by a manager of the project; its link ends with ``link``."""
    usual = {"role": Role.REVIEWER, "expires_at": timezone.now() + timedelta(days=7)}
    if "created_by" not in fields:
        usual["created_by"] = member(project, Role.MANAGER)
    return Invitation.objects.create(project=project, digest=digest(link), **usual | fields)
