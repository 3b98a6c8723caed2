"""The tables of a paper: their numbers are the report's, and their files hold any name."""

import csv
import re
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.roles import Role
from apps.agreement.report.publication import (
    FIGURE,
    MEASURES,
    REFERENCES,
    TABLES,
    escape_latex,
    latex_file,
)
from apps.common.charts.text import on_one_line
from apps.common.spreadsheets import RUN_BY_SPREADSHEETS
from apps.labels.models import ItemState
from apps.labels.services import annotator_for, import_labels
from apps.projects.models import Project
from labelhub.core.agreement.reports.reasons import WORDS
from tests.agreement.report_help import B, G, get, six_moods
from tests.cases import all_cases
from tests.factories.labels import draft, open_item
from tests.factories.ledger import ledger
from tests.factories.projects import MOODS, ProjectFactory, member_api, member_browser

FORMATS = ("json", "csv", "latex")
HOSTILE = (
    "=HYPERLINK(1)",
    r"\input{/etc/passwd}\end{table}% & $x_1^2$ #~`[2em]",
    "\u202eevil\u2066\r\n\n\\\\*[x]",
    "🙂 žluťoučký עברית ?`!`--''",
)


def download(project: Project, role: Role = Role.VIEWER, /, **query: Any) -> Any:
    """The response of the tables' address, without its final slash."""
    return member_api(project, role).get(f"/api/v1/projects/{project.slug}/agreement/tables", query)


def rows_of(project: Project, **query: Any) -> list[dict[str, Any]]:
    """The rows of all tables in JSON."""
    tables = download(project, **query).json()["tables"]
    return [row for table in tables.values() for row in table["rows"]]


@pytest.fixture
def project() -> Project:
    return six_moods()


def reported(report: Any, row: dict[str, Any]) -> Any:
    """The figure of the report that a row shows."""
    kind, measure = row["kind"], row["measure"]
    if row["table"] == "agreement":
        if row["other_kind"] == kind:
            return report["within"][kind][measure]
        (pair,) = (pair for pair in report["between"] if [pair["a"], pair["b"]] == sides(row))
        return pair[measure]
    found = report[f"against_{row['reference']}"][kind]
    if row["table"] == "accuracy":
        assert [row["items"], row["labels"]] == [found["items"], found["labels"]]
        return found[measure]
    if row["agreeing"] is None:
        assert found["by_agreeing"] == []
        return {"reason": "no_item_with_two_labels"}
    if row["agreeing"] == "all":
        assert row["items"] == found["items"]
        return found["majority_accuracy"]
    (group,) = (group for group in found["by_agreeing"] if group["agreeing"] == row["agreeing"])
    assert row["items"] == group["items"]
    return group["accuracy"]


def sides(row: dict[str, Any]) -> list[str]:
    return [row["kind"], row["other_kind"]]


@pytest.mark.django_db
def test_every_number_is_the_reports(project: Project) -> None:
    report = get(project).json()
    rows = rows_of(project, reference="author", table="agreement")
    for reference in REFERENCES:
        found = [
            row
            for name in ("accuracy", "agreeing")
            for row in rows_of(project, reference=reference, table=name)
        ]
        assert {row["kind"] for row in found} == {"llm", "crowd", "expert", "author"} - {reference}
        rows += found

    for row in rows:
        figure = reported(report, row)
        wanted = {name: figure.get(name) for name in FIGURE}
        wanted["reason"] = WORDS.get(wanted["reason"], wanted["reason"])
        assert {name: row[name] for name in FIGURE} == wanted


