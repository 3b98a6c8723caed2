"""Every text for people is translatable, and translated. docs/developers.md says how to do it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apps.common.catalogues import Entry, read_entries
from deploy.messages import ENGLISH_ERRORS, renewed, texts_in_use
from tests.architecture.plain_texts import (
    odd_phrases_of_python,
    plain_errors_of_python,
    plain_texts_of_python,
    plain_texts_of_template,
)
from tests.cases import all_cases

ROOT = Path(__file__).parents[2]
CATALOGUES = {
    path.parts[-3]: path for path in sorted((ROOT / "locale").glob("*/LC_MESSAGES/django.po"))
}

#: Always English: what developers and operators read.
ENGLISH = {
    "templates/common/api_docs.html", "templates/common/redoc.html",
    "templates/common/swagger_ui.html", "templates/common/design", "templates/common/design.html",
    "apps/common/design.py", "apps/common/commands.py", "apps/common/views.py",
    "apps/common/rows.py", "apps/common/api",
    "apps/common/charts/drawing.py",
    # What is in a log or a probe, and reasons for developers.
    "apps/common/audit.py", "apps/common/health.py", "apps/exchange/archive/tables.py",
    "apps/exchange/archive/file.py",
    # Names that browsers and directories send, and answers to directories.
    "apps/accounts/oidc.py", "apps/accounts/scim", "apps/accounts/sessions.py",
    # What a host copies, what a site says to authors in its six languages, and the demo's bot.
    "apps/authors/snippets.py", "apps/authors/translations.py", "apps/authors/widget",
    "apps/authors/services", "apps/dashboards/demo_site.py",
    "static/js/demo_shop.js", "static/js/site_preview.js", "static/js/swagger_ui.js",
    # Files for papers and programs, what is stored with them, and a question to a model.
    "apps/agreement/report/publication.py",
    "apps/exchange/exporters", "apps/exchange/manifests.py", "apps/exchange/shapes",
    "apps/exchange/webhooks/delivery_queue.py", "apps/exchange/webhooks/payloads.py",
    "apps/exchange/webhooks/transport.py", "apps/llm/probe.py", "apps/common/metrics.py",
    # Reasons that are stored.
    "apps/reviews/quality/requeue.py", "apps/reviews/queue/reviewer_status.py",
    # Errors, which REST shows too.
    "apps/exchange/readers", "apps/exchange/saved/files.py", "apps/exchange/values.py",
    "apps/common/checks.py", "apps/common/outages.py", "apps/common/s3.py",
    "apps/accounts/authentication.py", "apps/learning/learner.py",
    "apps/llm/addresses.py", "apps/llm/completion.py", "apps/llm/error_messages.py",
    "apps/llm/http_line.py", "apps/llm/streaming.py",
}  # fmt: skip
#: Parts of any app: REST, commands, the admin console, and what is stored.
ENGLISH_PARTS = {
    "api", "api.py", "consumers", "management", "migrations", "admin.py", "apps.py", "jobs.py",
    "serializers.py", "tasks.py",
}  # fmt: skip


def lies_in(name: str, places: set[str]) -> str:
    """The first of ``places`` that is this file or a folder above it."""
    return next((place for place in places if name == place or name.startswith(f"{place}/")), "")


def plain_texts_of_script(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of sentences and names; texts belong into the page (static/js/words.js)."""
    sentence = r"""(["'`])([A-Z][a-z]+ [^"'`]*)\1"""
    name = r"""(?:textContent = |"aria-label", )(["'`])([A-Z][a-z]+)\3"""
    for number, line in enumerate(source.splitlines(), start=1):
        for found in re.finditer(f"{sentence}|{name}", line.split("// ")[0]):
            yield number, found[2] or found[4]


def read_python(path: Path) -> Iterator[tuple[int, str]]:
    """Messages of services and selectors are errors or stored; their forms' labels are not."""
    source = path.read_text(encoding="utf-8")
    if path.name == "models.py":
        return plain_texts_of_python(source, "choices")
    if {"views", "views.py"} & set(path.parts):
        return plain_texts_of_python(source, "pieces")
    stored = {"services", "selectors", "services.py", "selectors.py"} & set(path.parts)
    return plain_texts_of_python(source, "labels" if stored else "")


def found_plain_texts() -> Iterator[tuple[str, str]]:
    """File, and line with text."""
    readers: tuple[tuple[str, str, Callable[[Path], Iterator[tuple[int, str]]]], ...] = (
        ("templates", "html", lambda path: plain_texts_of_template(path.read_text())),
        ("apps", "py", read_python),
        ("static/js", "js", lambda path: plain_texts_of_script(path.read_text())),
    )
    for folder, suffix, read in readers:
        for path in sorted((ROOT / folder).rglob(f"*.{suffix}")):
            name = str(path.relative_to(ROOT))
            if lies_in(name, ENGLISH) or ENGLISH_PARTS & set(path.parts):
                continue
            for line, text in read(path):
                if not is_sample(name, text):
                    yield name, f"{name}:{line}: {' '.join(text.split())[:90]}"


def test_dates_of_pages_have_the_form_of_the_language() -> None:
    named = {
        "DATE_FORMAT",
        "SHORT_DATE_FORMAT",
        "DATETIME_FORMAT",
        "MONTH_DAY_FORMAT",
        "H:i",
        "H:i:s",
        "Y-m-d",
        "c",
    }
    for path in (ROOT / "templates").rglob("*.html"):
        found = set(re.findall(r"\|date:[\"']([^\"']+)", path.read_text()))
        assert found <= named, path.name


