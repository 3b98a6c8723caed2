"""The page that audits a published table: what is shown, what is refused, what is kept."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.agreement.table_audit.words import SAMPLE
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db

PAGE = "/audit/"
SWAPPED = (
    "model,precision,recall,TP,FP,FN,TN\n"
    "a,80.0%,88.9%,80,10,20,90\n"
    "b,75.0%,83.3%,75,15,25,85\n"
    "c,90.0%,94.7%,90,5,10,95\n"
)
HTMX = {"HX-Request": "true"}


@pytest.fixture
def person(client: Client) -> Client:
    """A client of somebody who is a member of no project."""
    client.force_login(UserFactory.create())
    return client


def file_of(raw: bytes, name: str = "table.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, raw)


def words_of(response: Any) -> str:
    """The text of a page without its marks."""
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_whoever_is_not_signed_in_is_sent_to_the_door(client: Client) -> None:
    assert client.get(PAGE)["Location"].startswith("/accounts/login/")


def test_the_page_says_what_it_can_find_and_offers_a_sample(person: Client) -> None:
    said = words_of(person.get(PAGE))
    assert "swapped or shifted columns" in said
    assert "shares that no number of items gives" in said
    assert "t and p values out of reach" in said
    assert "Try a sample" in said


def test_the_menu_of_the_person_leads_there(person: Client) -> None:
    assert b'href="/audit/"' in person.get("/").content


def test_the_sample_shows_every_kind_of_fault_and_its_repair(person: Client) -> None:
    said = words_of(person.get(PAGE, {"sample": "yes"}))
    assert "3 faults in 5 rows." in said
    assert "FP and FN are swapped" in said
    assert "one column too far to the left" in said
    assert "with 67 in place of 677" in said
    assert "The repaired table" in said


def test_a_marked_cell_says_why_and_leads_to_its_finding(person: Client) -> None:
    page = person.post(PAGE, {"table": SAMPLE}).content.decode()
    (title, target) = re.findall(r'href="#([\w-]+)" title="([^"]+677[^"]+)"', page)[0][::-1]
    assert "Row 5 (Curlew)" in title
    assert f'id="{target}"' in page
    marked = page.split(f'href="#{target}"')[1].split("</a>")[0]
    assert "<svg" in marked
    assert "(fault)" in marked


def test_without_scripts_the_whole_page_comes_with_what_was_pasted(person: Client) -> None:
    page = person.post(PAGE, {"table": SWAPPED}).content.decode()
    assert "<html" in page
    assert "80,10,20,90" in page
    assert "FP and FN are swapped" in page


def test_with_htmx_only_the_result_comes(person: Client) -> None:
    page = person.post(PAGE, {"table": SWAPPED}, headers=HTMX).content.decode()
    assert "<html" not in page
    assert "FP and FN are swapped" in page


def test_a_file_is_read_like_a_pasted_table(person: Client) -> None:
    page = person.post(PAGE, {"file": file_of(SWAPPED.encode("utf-16"))})
    assert "FP and FN are swapped" in words_of(page)


def test_a_file_of_many_tables_gets_a_part_for_each(person: Client) -> None:
    rows = '[{"clicks": 789, "impressions": 10378, "ctr": "7.52%"}]'
    text = f'{{"one": {rows}, "two": {{"three": {rows}}}}}'
    said = words_of(person.post(PAGE, {"file": file_of(text.encode(), "tables.json")}))
    assert "one : 1 fault in 1 row." in said
    assert "two.three : 1 fault in 1 row." in said


def test_what_is_known_besides_is_used(person: Client) -> None:
    table = "model,accuracy\na,0.603\nb,0.700\nc,0.610\n"
    assert "Nothing in 3 rows contradicts itself." in words_of(person.post(PAGE, {"table": table}))
    said = words_of(person.post(PAGE, {"table": table, "items": "100"}))
    assert "no whole number of 100 items gives that" in said


def test_the_single_runs_are_averaged(person: Client) -> None:
    table, runs = "model,accuracy\na,90.0\n", "run,model,accuracy\n1,a,80.0\n2,a,90.0\n"
    said = words_of(person.post(PAGE, {"table": table, "runs": runs}))
    assert "the mean of its 2 runs is 85" in said


def test_nothing_found_is_not_called_right(person: Client) -> None:
    said = words_of(person.post(PAGE, {"table": "model,accuracy\na,0.6\n"}))
    assert "Nothing in 1 row contradicts itself." in said
    assert "That does not prove the numbers right" in said


def test_a_table_of_words_had_nothing_to_check(person: Client) -> None:
    said = words_of(person.post(PAGE, {"table": "name,colour\na,red\nb,blue\n"}))
    assert "There was nothing to check in 2 rows: no figure follows from another." in said
    assert "contradicts" not in said
    assert "does not prove the numbers right" not in said
    assert "Columns are known by their names" in said


def test_the_page_says_what_was_held_against_what(person: Client) -> None:
    table = "model,precision,recall,F1\na,85.0,80.0,82.4\nb,70.0,90.0,78.8\n"
    said = words_of(person.post(PAGE, {"table": table}))
    assert "Held against others: 2 F1 from precision and recall." in said
    alone = words_of(person.post(PAGE, {"table": "model,accuracy\na,0.6\n"}))
    assert "No figure follows from another; that each can be at all was checked of 1." in alone


def test_each_group_of_columns_is_repaired_by_itself(person: Client) -> None:
    rows = [row.split(",") for row in SWAPPED.splitlines()]
    right = [row if row[0] == "model" else [*row[:4], row[5], row[4], row[6]] for row in rows]
    head = ["", *["Dev"] * 6, *["Test"] * 6]
    both = [[*one, *other[1:]] for one, other in zip(right, rows, strict=True)]
    table = "\n".join(",".join(row) for row in (head, *both))
    said = words_of(person.post(PAGE, {"table": table}))
    assert "1 fault in 3 rows." in said
    lines = person.post(PAGE, {"table": table, "which": "0"}).content.decode().splitlines()
    assert lines[0].endswith("Dev: FP,Dev: FN,Dev: TN,Test: precision,Test: recall,Test: TP,"
                             "Test: FN,Test: FP,Test: TN")  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (dict, "The table: Paste a table, or choose a file."),
        (lambda: {"table": "one line"}, "needs a line of column names"),
        (lambda: {"table": "a" * 200_001}, "at most 200000 characters"),
        (lambda: {"file": file_of(b"a,b\n" * 60_000)}, "The file is larger than 200 KB."),
        (lambda: {"file": file_of(b"\x89PNG\r\n\x00\xff")}, "This is no text file."),
        (lambda: {"file": file_of(b"")}, "The file is empty."),
        (lambda: {"table": SWAPPED, "file": file_of(b"a,b\n1,2")}, "a pasted table already"),
        (lambda: {"table": SWAPPED, "items": "0"}, "Items: Ensure this value is greater"),
        (lambda: {"table": SWAPPED, "items": "5", "positives": "6"}, "more positives than items"),
        (lambda: {"table": SWAPPED, "runs": "x"}, "The single runs: The table needs"),
        (lambda: {"table": "a,b\n" + "1,2\n" * 2_001}, "more than 2,000 rows"),
        (lambda: {"table": "a,b\0\n1,2"}, "Null characters are not allowed."),
        (
            lambda: {"table": ",".join(f"c{n}" for n in range(5_000)) + "\n" + "1," * 5_000},
            "more than 60 columns",
        ),
        (lambda: {"file": file_of(b"a,b\n1,2\n" * 1_300_000)}, "The file is larger than 200 KB."),
    ],
)
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_what_cannot_be_audited_is_refused_in_words(
    person: Client, sent: Callable[[], dict[str, Any]], words: str, headers: dict[str, str]
) -> None:
    response = person.post(PAGE, sent(), headers=headers)
    assert response.status_code == 200
    assert words in words_of(response)
    assert "audit-sheet" not in response.content.decode()


def test_hostile_cells_stay_text(person: Client) -> None:
    bad = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'
    table = f"{bad}|TP|TN\n{bad}|139%|2\n{bad}|12|3\n"
    page = person.post(PAGE, {"table": table}).content.decode()
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_repaired_table_is_a_file_whose_cells_no_spreadsheet_runs(person: Client) -> None:
    table = SWAPPED.replace("a,80", "=HYPERLINK(1),80").replace("b,75", "@SUM,75")
    response = person.post(PAGE, {"table": table, "which": "0"})
    assert response["Content-Type"].startswith("text/csv")
    assert "attachment" in response["Content-Disposition"]
    lines = response.content.decode().splitlines()
    assert lines[0] == "model,precision,recall,TP,FN,FP,TN"
    assert lines[1].startswith("'=HYPERLINK(1)")
    assert lines[2].startswith("'@SUM")


def test_the_form_of_the_download_sends_what_was_audited(person: Client) -> None:
    page = person.post(PAGE, {"table": SWAPPED, "items": "200"}).content.decode()
    form = page.split('id="audit-download"')[1].split("</form>")[0]
    assert re.findall(r'name="(\w+)"', form) == ["csrfmiddlewaretoken", "table", "items"]


@pytest.mark.parametrize("which", ["", "9", "x", "-1", "99999999999"])
def test_a_download_of_no_such_table_gives_one_that_there_is(person: Client, which: str) -> None:
    response = person.post(PAGE, {"table": SWAPPED, "which": which})
    assert response["Content-Type"].startswith("text/csv")


def test_a_long_table_shows_the_rows_with_findings(person: Client) -> None:
    rows = "".join(f"m{n},7.{n % 9}0%,789,10378\n" for n in range(400))
    table = "model,ctr,clicks,impressions\n" + rows.replace("m399,7.30%", "m399,9.99%")
    page = person.post(PAGE, {"table": table})
    assert "250 more rows not shown here." in words_of(page)
    assert len(page.content) < 400_000


def test_nothing_is_stored(person: Client) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        person.post(PAGE, {"table": SAMPLE})
    written = [each["sql"] for each in queries if not each["sql"].startswith("SELECT")]
    assert [sql for sql in written if not sql.startswith(("SAVEPOINT", "RELEASE", "BEGIN"))] == []


def test_a_form_from_elsewhere_is_refused() -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(pk=UserFactory.create().pk))
    assert strict.post(PAGE, {"table": SAMPLE}).status_code == 403