@pytest.mark.django_db
def test_a_stored_report_is_read_not_computed(
    project: Project, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    clients = [member_api(project, Role.VIEWER) for _ in FORMATS]
    get(project)
    monkeypatch.setattr("apps.agreement.report.services._compute", None)

    for client, form in zip(clients, FORMATS, strict=True):
        with django_assert_max_num_queries(10):
            answer = client.get("/api/v1/projects/moods/agreement/tables/", {"format": form})
        assert answer.status_code == 200


@pytest.mark.django_db
def test_files_have_their_types_and_the_names_of_project_table_and_slice(project: Project) -> None:
    table = download(project, format="csv", table="cost", kind="crowd")
    whole = download(project, format="latex")

    assert table["Content-Type"] == "text/csv; charset=utf-8"
    assert 'filename="moods-cost-crowd.csv"' in table["Content-Disposition"]
    assert whole["Content-Type"] == "application/x-tex; charset=utf-8"
    assert 'filename="moods-tables.tex"' in whole["Content-Disposition"]
    assert re.findall(r"\\label\{tab:(\w+)\}", whole.content.decode()) == list(TABLES)


@pytest.mark.django_db
@all_cases(
    "query", ({"tables": "cost"}, {"table": "costs"}, {"format": "xlsx"}, {"reference": "x"})
)
def test_what_is_not_known_is_refused(query: dict[str, str]) -> None:
    answer = download(ProjectFactory.create(definition=MOODS), **query)
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.django_db
def test_csv_and_json_have_the_same_rows(project: Project) -> None:
    found = list(csv.DictReader(StringIO(download(project, format="csv").content.decode())))
    wanted = rows_of(project)

    assert len(found) == len(wanted)
    for line, row in zip(found, wanted, strict=True):
        for name, cell in line.items():
            shown = row.get(name)
            assert (float(cell) if isinstance(shown, float) else cell) == (
                "" if shown is None else shown if isinstance(shown, float) else str(shown)
            )


@pytest.mark.django_db
@all_cases("form", FORMATS)
def test_a_project_without_labels_says_so_in_each_table(form: str) -> None:
    empty = ProjectFactory.create(definition=MOODS)
    text = download(empty, format=form).content.decode()

    assert text.count("No labels.") == len(TABLES)
    assert "accuracy" in text


@pytest.mark.django_db
def test_without_a_reference_accuracy_is_null_with_the_reason() -> None:
    project = ProjectFactory.create(definition=MOODS, overlap=20)
    ledger(project, {"crowd:ann": [G, B], "crowd:bob": [G, G]})

    for reference, reason in (("gold", "No item has gold."), ("author", WORDS["no_author"])):
        rows = rows_of(project, reference=reference)
        measured = [row for row in rows if row["table"] in {"accuracy", "agreeing"}]
        assert {(row["value"], row["reason"]) for row in measured} == {(None, reason)}


@pytest.mark.django_db
def test_options_of_items_have_s_q_and_a_reason_in_place_of_kappa() -> None:
    project = ProjectFactory.create(definition={"task": "per_item", "question": ""}, overlap=20)
    items = [open_item(project, options=[f"a{n}", f"b{n}", f"c{n}"]) for n in range(4)]
    answers = [f"{letter}{n}" for n, letter in enumerate("abca")]
    ledger(
        project, {"crowd:a": answers, "crowd:b": ["b0", *answers[1:]], "author:w": answers}, items
    )
    rows = {
        (row["kind"], row["other_kind"], row["measure"]): row
        for row in rows_of(project, table="agreement")
    }

    assert rows["crowd", "crowd", "s_q"]["value"] == pytest.approx((3 / 4 - 1 / 3) / (1 - 1 / 3))
    assert rows["crowd", "author", "s_q"]["value"] == pytest.approx((7 / 8 - 1 / 3) / (1 - 1 / 3))
    for key in (("crowd", "crowd", "conger_kappa"), ("crowd", "author", "cohen_kappa")):
        assert (rows[key]["value"], rows[key]["reason"]) == (None, WORDS["own_options"])


SCALE = [{"name": name, "point": point} for name, point in (("low", 1), ("mid", 2), ("high", 3))]
TASK_CASES: dict[str, tuple[dict[str, Any], list[Any], str, str]] = {
    "multi": ({"labels": ["a", "b"]}, [["a"], ["a", "b"]], "alpha_masi", "cohen_kappa"),
    "ordinal": ({"labels": SCALE}, [1, 3], "alpha_ordinal", "cohen_kappa"),
    "text": ({}, ["one word", "two words"], "alpha_token_f1", "token_f1"),
}


@pytest.mark.django_db
@all_cases("task", TASK_CASES)
def test_each_task_has_its_coefficients_in_words(task: str) -> None:
    labels, values, within, between = TASK_CASES[task]
    definition = {"task": task, "question": "", **labels}
    project = ProjectFactory.create(definition=definition, overlap=20)
    ledger(project, {"crowd:a": values, "crowd:b": values[::-1], "author:w": values})
    rows = rows_of(project)

    measures = {
        (row["table"], row["other_kind"]): row["measure"] for row in rows if "other_kind" in row
    }
    assert measures["agreement", "crowd"] == within
    assert measures["agreement", "author"] == between
    assert {row["measure"] for row in rows} <= {*MEASURES}
    captions_of(download(project, format="latex").content.decode())


@pytest.mark.django_db
def test_an_item_costs_as_much_as_its_labels() -> None:
    project = ProjectFactory.create(definition=MOODS, slug="moods", overlap=20)
    items = [open_item(project) for _ in range(8)]
    for name, count in (("ann", 8), ("bob", 4)):
        by = annotator_for(project, kind="crowd", name=name)
        labels = [
            draft(item, by, G, cost_nanousd=(5 + number) * 10**7, seconds=6.0)
            for number, item in enumerate(items[:count])
        ]
        import_labels(project, labels)
    ledger(project, {"expert:eve": [G]}, items)
    report = get(project).json()["cost"]["crowd"]
    rows = {(row["kind"], row["measure"]): row for row in rows_of(project, table="cost")}

    label, item = rows["crowd", "usd_per_label"], rows["crowd", "usd_per_item"]
    assert label["labels_per_item"] == 1.5
    for end in ("value", "low", "high"):
        assert label[end] == report["per_label"][end]
        assert item[end] == pytest.approx(1.5 * report["per_label"][end])
    assert rows["crowd", "seconds_per_item"]["value"] == pytest.approx(9)
    assert rows["expert", "usd_per_item"]["reason"] == WORDS["not_recorded"]
    # Costs are stored for the whole ledger.
    (reason,) = {row["reason"] for row in rows_of(project, table="cost", kind="crowd")}
    assert reason == WORDS["only_of_the_whole_project"]


@pytest.mark.django_db
def test_no_file_names_an_author_and_a_reviewer_sees_no_answer_to_audit(project: Project) -> None:
    author = project.annotators.get(name="writer").pk
    for form in FORMATS:
        for query in ({}, {"annotator": author}):
            answer = download(project, format=form, **query)
            assert answer.status_code == 200
            assert "writer" not in answer.content.decode()
    ItemState.objects.filter(item=project.items.earliest("pk")).update(reasons=["audit"])

    (table,) = download(project, Role.REVIEWER, table="accuracy").json()["tables"].values()

    assert {row["labels"] for row in table["rows"] if row["kind"] == "llm"} == {5}
    assert "Without models' labels of 1 of them." in table["caption"]


@pytest.mark.django_db
def test_the_page_leads_to_the_tables_of_its_slice(project: Project) -> None:
    client: Client = member_browser(project, Role.VIEWER)
    html = client.get("/p/moods/agreement/", {"kind": "crowd"}).content.decode()

    links = re.findall(r'href="(/api/v1/projects/moods/agreement/tables/[^"]*)"', html)
    assert links == [
        f"/api/v1/projects/moods/agreement/tables/?format={form}&amp;kind=crowd"
        for form in ("csv", "latex")
    ]
    assert all(client.get(link.replace("&amp;", "&")).status_code == 200 for link in links)


#: All that an escaped text may hold, and what LaTeX prints for it.
PRINTED = {
    **{f"\\{letter}": letter for letter in "&%$#_{}"},
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textasciigrave{}": "`",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    "{[}": "[",
    "{}": "",
}
_TOKEN = re.compile("|".join(map(re.escape, PRINTED)) + r"|[^\\{}$&#%_^~`<>|\[\x00-\x1f\x7f-\x9f]")


def printed(escaped: str) -> str:
    """What LaTeX prints; fails on anything that is not plain text to it."""
    tokens = _TOKEN.findall(escaped)
    assert "".join(tokens) == escaped
    assert not re.search(r"--|''|,,", escaped)
    return "".join(PRINTED.get(token, token) for token in tokens)


@given(st.one_of(st.text(), st.text(alphabet="\\&%$#_{}~^`[]-',<>|\n\u202e é")))
def test_any_text_is_printed_as_it_is(text: str) -> None:
    assert printed(escape_latex(text)) == on_one_line(text).replace("\ufffd", "")


#: Lines without a name in them.
FIXED = re.compile(
    r"%.*||\\(begin|end)\{(table|tabular)\}(\{@\{\}lrrr@\{\}\})?|\\centering\\small\\setlength\{\\tabcolsep\}\{4pt\}|\\label\{tab:\w+\}"
    r"|\\(top|mid|bottom)rule|\\addlinespace|\\par\\smallskip\\footnotesize"
)

#: The line of a source above its rows.
SOURCE = re.compile(r"\\multicolumn\{4\}\{@\{\}l\}\{\\emph\{(.*)\}\} \\\\")


def captions_of(text: str) -> list[str]:
    """The printed captions; fails on a line that is no line of a table, and on a row whose cells
    are not as many as the columns."""
    captions = []
    for line in text.splitlines():
        if found := re.fullmatch(r"\\caption\{(.*)\}", line):
            captions.append(printed(found[1]))
        elif source := SOURCE.fullmatch(line):
            printed(source[1].replace("–", "-"))
        elif not FIXED.fullmatch(line):
            row = re.sub(r"\\textsuperscript\{[a-zA-Z,]+\}~?|\$(?=-)|(?<=-)\$| \\\\$", "", line)
            cells = re.split(r"(?<!\\)&", row.replace("--", "–"))
            assert len(cells) == (4 if line.endswith(r" \\") else 1), line
            "".join(map(printed, cells))
    return captions


@pytest.mark.django_db
@all_cases("name", HOSTILE)
def test_hostile_names_of_labels_annotators_and_tags_stay_text(name: str) -> None:
    label = " ".join(on_one_line(name.replace("#", "")).split())
    definition = {"task": "single", "question": "", "labels": [label, "b"]}
    project = ProjectFactory.create(definition=definition, overlap=20)
    ledger(project, {f"crowd:{name}": [label, "b"], "expert:eve": ["b", "b"]})
    annotator = project.annotators.get(kind="crowd").pk

    for query in ({"label": label}, {"annotator": annotator}, {"tag": name}):
        text = download(project, format="latex", **query).content.decode()
        captions = captions_of(text)
        assert len(captions) == len(TABLES)
        plain = label if "label" in query else " ".join(on_one_line(name).split())
        assert all(plain in " ".join(caption.split()) for caption in captions)
        sheet = download(project, format="csv", **query).content.decode()
        assert not any(
            cell.startswith(RUN_BY_SPREADSHEETS) and not is_number(cell)
            for row in csv.reader(StringIO(sheet))
            for cell in row
        )


#: Widths in thousandths of the font's size: cmr10, of which LaTeX's 9 points (cmr9) are 1/36 wider.
WIDTHS = {
    letter: float(width)
    for width, letters in {
        278: "il,.;:'![]", 306: "fj", 333: "-", 389: "t()", 392: "r", 394: "s", 444: "cez",
        500: "ago0123456789–", 528: "kvxyq", 556: "bdhnpuS", 625: "L", 653: "F", 681: "EP",
        708: "B", 722: "wCT", 736: "R", 750: "AHNUVX", 764: "D", 778: "OQ−", 785: "G", 833: "m%",
        917: "M", 361: "I", 333.3: " ", 514: "J", 778.1: "K_",
    }.items()
    for letter in letters
}  # fmt: skip
#: Points of a column of a page with two (one alone has 345 in article), and of ``\\small``.
NARROW, SMALL = 252, 9


def width_of(cell: str) -> float:
    """Points of a cell's text in ``\\small``; marks are two thirds of the size."""
    text, marks = re.subn(r"\\textsuperscript\{[^}]*\}", "", cell)
    text = text.replace("$-$", "−").replace("--", "–")
    text = re.sub(r"\\([&%$#_{}])", r"\1", re.sub(r"\\(multicolumn\{4\}\{@\{\}l\}|emph)", "", text))
    wide = sum(WIDTHS[letter] for letter in text if letter not in "{}")
    return SMALL * (37 / 36 * wide / 1000 + marks)


@pytest.mark.django_db
@all_cases("task", [*TASK_CASES, "single"])
def test_a_table_fits_a_text_column(task: str) -> None:
    labels, values, *_ = TASK_CASES.get(task, ({"labels": ["a", "b"]}, ["a", "b"]))
    definition = {"task": task, "question": "", **labels}
    project = ProjectFactory.create(definition=definition, overlap=20)
    answers = [*values, *values]
    ledger(
        project,
        dict.fromkeys(("llm:x", "crowd:a", "crowd:b", "expert:e", "author:w"), answers),
    )
    project.annotators.filter(kind="llm").update(offline=True)
    text = download(project, format="latex").content.decode()

    assert "Text matcher (demo)–Expert" in text
    for table in text.split(r"\begin{tabular}")[1:]:
        lines = [line[:-3] for line in table.splitlines() if line.endswith(r" \\")]
        rows = [line.split(" & ") for line in lines if not line.startswith(r"\multicolumn")]
        columns = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
        numbers = ("100.0", "$-$0.100--0.100", "10,000")
        columns[1:] = map(max, columns[1:], map(width_of, numbers))
        assert sum(columns) + 3 * 8 < NARROW
        sources = [line for line in lines if line.startswith(r"\multicolumn")]
        assert max(map(width_of, sources)) < NARROW


def is_number(cell: str) -> bool:
    return re.fullmatch(r"-[\d.e-]+", cell) is not None


def test_numbers_are_printed_with_the_digits_of_their_unit() -> None:
    def row(measure: str, value: float, low: float | None = None, **more: Any) -> dict[str, Any]:
        found = dict.fromkeys(("annotators", "own_decisions", "items", *FIGURE))
        names = {"source": "Crowd", "measure": measure, "value": value, "low": low, "high": low}
        return {**found, **names, "n": 1962, **more}

    rows = [
        row("accuracy", 0.4238, 0.4),
        row("js_divergence", -0.0512, -0.1),
        row("js_divergence", -0.0001),
        row("usd_per_label", 0.00012),
        row("usd_per_label", 2.345),
        row(
            "seconds_per_label", 18.25, own_decisions=3, items=9, doubt="few_items: it rests on few"
        ),
    ]
    text = latex_file({"accuracy": {"caption": "", "rows": rows}})

    numbers = re.findall(r"& ([^&]+) & ([^&]+) & 1,962 ", text)
    assert numbers == [
        ("42.4", "40.0--40.0"),
        ("$-$0.051", "$-$0.100--$-$0.100"),
        ("0.000", "--"),
        ("0.00012", "--"),
        (r"2.35", "--"),
        (r"18.2\textsuperscript{a,b}", "--"),
    ]
    assert "It rests on few. " in text
    assert "3 of the 9 decisions are its own." in text