def test_errors_of_pages_are_phrases() -> None:
    found = []
    for path in sorted((ROOT / "apps").rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if ENGLISH_ERRORS.search(name):
            continue
        found += [
            f"{name}:{line}: {text}" for line, text in plain_errors_of_python(path.read_text())
        ]
    assert not found, "\n".join(found)


def test_phrases_have_the_values_of_their_patterns() -> None:
    sources = [*(ROOT / "apps").rglob("*.py"), *(ROOT / "labelhub").rglob("*.py")]
    found = [odd for path in sources for odd in odd_phrases_of_python(path.read_text())]
    assert not found


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('raise NotFound(f"There is no {thing}.")', ["There is no …."]),
        ('raise InvalidInput.at("uses", f"It is for {one}.")', ["It is for …."]),
        ('raise InvalidInput.at("uses", "An invitation is for one.")', []),
        ('raise NotFound("There is no %(thing)s.", thing=thing)', []),
        ('form.add_error("name", "It is taken.")', ["It is taken."]),
        ('forms.ValidationError(gettext("It is taken."))', []),
        ('raise ValueError("Must be a list of texts.")', []),
    ],
)
def test_plain_errors_of_python_are_found(source: str, texts: list[str]) -> None:
    assert [text for _, text in plain_errors_of_python(source)] == texts


def is_sample(name: str, text: str) -> bool:
    """What an author might write, to try a site."""
    from apps.authors.views.dashboard import SAMPLES  # noqa: PLC0415 - only of this file

    return name == "apps/authors/views/dashboard.py" and text in dict(SAMPLES).values()


def test_every_text_goes_through_gettext() -> None:
    found = [line for _, line in found_plain_texts()]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("<p>Save it</p>", ["Save it"]),
        ('<p>{% translate "Save it" %}</p>', []),
        ("{% blocktranslate %}Save {{ it }}{% endblocktranslate %}", []),
        ('<a title="Save it"></a>', ['title="Save it"']),
        ("<a title=\"{% translate 'Save it' %}\"></a>", []),
        ('{% include "a.html" with title="Saved" tone="ok" %}', ['"Saved"']),
        ('{% include "a.html" with title=_("Saved") %}', []),
        ('{{ n }}{{ n|pluralize }}, {{ day|date:"j M Y" }}', ["|pluralize"]),
        ("<code>pip install</code>{# Save #}{% if a > b %} · 12 %{% endif %}", []),
    ],
)
def test_plain_texts_of_templates_are_found(source: str, texts: list[str]) -> None:
    assert [text for _, text in plain_texts_of_template(source)] == texts


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('messages.success(request, "It is saved.")', ["It is saved."]),
        ('messages.success(request, f"{name} is saved.")', ["… is saved."]),
        ('messages.success(request, _("It is saved."))', []),
        ('CharField(label="Name", initial="Anna")', ["Name"]),
        ('Column("Answers", numeric=True)', ["Answers"]),
        ('class Kind(models.TextChoices):\n    ONE = "one", "One"', ["One"]),
        ('raise NotFound("There is no such item.")', []),
        ('"""It is a module."""\nlogger.info("It is saved.")', []),
    ],
)
def test_plain_texts_of_python_are_found(source: str, texts: list[str]) -> None:
    assert [text for _, text in plain_texts_of_python(source)] == texts


def test_phrases_that_a_view_builds_a_sentence_of_are_found() -> None:
    source = 'words = {True: "is included", False: "x"}\nmessages.info(request, f"{a} {b}.")'
    assert [text for _, text in plain_texts_of_python(source, "pieces")] == ["is included"]


def test_catalogues_hold_the_texts_in_use_and_no_others() -> None:
    for path in CATALOGUES.values():
        source = path.read_text(encoding="utf-8")
        assert renewed(source) == source, f"Run `make messages`: {path.relative_to(ROOT)}"


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_text_is_translated(language: str) -> None:
    entries = entries_of(language)
    assert [entry.id for entry in entries if not entry.is_complete] == []
    assert [entry.id for entry in entries if "fuzzy" in entry.flags] == []


@pytest.mark.parametrize("language", CATALOGUES)
def test_translations_keep_placeholders_and_markup(language: str) -> None:
    wrong = [
        f"{entry.id} → {translation}"
        for entry in entries_of(language)
        for translation in entry.translations
        if parts_of(translation) not in (parts_of(entry.id), parts_of(entry.plural))
    ]
    assert not wrong, "\n".join(wrong)


def entries_of(language: str) -> list[Entry]:
    """The entries without the header."""
    source = CATALOGUES[language].read_text(encoding="utf-8")
    return [entry for entry in read_entries(source) if entry.id]


def parts_of(text: str) -> set[str]:
    """Placeholders, doubled per cent signs, elements and code."""
    return set(re.findall(r"%\(\w+\)s|%%|\{\w+\}|<code[^>]*>.*?</code>|<[^>]*>", text))


#: The words of the glossary that nobody should read, with the texts in which they are right.
NOT_SAID: dict[str, set[str]] = {
    r"people per item|known answers?|cannot tell|none present|doubtful first": set(),
    r"what you promise|safe automation|whole set right|who holds what": set(),
    r"may be chance|sent away|said to be helpful|second thoughts": set(),
    r"no llm|offline model|ledger|paper \d{3}": set(),
    r"\bmake an?\b|(?<!too )\bnarrow\b|\bticked\b|all that match|\bgo on\b": set(),
}


@all_cases("pattern", list(NOT_SAID))
def test_texts_use_the_words_of_the_glossary(pattern: str) -> None:
    found = {
        entry.id
        for entry, _files in texts_in_use().values()
        if re.search(pattern, f"{entry.id} {entry.plural}", re.IGNORECASE)
    }
    assert found == NOT_SAID[pattern]
