"""Names of protocols, roles, reasons and annotators."""

from importlib import import_module
from typing import Any

from django.apps import apps
from django.utils import translation

from apps.debates.naming import REASON_WORDS, annotator_words, reason_words, role_words
from apps.labels.models import Annotator, Kind
from labelhub.core.debate import PROTOCOLS
from labelhub.core.debate.routing import FLAGS, THRESHOLDS
from tests.cases import all_cases
from tests.factories.projects import ProjectFactory


def test_every_reason_of_the_core_has_words() -> None:
    assert {threshold.reason for threshold in THRESHOLDS} | set(FLAGS) <= set(REASON_WORDS)


@all_cases(
    ("role", "title"),
    [
        ("judge", "Judge"),
        ("annotator_b", "Annotator B"),
        ("first_annotator", "First annotator"),
        ("then_annotator_c", "Then annotator C"),
        ("of_another_version", "Of another version"),
    ],
)
def test_roles_have_titles(role: str, title: str) -> None:
    assert role_words(role) == title


def test_the_name_of_a_runs_annotator_is_in_the_language_of_the_page() -> None:
    stored = "Extractor, critic, judge (ECJ): Text matcher (demo) + a #2"
    with translation.override("de"):
        shown = [annotator_words(name) for name in (stored, "Ann: a", "Vote", "reviewer")]
    assert shown == [
        "Extraktor, Kritiker, Richter (ECJ): Text-Matcher (Demo) + a #2", "Ann: a", "Vote",
        "reviewer",
    ]  # fmt: skip
    assert annotator_words(stored) == stored


def test_a_reason_of_another_version_is_shown_by_its_code() -> None:
    assert reason_words("from_the_future") == "from the future"


def test_annotators_of_earlier_versions_get_the_names_of_this_one(db: Any) -> None:
    project = ProjectFactory.create()
    old = ["single: offline", "ecj: a + offline #2", "vote: a", "mine: a", "single: b"]
    for name in [*old, "Single annotator: b"]:
        Annotator.objects.create(project=project, kind=Kind.LLM, name=name)
    Annotator.objects.create(project=project, kind=Kind.CROWD, name="cot: a")
    migration = import_module("apps.debates.migrations.0004_annotator_names")
    migration.spell_out(apps, None)
    assert list(project.annotators.values_list("name", flat=True)) == [
        "Single annotator: Text matcher (demo)",
        "Extractor, critic, judge (ECJ): a + Text matcher (demo) #2",
        "Vote: a",
        "mine: a",
        "single: b",  # two rows stay two
        "Single annotator: b",
        "cot: a",
    ]
    titles = {name: info.title for name, info in PROTOCOLS.items() if not info.trials_only}
    assert titles == migration.TITLES
