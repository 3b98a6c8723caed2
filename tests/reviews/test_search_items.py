"""Every field of a search finds what it says, and names what it cannot use."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind
from apps.labels.models import ItemState
from apps.labels.services import DebateResult, assign_items, record_debate_results, record_label
from apps.projects.models import Item, Project
from apps.reviews.models import Comment, Decision
from apps.reviews.search.matching import matching_items, terms
from apps.reviews.search.query import FIELDS, Query, read_query
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.factories.agreement import decide
from tests.factories.labels import draft, machine, open_item, person
from tests.factories.projects import ASPECTS, ImportBatchFactory, ProjectFactory
from tests.factories.reviews import reviewer

pytestmark = pytest.mark.django_db


def found(project: Project, reader: User | None = None, **fields: Any) -> list[str]:
    """External ids of what the search finds, in the order of import."""
    query = read_query(fields, strict=True)
    items = matching_items(project, query, reader).order_by("pk")
    return [item.external_id for item in items]


def debate(
    item: Item, value: Any, *, reasons: tuple[str, ...] = (), uncertainty: float = 0.1
) -> None:
    """What a debate says."""
    new_label = draft(item, machine(item.project), value, action="proposed")
    result = DebateResult(
        item_id=item.pk, draft=new_label, reasons=reasons, uncertainty=uncertainty
    )
    record_debate_results(item.project, [result])


def test_words_are_found_in_text_id_and_what_was_said_before(project: Project) -> None:
    open_item(project, external_id="a", text="Cold soup, kind waiter.")
    open_item(
        project,
        external_id="b-7",
        text="Nothing.",
        context=[{"role": "user", "text": 'Suppe "kalt" überall'}],
    )
    open_item(project, external_id="c", text="服务很好，汤是冷的。50% _off")

    assert found(project, q="SOUP") == ["a"]
    assert found(project, q="kind soup") == ["a"]
    assert found(project, q='"kind soup"') == []
    assert found(project, q='"kind waiter"') == ["a"]
    assert found(project, q="b-7") == ["b-7"]
    assert found(project, q="kalt überall") == ["b-7"]
    assert found(project, q="role") == []  # how a context is stored is nobody's word
    assert found(project, q="冷的") == ["c"]
    assert found(project, q="50%") == ["c"]
    assert found(project, q="x%") == []


def test_labels_are_found_by_value_kind_and_annotator(project: Project) -> None:
    a, b, c = (open_item(project, external_id=name) for name in "abc")
    expert, crowd = person(project, ReviewerKind.EXPERT), person(project)
    record_label(draft(a, expert, "good"))
    first = record_label(draft(b, crowd, "good", action="accepted"))
    record_label(draft(b, crowd, "bad", action="fixed", supersedes_id=first.pk))
    debate(c, "bad")

    assert found(project, label="good") == ["a"]
    assert found(project, label="bad") == ["b", "c"]
    assert found(project, label="bad", kind="llm") == ["c"]
    assert found(project, label="bad", kind="expert") == []
    assert found(project, annotator=crowd.pk) == ["b"]
    assert found(project, annotator=crowd.pk, label="good") == []
    assert found(project, not_by=crowd.pk) == ["a", "c"]
    assert found(project, action="fixed") == ["b"]
    assert found(project, suggested="bad") == ["c"]
    assert found(project, gold="bad", basis="review") == ["b"]


def test_sets_are_found_by_each_of_their_names() -> None:
    project = ProjectFactory.create(definition=ASPECTS)
    both, none = (open_item(project, external_id=name) for name in ("both", "none"))
    crowd = person(project)
    record_label(draft(both, crowd, ["Food", "Service"]))
    record_label(draft(none, crowd, []))

    assert found(project, label="food") == ["both"]
    assert found(project, gold="Service") == ["both"]
    assert found(project, label="[]") == ["none"]
    with pytest.raises(InvalidInput, match="'Foo' is none of the labels: Food, Service"):
        found(project, label="Foo")


def test_doubt_is_found_by_reason_and_range(project: Project) -> None:
    sure, unsure = (open_item(project, external_id=name) for name in ("sure", "unsure"))
    debate(sure, "good", uncertainty=0.2)
    debate(unsure, "good", reasons=("tie", "dissent"), uncertainty=0.8)
    ItemState.objects.filter(item=sure).update(model_uncertainty=0.9)

    assert found(project, reason="tie") == ["unsure"]
    assert found(project, uncertainty_min="0.5") == ["unsure"]
    assert found(project, uncertainty_min=0.1, uncertainty_max=0.2) == ["sure"]
    assert found(project, learned_min=0.5) == ["sure"]
    assert found(project, stage="doubtful") == ["unsure"]
    assert found(project, stage="rest") == ["sure"]


def test_items_are_found_by_who_has_to_do_with_them(project: Project) -> None:
    a, b, c = (open_item(project, external_id=name) for name in "abc")
    somebody = reviewer(project)
    assign_items(project, [a.pk], [somebody])
    Comment.objects.create(project=project, item=b, author=somebody, text="What is this?")
    Comment.objects.create(project=project, item=c, text="Done.", resolved_at=timezone.now())
    Decision.objects.create(project=project, item=c, reviewer=somebody, action="skip")

    assert found(project, assigned=somebody.pk) == ["a"]
    assert found(project, assigned=0) == ["b", "c"]
    assert found(project, comments="open") == ["b"]
    assert found(project, comments="resolved") == ["c"]
    assert found(project, comments="any", comment="WHAT") == ["b"]
    assert found(project, somebody, comment="what") == []  # before they have answered it
    assert found(project, comment_by=somebody.pk) == ["b"]
    assert found(project, skipped_by=0) == ["c"]
    assert found(project, skipped_by=somebody.pk + 1) == []


def test_items_are_found_by_what_differs(project: Project) -> None:
    project.overlap = 2
    project.save()
    a, b, c = (open_item(project, external_id=name) for name in "abc")
    ada, other = person(project), person(project)
    for item, says in ((a, "good"), (b, "bad")):
        record_label(draft(item, ada, "good"))
        record_label(draft(item, other, says))
    debate(a, "bad")
    debate(c, "good")
    decide(c, "bad")

    assert found(project, differ="people") == ["b"]
    assert found(project, differ="suggestion") == ["a"]
    assert found(project, differ="gold") == ["a", "c"]


def test_days_count_from_their_beginning_to_their_end(project: Project) -> None:
    batch = ImportBatchFactory.create(project=project)
    item = open_item(project, external_id="a", batch=batch)
    moment = datetime(2026, 3, 31, 23, 59, tzinfo=UTC)
    Item.objects.filter(pk=item.pk).update(created_at=moment)
    record_label(draft(item, person(project), "good", created_at=moment))

    assert found(project, created_from="2026-03-31", created_to=date(2026, 3, 31)) == ["a"]
    assert found(project, created_to="2026-03-30") == []
    assert found(project, labelled_from="2026-04-01") == []
    assert found(project, decided_from="2020-01-01", decided_to="9999-12-31") == ["a"]
    assert found(project, batch=batch.pk, items=[item.pk]) == ["a"]


def test_a_search_stays_in_its_project(project: Project) -> None:
    open_item(ProjectFactory.create(), text="soup")

    assert found(project) == []
    assert found(project, q="soup") == []


def test_whoever_is_to_audit_blind_learns_nothing_from_a_search(project: Project) -> None:
    audited, other = (open_item(project, external_id=name) for name in ("audited", "other"))
    debate(audited, "good", reasons=("audit",), uncertainty=0.7)
    debate(other, "good", uncertainty=0.7)
    somebody = reviewer(project)

    for asked in (
        {"suggested": "good"},
        {"label": "good"},
        {"kind": "llm"},
        {"uncertainty_min": 0.5},
        {"not_by": 0},
        {"stage": "rest"},
        {"stage": "suggested"},
    ):
        assert found(project, somebody, **asked) == ["other"]
        assert found(project, None, **asked) == ["audited", "other"]
    assert found(project, somebody, stage="new") == ["audited"]
    assert found(project, somebody, reason="audit") == []
    assert found(project, somebody) == ["audited", "other"]


@all_cases(
    "field, value, words",
    [
        ("stage", "nonsense", "Must be one of waiting"),
        ("kind", ["llm"], "Must be one of llm"),
        ("uncertainty_min", "2", "number from 0 to 1"),
        ("learned_max", "nan", "number from 0 to 1"),
        ("annotator", "-1", "number of a row"),
        ("batch", 2**70, "number of a row"),
        ("assigned", True, "number of a row"),
        ("created_from", "31.3.2026", "as in 2026-03-31"),
        ("q", "x" * 201, "At most 200"),
        ("q", "a\0b", "NUL"),
        ("q", {"a": 1}, "Must be text"),
        ("label", "neutral", "is not offered"),
        ("gold", "neutral", "is not offered"),
        ("items", "1,x", "number of a row"),
        ("items", {"a": 1}, "list of items"),
        ("colour", "red", "no such field"),
    ],
)
def test_a_bad_value_is_named(project: Project, field: str, value: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        found(project, **{field: value})

    assert [fault["field"] for fault in refused.value.data["errors"]] == [field]


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_query({"stage": "x", "created_from": "2026-02-02", "created_to": "2026-02-01"})

    fields = [fault["field"] for fault in refused.value.data["errors"]]
    assert fields == ["stage", "created_to"]


plain = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20),
    st.lists(st.integers(), max_size=3), st.dictionaries(st.text(max_size=3), st.integers()),
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(FIELDS), plain))
def test_whatever_comes_is_read_or_refused_and_read_again_as_it_was(data: dict[str, Any]) -> None:
    try:
        query = read_query(data)
    except InvalidInput:
        return
    assert read_query(query.to_json(), strict=True) == query
    assert read_query({}) == Query()


@given(st.text(max_size=60))
def test_terms_are_parts_of_what_was_typed(words: str) -> None:
    assert all(term and term in words for term in terms(words))
