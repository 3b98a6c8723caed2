"""A folder for the Hugging Face Hub, zipped: Parquet that ``datasets`` reads, and its card.

``data/train.parquet`` carries the types of its columns as ``datasets`` has them (class labels by
name) in the key ``huggingface`` of the Arrow schema. People's names are replaced by numbers.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any
from zipfile import ZipFile, ZipInfo

from django.utils.translation import gettext_lazy as _

from apps.exchange.exporters.base import (
    HIDDEN,
    Chunks,
    ExportFormat,
    Row,
    Sink,
    Source,
    independent_labels,
    parquet_pieces,
    quotes_of,
    valid_labels,
)
from apps.labels.models import MACHINES, PEOPLE, Gold, Kind
from apps.projects.selectors import current_guideline
from labelhub.core.agreement.intervals import wilson
from labelhub.core.schema import Schema, Value, value_key, value_words

#: Read by ``datasets`` 2 to 5: lists of records as lists, lists of one type as ``Sequence``.
STRING, NUMBER = {"dtype": "string", "_type": "Value"}, {"dtype": "float64", "_type": "Value"}
WHOLE, TRUTH = {"dtype": "int64", "_type": "Value"}, {"dtype": "bool", "_type": "Value"}
TURNS = [{"role": STRING, "text": STRING}]
QUOTES = [{"label": STRING, "text": STRING, "start": WHOLE, "end": WHOLE}]


#: Annotations of one row.
Labels = Sequence[Mapping[str, Any]]


class Columns:
    """The columns of one export, and its rows in them."""

    def __init__(self, schema: Schema, *, annotated: bool) -> None:
        """``annotated``: with all labels, beside the decided value."""
        self.schema = schema
        self.answer = "labels" if schema.task.several else "label"
        self._classes = {label.name: number for number, label in enumerate(schema.labels)}
        self._numbers: dict[tuple[str, str], int] = {}
        self.features = self._features(annotated=annotated)

    def record(self, row: Row, labels: Labels) -> dict[str, Any]:
        """One row with its annotations ``labels``; an undecided item has no label."""
        history = row.get("gold_history") or [{}]
        meta = {key: value for key, value in row["meta"].items() if key not in HIDDEN}
        content = ("id", "text", "context", "question", "options")
        record = {
            **{name: row[name] for name in content},
            self.answer: self._value(row.get("gold")),
            "decided_by": history[-1].get("basis") if row.get("gold") is not None else None,
            "meta": json.dumps(meta, ensure_ascii=False) if meta else "",
        }
        if "annotations" in self.features:
            record["annotations"] = [self._annotation(label, row["text"]) for label in labels]
        return record

    def _features(self, *, annotated: bool) -> dict[str, Any]:
        names = {"names": list(self.schema.names), "_type": "ClassLabel"}
        kinds: dict[str, Any] = {
            "class": names,
            "classes": {"feature": names, "_type": "Sequence"},
            "number": NUMBER,
            "text": STRING,
        }
        answer = kinds[self.schema.task.column]
        features = {
            "id": STRING,
            "text": STRING,
            "context": TURNS,
            "question": STRING,
            "options": {"feature": STRING, "_type": "Sequence"},
            self.answer: answer,
            "decided_by": STRING,
            "meta": STRING,
        }
        annotation = {
            "annotator": STRING,
            "kind": STRING,
            self.answer: answer,
            "abstained": TRUTH,
            "confidence": NUMBER,
            "rationale": STRING,
            "evidence": QUOTES,
            "seconds": NUMBER,
            "created_at": STRING,
        }
        return {**features, "annotations": [annotation]} if annotated else features

    def _value(self, value: Value | None) -> Any:
        """A class by its number; a class that the schema no longer has is left out."""
        if self.schema.task.column == "class":
            return self._classes.get(str(value))
        if isinstance(value, list):
            return [self._classes[name] for name in value if name in self._classes]
        return value

    def _annotation(self, label: Mapping[str, Any], text: str) -> dict[str, Any]:
        return {
            "annotator": self._annotator(label),
            "kind": label["kind"],
            self.answer: self._value(label["value"]),
            "abstained": label["abstained"],
            "confidence": label["confidence"],
            "rationale": label["rationale"],
            "evidence": [quote._asdict() for quote in quotes_of(label, text)],
            "seconds": label["seconds"],
            "created_at": label["created_at"],
        }

    def _annotator(self, label: Mapping[str, Any]) -> str:
        """Machines by name; people by a number, which is the same in the whole file."""
        kind, name = label["kind"], label["annotator"]
        if kind in MACHINES:
            return f"{name} ({label['note']})" if "note" in label else str(name)
        number = self._numbers.setdefault((kind, name), len(self._numbers) + 1)
        return f"{kind} {number}"


def _column_type(feature: Any) -> Any:
    if isinstance(feature, list):
        return [{name: _column_type(inner) for name, inner in feature[0].items()}]
    if feature["_type"] == "Sequence":
        return [_column_type(feature["feature"])]
    return "int64" if feature["_type"] == "ClassLabel" else feature["dtype"]


LANGUAGE = re.compile(r"[a-z]{2,3}")
MOST_LANGUAGES = 50


@dataclass(slots=True)
class Share:
    """A mean over items of shares from 0 to 1."""

    n: int = 0
    total: float = 0.0

    def add(self, share: float) -> None:
        self.n += 1
        self.total += share

    def words(self) -> str:
        """Mean, interval and n. Wilson's interval assumes shares of 0 or 1, which vary most; for
        other shares it is too wide rather than too narrow."""
        low, high = wilson(round(self.total), self.n)
        return f"{self.total / self.n:.0%} ({low:.0%} to {high:.0%}, n = {self.n:,})"


@dataclass(slots=True)
class Counts:
    """Running counts, of bounded size except for the names of annotators."""

    schema: Schema
    rows: int = 0
    decided: int = 0
    values: Counter[str] = field(default_factory=Counter)
    bases: Counter[str] = field(default_factory=Counter)
    annotators: dict[str, set[str]] = field(default_factory=dict)
    labels: Counter[str] = field(default_factory=Counter)
    abstained: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    people: Share = field(default_factory=Share)
    against_gold: dict[str, Share] = field(default_factory=dict)
    languages: Counter[str] = field(default_factory=Counter)
    offline: bool = False

    def add(self, row: Row, labels: Labels) -> None:
        """Count one row and its annotations ``labels``."""
        self.rows += 1
        self._add_language(row["meta"])
        gold = row.get("gold")
        if gold is not None:
            self.decided += 1
            if self.schema.labels:
                # A point that the scale no longer has is counted by its number.
                names = self.schema.names_in(gold)
                self.values.update(names or ([] if gold == [] else [value_words(gold)]))
            self.bases[(row.get("gold_history") or [{"basis": "imported"}])[-1]["basis"]] += 1
        valid = valid_labels(row.get("labels", []))
        self.rejected.update(label["kind"] for label in valid if label["rejected"])
        for label in labels:
            self._add_label(label)
        if not self.schema.task.written:
            self._compare(labels, gold)

    def language_codes(self) -> list[str]:
        """The languages of the items, if each item names one."""
        known = sum(self.languages.values()) == self.rows
        return sorted(self.languages) if known and len(self.languages) <= MOST_LANGUAGES else []

    def _add_language(self, meta: Mapping[str, Any]) -> None:
        language = str(meta.get("language") or meta.get("lang") or "").lower()
        if LANGUAGE.fullmatch(language) and len(self.languages) <= MOST_LANGUAGES:
            self.languages[language] += 1

    def _add_label(self, label: Mapping[str, Any]) -> None:
        kind = label["kind"]
        self.annotators.setdefault(kind, set()).add(label["annotator"])
        self.labels[kind] += 1
        self.abstained[kind] += label["abstained"]
        self.offline = self.offline or bool(label.get("offline"))

    def _compare(self, labels: Labels, gold: Any) -> None:
        keys = [(label["kind"], value_key(label["value"])) for label in labels
                if label["value"] is not None]  # fmt: skip
        pairs = list(combinations([key for kind, key in keys if kind in PEOPLE], 2))
        if pairs:
            self.people.add(sum(first == other for first, other in pairs) / len(pairs))
        if gold is None:
            return
        truth = value_key(gold)
        for kind in {kind for kind, _key in keys}:
            own = [key == truth for key_kind, key in keys if key_kind == kind]
            self.against_gold.setdefault(kind, Share()).add(sum(own) / len(own))


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


def _front_matter(source: Source, counts: Counts) -> str:
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
    """The text as JSON, which is YAML, without unprintable characters."""
    return json.dumps("".join(c for c in text if c.isprintable()), ensure_ascii=False)


def _body(source: Source, counts: Counts) -> Iterator[str]:
    project, schema = source.project, source.schema
    yield f"# {_plain(project.name)}\n"
    if project.description:
        yield f"{_plain(project.description)}\n"
    if schema.question:
        yield f"The question about each text: **{_plain(schema.question)}**\n"
    name = "labels" if schema.task.several else "label"
    yield (
        f"{counts.rows:,} items, {counts.decided:,} of them decided. `{name}` is the decision: "
        f"{schema.task.hub_words}; it is null for undecided items. `decided_by` is the basis of "
        "the decision. `meta` is JSON.\n"
    )
    yield from _label_table(schema, counts)
    yield from _annotator_table(counts)
    guideline = current_guideline(project)
    version = f"Schema version {source.version.version}"
    if guideline is None:
        yield f"## Guideline\n\n{version}; there is no written guideline.\n"
    else:
        yield f"## Guideline\n\n{version}, guideline version {guideline.version}:\n"
        yield "\n".join(f"> {_plain(line)}" for line in guideline.text.splitlines()) + "\n"
    yield from _limits(source, counts)


def _label_table(schema: Schema, counts: Counts) -> Iterator[str]:
    if not schema.labels:
        return
    yield "## Labels\n\n| label | meaning | decided items |\n| --- | --- | ---: |"
    for label in schema.labels:
        parts = [label.description]
        parts += [f"Include: {label.include}"] if label.include else []
        parts += [f"Exclude: {label.exclude}"] if label.exclude else []
        meaning = _plain(" ".join(part for part in parts if part))
        yield f"| {_plain(label.name)} | {meaning} | {counts.values[label.name]:,} |"
    yield ""


def _annotator_table(counts: Counts) -> Iterator[str]:
    yield "## Annotators\n"
    if counts.labels:
        yield "| kind | annotators | labels | unsure | same as the decided value |"
        yield "| --- | ---: | ---: | ---: | --- |"
    for kind in (kind for kind in Kind if kind in counts.labels):
        same = counts.against_gold[kind].words() if kind in counts.against_gold else "not computed"
        number = len(counts.annotators[kind])
        labelled, none = counts.labels[kind], counts.abstained[kind]
        yield f"| {kind.label} | {number:,} | {labelled:,} | {none:,} | {same} |"
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
            f"{counts.people.words()}: the mean over items of the share of pairs with exactly the "
            "same value."
        )
    if counts.against_gold or counts.people.n:
        yield "\nIn brackets: Wilson's 95 % interval over items, and the number of items."
    if counts.offline:
        yield "\nThe built-in model is a text matcher, not an LLM."
    yield ""


def _limits(source: Source, counts: Counts) -> Iterator[str]:
    yield "## Limits\n"
    if counts.decided < counts.rows:
        yield f"- Undecided, with null for a value: {counts.rows - counts.decided:,} items."
    yield "- Decided values rest on some of these labels, so agreement with them is not accuracy."
    yield "- Annotators who saw a suggestion tend to agree with it."
    if not source.only:
        yield "- Superseded and withdrawn labels are left out; numbers replace names of people."
    yield "- Texts and metadata are as they were imported: check them for personal data first."
    yield "\n## Licence\n\nThe owner fills this in, here and in the header.\n"


def _plain(text: str) -> str:
    """One line without markup."""
    clean = "".join(char for char in " ".join(text.split()) if char.isprintable())
    return clean.translate(MARKED)


DATA, CARD = "data/train.parquet", "README.md"


def write(chunks: Chunks, source: Source) -> Iterator[bytes]:
    """The archive in pieces; one row group per chunk. The card comes last: it counts the rows."""
    sink, counts = Sink(), Counts(source.schema)
    with ZipFile(sink, "w") as archive:
        # The entries have a fixed time, so that the same ledger makes the same bytes.
        with archive.open(ZipInfo(DATA), "w", force_zip64=True) as entry:
            for piece in _parquet(chunks, source, counts):
                entry.write(piece)
                yield sink.taken()
        card = [_front_matter(source, counts), *_body(source, counts), ""]
        archive.writestr(ZipInfo(CARD), "\n".join(card))
    yield sink.taken()


def _parquet(chunks: Chunks, source: Source, counts: Counts) -> Iterator[bytes]:
    columns = Columns(source.schema, annotated=not source.only)

    def records() -> Iterator[list[Row]]:
        for rows in chunks:
            labelled = [(row, independent_labels(row, source)) for row in rows]
            for row, labels in labelled:
                counts.add(row, labels)
            yield [columns.record(row, labels) for row, labels in labelled]

    types = {name: _column_type(feature) for name, feature in columns.features.items()}
    about = json.dumps({"info": {"features": columns.features}}, ensure_ascii=False)
    return parquet_pieces(types, records(), huggingface=about)


FORMAT = ExportFormat(
    name="huggingface",
    title=_("Hugging Face dataset"),
    suffix=".zip",
    content_type="application/zip",
    write=write,
    lossless=False,
    is_parquet=True,
)
