"""The dataset card: a YAML header that the Hub reads, then words for people."""

import json
from collections.abc import Iterator

from apps.exchange.exporters.base import Source
from apps.exchange.exporters.huggingface.counting import Counts
from apps.labels.models import Gold, Kind
from apps.projects.selectors import current_guideline
from labelhub.core.schema import Schema

SIZES = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M",
         10_000_000: "1M<n<10M", 100_000_000: "10M<n<100M"}  # fmt: skip
LARGEST = "100M<n<1B"
CREATORS = {
    Kind.LLM: "machine-generated",
    Kind.CROWD: "crowdsourced",
    Kind.EXPERT: "expert-generated",
    Kind.AUTHOR: "expert-generated",
    Kind.MODEL: "machine-generated",
}
MARKED = str.maketrans({char: f"\\{char}" for char in "\\`*_{}[]<>#|$~!"})


def card_of(source: Source, counts: Counts) -> bytes:
    """The whole card, UTF-8."""
    parts = [_header(source, counts), *_text(source, counts)]
    return ("\n".join(parts) + "\n").encode()


def _header(source: Source, counts: Counts) -> str:
    category = source.schema.task.hub_category
    size = next((name for below, name in SIZES.items() if counts.rows < below), LARGEST)
    creators = dict.fromkeys(CREATORS[Kind(kind)] for kind in sorted(counts.annotators))
    lines = ["---", f"pretty_name: {_quoted(source.project.name)}"]
    lines += ["# The owner chooses the licence, such as cc-by-4.0:", "# license:"]
    lines += _listed("language", counts.language_codes())
    lines += _listed("task_categories", [category])
    lines += _listed("size_categories", [size])
    lines += _listed("annotations_creators", list(creators))
    lines += ["configs:", "- config_name: default", "  data_files:", "  - split: train"]
    return "\n".join([*lines, "    path: data/train.parquet", "---", ""])


def _listed(name: str, values: list[str]) -> list[str]:
    return [f"{name}:", *(f"- {_quoted(value)}" for value in values)] if values else []


def _quoted(text: str) -> str:
    """As JSON, which is YAML; without what YAML does not print."""
    return json.dumps("".join(c for c in text if c.isprintable()), ensure_ascii=False)


def _text(source: Source, counts: Counts) -> Iterator[str]:
    project, schema = source.project, source.schema
    yield f"# {_plain(project.name)}\n"
    if project.description:
        yield f"{_plain(project.description)}\n"
    if schema.question:
        yield f"Asked of each text: **{_plain(schema.question)}**\n"
    name = "labels" if schema.task.several else "label"
    yield (
        f"{counts.rows:,} items, {counts.decided:,} of them decided. `{name}` is the decision: "
        f"{schema.task.hub_words}; it is null where nobody decided. `decided_by` says how it came "
        "about. `meta` is JSON.\n"
    )
    yield from _labels(schema, counts)
    yield from _who(counts)
    yield from _guideline(source)
    yield from _limits(source, counts)


def _labels(schema: Schema, counts: Counts) -> Iterator[str]:
    if not schema.labels:
        return
    yield "## Labels\n\n| label | meaning | decided items |\n| --- | --- | ---: |"
    for label in schema.labels:
        told = [label.description]
        told += [f"Include: {label.include}"] if label.include else []
        told += [f"Exclude: {label.exclude}"] if label.exclude else []
        meaning = _plain(" ".join(part for part in told if part))
        yield f"| {_plain(label.name)} | {meaning} | {counts.values[label.name]:,} |"
    yield ""


def _who(counts: Counts) -> Iterator[str]:
    yield "## Who labelled\n"
    if counts.labels:
        yield "| kind | annotators | labels | could not tell | same as the decided value |"
        yield "| --- | ---: | ---: | ---: | --- |"
    for kind in (kind for kind in Kind if kind in counts.labels):
        same = counts.against_gold[kind].words() if kind in counts.against_gold else "not computed"
        number = len(counts.annotators[kind])
        said, none = counts.labels[kind], counts.abstained[kind]
        yield f"| {kind.label} | {number:,} | {said:,} | {none:,} | {same} |"
    for kind in (kind for kind in Kind if kind in counts.rejected):
        yield (
            f"\n- {kind.label}: {counts.rejected[kind]:,} suggestions rejected without a label; "
            "these are neither labels nor abstentions, and are left out"
        )
    for basis in (basis for basis in Gold.Basis if basis in counts.bases):
        yield f"\n- {basis.label} (`{basis.value}`): {counts.bases[basis]:,} items"
    if counts.people.n:
        yield (
            f"\nTwo people (crowd, experts) who labelled the same item agree on "
            f"{counts.people.words()}: the mean over items of the share of pairs that say exactly "
            "the same."
        )
    if counts.against_gold or counts.people.n:
        yield "\nIn brackets: Wilson's 95 % interval over items, and how many items."
    if counts.offline:
        yield "\nThe built-in offline model is a text matcher, not an LLM."
    yield ""


def _guideline(source: Source) -> Iterator[str]:
    guideline = current_guideline(source.project)
    version = f"Schema version {source.version.version}"
    if guideline is None:
        yield f"## Guideline\n\n{version}; there is no written guideline.\n"
        return
    yield f"## Guideline\n\n{version}, guideline version {guideline.version}:\n"
    yield "\n".join(f"> {_plain(line)}" for line in guideline.text.splitlines()) + "\n"


def _limits(source: Source, counts: Counts) -> Iterator[str]:
    yield "## Limits\n"
    if counts.decided < counts.rows:
        yield f"- Undecided, with null for a value: {counts.rows - counts.decided:,} items."
    yield "- Decided values rest on some of these labels: agreement with them is no accuracy."
    yield "- Whoever saw a suggestion before labelling tends to agree with it."
    if not source.only:
        yield "- Superseded and withdrawn labels are left out, and people have numbers for names."
    yield "- Texts and metadata are as they were imported: check them for personal data first."
    yield "\n## Licence\n\nTo be filled in by the owner, here and in the header.\n"


def _plain(text: str) -> str:
    """One line in which nothing is markup."""
    clean = "".join(char for char in " ".join(text.split()) if char.isprintable())
    return clean.translate(MARKED)
