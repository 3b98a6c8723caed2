"""What is kept of agreement reports, for how long, and who may read what."""

import json
from datetime import date
from typing import Any

import pytest
from django.db import OperationalError, transaction

from apps.accounts.roles import Role
from apps.agreement.models import StoredReport
from apps.agreement.report.services import agreement_report
from apps.agreement.report.slices import Slice
from apps.authors.services.privacy import erase_author
from apps.labels.models import ItemState, Label
from apps.projects.models import Project
from tests.agreement.report_help import G, get, six_moods
from tests.factories.authors import TEXT, asked, author_of, site_with_features
from tests.factories.ledger import ledger
from tests.factories.projects import member_api

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return six_moods()


@pytest.mark.thorough
def test_a_report_is_kept_until_the_ledger_changes(
    project: Project, django_assert_max_num_queries: Any
) -> None:
    first = agreement_report(project)
    with django_assert_max_num_queries(7):
        assert agreement_report(project) == json.loads(json.dumps(first))

    ledger(project, {"crowd:zoe": [G]}, list(project.items.order_by("pk")[:1]))
    assert agreement_report(project)["sources"]["crowd"]["annotators"] == 3


@pytest.mark.thorough
def test_a_report_forgets_what_was_erased(project: Project) -> None:
    agreement_report(project)
    Label.objects.filter(annotator__name="writer").delete()

    found = agreement_report(project)["against_author"]
    assert {kind: shown["accuracy"]["reason"] for kind, shown in found.items()} == dict.fromkeys(
        found, "no_author"
    )


def test_stored_reports_name_no_author(project: Project) -> None:
    agreement_report(project)

    assert "writer" not in json.dumps(StoredReport.objects.get().body)


def test_a_report_that_cannot_be_kept_is_still_given(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_args: Any, **_fields: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(StoredReport.objects, "bulk_create", busy)

    assert get(project).json()["items"] == 6
    assert not StoredReport.objects.exists()


def test_only_the_newest_slices_are_kept(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.agreement.report.services.MOST_STORED", 2)
    for kind in ("llm", "crowd", "expert"):
        agreement_report(project, Slice(kind=kind))

    kept = set(StoredReport.objects.values_list("asked", flat=True))
    assert kept == {"kind=crowd", "kind=expert"}


def test_a_reviewer_does_not_learn_what_machines_say_of_items_to_audit_blind(
    project: Project,
) -> None:
    first = project.items.order_by("pk")[0]
    ItemState.objects.filter(item=first).update(reasons=["audit"])
    reviewer = member_api(project, Role.REVIEWER)

    report = reviewer.get(f"/api/v1/projects/{project.slug}/agreement/").json()

    assert report["sources"]["llm"]["labels"] == 5
    assert get(project).json()["sources"]["llm"]["labels"] == 6
    # What was computed for one person is never given to another.
    assert reviewer.get(f"/api/v1/projects/{project.slug}/agreement/").json() == report


def test_what_may_be_about_one_author_is_not_stored(project: Project) -> None:
    for part in (
        Slice(tag="user_id=alice@example.com"),
        Slice(since=date(2026, 1, 1)),
        Slice(annotator=project.annotators.get(name="ann").pk),
    ):
        agreement_report(project, part)

    assert not StoredReport.objects.exists()


@pytest.mark.thorough
def test_reports_of_an_earlier_ledger_are_forgotten(project: Project) -> None:
    agreement_report(project, Slice(kind="crowd"))
    ledger(project, {"crowd:zoe": [G]}, list(project.items.order_by("pk")[:1]))
    agreement_report(project)

    assert StoredReport.objects.count() == 1


def test_who_is_erased_is_in_no_stored_report() -> None:
    site = site_with_features()
    author = author_of(site, "customer-1")
    asked(author, TEXT, features=["urgency"])
    agreement_report(site.project)
    assert StoredReport.objects.exists()

    erase_author(author)

    assert not StoredReport.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_nor_in_one_that_was_measured_while_the_erasure_was_under_way() -> None:
    site = site_with_features()
    author = author_of(site, "customer-1")
    asked(author, TEXT, features=["urgency"])
    agreement_report(site.project)
    measured = StoredReport.objects.get()

    with transaction.atomic():
        erase_author(author)
        measured.save(force_insert=True)

    assert not StoredReport.objects.exists()
