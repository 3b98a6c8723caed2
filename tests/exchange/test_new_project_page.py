"""/projects/new/: a file or a template becomes a project with labels and items, on one page."""

import json
from hashlib import md5
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.accounts.models import User
from apps.exchange.new_project.starters import starters
from apps.exchange.services.imports import run_import
from apps.projects.models import ImportBatch, Item, Project
from apps.projects.selectors import current_guideline, current_schema
from labelhub.core.schema import TASKS
from tests.cases import all_cases
from tests.exchange.helpers import ledger, lines
from tests.factories.accounts import UserFactory, browser_of

pytestmark = pytest.mark.django_db
URL = "/projects/new/"


@pytest.fixture
def maker(client: Client) -> Client:
    client.force_login(UserFactory.create(username="maker"))
    return client


def drop(client: Client, content: bytes, name: str = "hotel_reviews-2.csv") -> Any:
    """The page after a file was dropped on it, or the refusal."""
    answer = client.post(URL, {"file": SimpleUploadedFile(name, content)})
    return client.get(answer["Location"]) if answer.status_code == 302 else answer


def filled(page: Any, **changed: Any) -> dict[str, Any]:
    """What a browser sends from the page, with what a person changed."""
    sent: dict[str, Any] = {}
    context = page.context
    forms = [context["form"], context["labels"].whole, context["labels"].rows.management_form]
    forms += [context["columns"]] if context["columns"] else []
    for form in [*forms, *context["labels"].rows.forms]:
        for field in form:
            value = field.value()
            if value is not None and value is not False:
                sent[field.html_name] = value
    return sent | {"sample": context["sample"]} | changed


def labels_of(page: Any) -> list[str]:
    """The names of the proposed labels."""
    rows = page.context["labels"].rows.forms
    return [row["name"].value() for row in rows if row["name"].value()]


def csv(*rows: str) -> bytes:
    return "\n".join(rows).encode()


REVIEWS = csv(
    "nr,review,category,lang",
    "1,Fine room,good,en",
    "2,No towels,bad,en",
    "3,Loud,bad,en",
    "4,Hm,,en",
)


def test_a_file_becomes_a_project_with_items_in_one_step(maker: Client) -> None:
    page = drop(maker, REVIEWS)
    assert page.context["form"]["name"].value() == "Hotel reviews 2"
    assert {name: page.context["columns"][name].value() for name in ("text", "gold", "id")} == {
        "text": "review", "gold": "category", "id": "",
    }  # fmt: skip
    assert labels_of(page) == ["bad", "good"]
    assert page.context["form"]["task"].value() == "single"
    assert page.context["form"]["overlap"].value() == 2
    assert "No towels" in page.content.decode()

    answer = maker.post(URL, filled(page))

    project, batch = Project.objects.get(), ImportBatch.objects.get()
    assert answer["Location"] == f"/p/{project.slug}/import/{batch.pk}/"
    assert (project.slug, project.overlap, project.blind_share) == ("hotel-reviews-2", 2, 0.1)
    run_import(batch.pk)
    assert [row["gold"] for row in ledger(project)] == ["good", "bad", "bad", None]
    assert "Start reviewing" in maker.get(answer["Location"]).content.decode()


def test_renamed_labels_keep_their_rows_and_removed_ones_lose_them(maker: Client) -> None:
    page = drop(maker, REVIEWS)
    changed = {"label-0-name": "Poor", "label-1-DELETE": "on", "label-2-name": "Great"}
    answer = maker.post(URL, filled(page, **changed) | {"label-TOTAL_FORMS": "3"})

    batch = run_import(ImportBatch.objects.get().pk)

    project = Project.objects.get()
    assert current_schema(project).parsed.names == ("Poor", "Great")
    assert [row["gold"] for row in ledger(project)] == [None, "Poor", "Poor", None]
    assert batch.message == (
        "Read 4 rows: 4 created (2 with gold, 2 without a label), 0 unchanged, 1 value mapped, "
        "1 value left out."
    )
    words = " ".join(maker.get(answer["Location"]).content.decode().split())
    assert (
        "4 rows read: 4 created (2 with gold, 2 without a label); 1 value mapped to a label; "
        "1 value left out."
    ) in words


MISSPELT = csv(
    "text,sentiment",
    *(f"t{number},{mood}" for number, mood in enumerate([
        *["positive"] * 4, *["Positive "] * 2, "postive", *["very good"] * 2, "very_good",
        "negative", "negative", "praise", "praise", "prase", "",
    ])),
)  # fmt: skip


def values_of(page: Any) -> dict[str, dict[str, int]]:
    """Label → the values of the file that it stands for."""
    rows = page.context["labels"].rows.forms
    return {row["name"].value(): row.file_values for row in rows if row.file_values}


def test_misspelt_values_are_proposed_as_one_label_and_can_be_kept_apart(maker: Client) -> None:
    page = drop(maker, MISSPELT)
    assert values_of(page) == {
        "positive": {"positive": 4, "Positive": 2, "postive": 1},
        "very good": {"very good": 2, "very_good": 1},
        "praise": {"praise": 2, "prase": 1},
        "negative": {"negative": 2},
    }
    assert "3 values, 7 rows" in " ".join(page.content.decode().split())

    apart = maker.post(URL, filled(page, again="apart"))
    assert {name: len(values) for name, values in values_of(apart).items()} == {
        "positive": 2, "very good": 1, "negative": 1, "praise": 1, "postive": 1, "very_good": 1,
        "prase": 1,
    }  # fmt: skip
    assert "were merged" not in apart.content.decode()

    maker.post(URL, filled(page, **{"label-0-name": "Glad"}))
    run_import(ImportBatch.objects.get().pk)
    assert [row["gold"] for row in ledger(Project.objects.get())] == [
        *["Glad"] * 7, *["very good"] * 3, *["negative"] * 2, *["praise"] * 3, None,
    ]  # fmt: skip


@all_cases(
    ("frequent", "rare", "most"),
    [
        ("action", "actions", 2), ("question", "qeustion", 2), ("room 101", "Room-101", 0),
        ("good", "food", 0), ("anger", "danger", 0), ("grade 1", "grade 2", 0), ("A", "A-", 0),
        ("county", "country", 2), ("سلبي جدا", "سلبيجدا", 4), ("👍", "👎", 0), ("1", "-1", 0),
        ("Class A", "Class B", 0), ("Group-A", "Group-B", 0), ("Type I", "Type II", 0),
        ("hotel (a)", "hotel (b)", 0), ("class:a", "class:b", 0), ("grade +", "grade -", 0),
        ("quite angry", "quite angri", 2), ("very angry", "vary angry", 0),
    ],
)  # fmt: skip
def test_only_rare_and_near_values_are_merged(
    maker: Client, frequent: str, rare: str, most: int
) -> None:
    """``most``: how often the rare one may be there beside four of the frequent one."""
    for often in (1, 2, 3, 4):
        rows = [frequent] * 4 + [rare] * often
        page = drop(maker, csv("text,label", *(f"t{n},{value}" for n, value in enumerate(rows))))
        merged = len(values_of(page)) == 1
        assert merged == (often <= most), often


def test_texts_that_are_too_long_for_labels_are_not_compared(maker: Client) -> None:
    # Comparing a hundred pages of text with each other takes seconds.
    page = drop(maker, csv("text,label", f"a,{'very ' * 40}good", f"b,{'very ' * 40}_good"))
    assert page.context["source"].proposal.too_many == 2


def test_a_value_may_be_named_like_a_method(maker: Client) -> None:
    page = drop(maker, csv("text,label", "a,items", "b,items", "c,keys"))
    assert values_of(page) == {"items": {"items": 2}, "keys": {"keys": 1}}
    assert "<bdi>items</bdi>" in page.content.decode()


def test_two_labels_of_one_name_are_merged(maker: Client) -> None:
    sent = filled(drop(maker, REVIEWS), **{"label-0-name": "any", "label-1-name": "Any"})
    assert maker.post(f"{URL}preview/", sent | {"label-2-name": "other"}).status_code == 204
    sent |= {"label-TOTAL_FORMS": "3", "label-2-name": "other"}
    assert 'value="any"' in maker.post(f"{URL}preview/", sent).content.decode()
    maker.post(URL, sent)
    run_import(ImportBatch.objects.get().pk)
    project = Project.objects.get()
    assert current_schema(project).parsed.names == ("any", "other")
    assert [row["gold"] for row in ledger(project)] == ["any", "any", "any", None]


def test_labels_can_exchange_their_names(maker: Client) -> None:
    maker.post(URL, filled(drop(maker, REVIEWS), **{"label-0-name": "good", "label-1-name": "bad"}))
    run_import(ImportBatch.objects.get().pk)
    assert [row["gold"] for row in ledger(Project.objects.get())] == ["bad", "good", "good", None]


def test_sent_twice_it_creates_one_project(maker: Client) -> None:
    sent = filled(drop(maker, REVIEWS))
    first, second = maker.post(URL, sent), maker.post(URL, sent)
    assert first["Location"] == second["Location"]
    assert (Project.objects.count(), ImportBatch.objects.count()) == (1, 1)


def test_the_same_file_makes_another_project_with_another_address(maker: Client) -> None:
    for _ in range(2):
        maker.post(URL, filled(drop(maker, REVIEWS)))
    assert set(Project.objects.values_list("slug", flat=True)) == {
        "hotel-reviews-2", "hotel-reviews-2-2",
    }  # fmt: skip
    for batch in ImportBatch.objects.all():
        assert run_import(batch.pk).created == 4


def test_another_choice_of_columns_proposes_other_labels_and_keeps_the_name(maker: Client) -> None:
    page = drop(maker, csv("a text,mood,topic", "x,glad,food", "y,sad,food", "z,sad,price"))
    sent = filled(page, name="Mine", again="1") | {"column-gold": "mood"}

    again = maker.post(URL, sent)

    assert (again.status_code, Project.objects.count()) == (200, 0)
    assert labels_of(again) == ["sad", "glad"]
    assert again.context["form"]["name"].value() == "Mine"


@all_cases(
    ("content", "name", "task", "labels"),
    [
        (csv("text,label", "a,x|y", "b,x", "c,y"), "x.csv", "multi", ["x", "y"]),
        (csv("text;label", 'a;"x, y"', "b;x", "c;y"), "x.csv", "multi", ["x", "y"]),
        (csv("text,label", 'a,"Food, drinks"', "b,Price"), "x.csv", "single",
         ["Food, drinks", "Price"]),
        (csv("text,stars", "a,5", "b,1", "c,2"), "x.csv", "ordinal", ["1", "2", "3", "4", "5"]),
        (csv("text,label", "a,high", "b,low", "c,medium"), "x.csv", "ordinal",
         ["low", "medium", "high"]),
        (csv("text,label", "a,0", "b,1", "c,1"), "x.csv", "single", ["1", "0"]),
        (csv("text,options,label", "a,yes|no,yes", "b,one|two,two"), "x.csv", "per_item", []),
        (lines({"text": "a", "label": ["x", "y"]}, {"text": "b", "label": []}), "x.jsonl", "multi",
         ["x", "y"]),
        (lines({"text": "a", "gold": {"x": True, "y": False}}), "x.jsonl", "multi", ["x", "y"]),
        (lines({"text": "a", "label": 3.0}, {"text": "b", "label": 4}, {"text": "c", "label": 6}),
         "x.jsonl", "ordinal", ["3", "4", "5", "6"]),
        (csv("text,summary", "a,b"), "x.csv", "single", []),
        (csv("only a column", "one", "two"), "x.csv", "single", []),
        ("text,label\na,Größe\nb,klein\n".encode("utf-16"), "x.csv", "single", ["Größe", "klein"]),
        (b"\xef\xbb\xbftext,label\na,x\nb,y\n", "x.csv", "single", ["x", "y"]),
        (csv("text,label", "a,=1+1", "b,<b>bold</b>"), "x.csv", "single", ["=1+1", "<b>bold</b>"]),
        (lines({"text": "Ann came.", "label": [[0, 3, "PER"]]}), "x.jsonl", "single", ["PER"]),
        (lines({"fields": {"text": "a"}, "responses": {"mood": [{"value": "up", "user_id": "u"}]},
                "suggestions": {"mood": {"value": "down", "agent": "m"}}}), "x.jsonl", "single",
         ["down", "up"]),
        (json.dumps([{"id": 1, "data": {"review": "a"}, "annotations": [{"result": [
            {"from_name": "mood", "type": "choices", "value": {"choices": ["sad", "tired"]}}]}]}]
        ).encode(), "x.json", "multi", ["sad", "tired"]),
    ],
)  # fmt: skip
def test_the_label_type_and_the_labels_are_recognised(
    maker: Client, content: bytes, name: str, task: str, labels: list[str]
) -> None:
    page = drop(maker, content, name)
    assert page.status_code == 200
    assert page.context["columns"]["text"].value()
    assert (page.context["form"]["task"].value(), labels_of(page)) == (task, labels)
    assert "<b>bold" not in page.content.decode()


CODES = [md5(bytes([n])).hexdigest() for n in range(30)]  # noqa: S324 - no secret
UUIDS = [str(UUID(code)) for code in CODES]


@all_cases(
    ("content", "name", "id_column", "text"),
    [
        (csv("code,words", *(f"{code},Too loud" for code in CODES)), "x.csv", "code", "words"),
        (csv("word;key", *(f"w{n};{key}" for n, key in enumerate(UUIDS))), "x.csv", "key", "word"),
        (csv("writer,key,word", *(f"{UUIDS[n % 25]},{CODES[n]},w{n}" for n in range(30))), "x.csv",
         "key", "word"),
        (lines(*({"status": 10**17 + n, "said": "Hm"} for n in range(3))), "x.jsonl", "status",
         "said"),
        (csv("nr,hash,word", *(f"{n},{CODES[n]},Hm" for n in range(3))), "x.csv", "hash", "word"),
        (csv("id,hash,word", *(f"{n},{CODES[n]},Hm" for n in range(3))), "x.csv", "id", "word"),
        (csv("user,word", *(f"{UUIDS[n % 25]},w{n}" for n in range(30))), "x.csv", "", "word"),
        (csv("hash,stars", *(f"{code},4" for code in CODES)), "x.csv", "", "hash"),
        (csv("hash", *CODES), "x.csv", "", "hash"),
        (csv("code,words", *(f"T-{n},Too loud" for n in range(30))), "x.csv", "code", "words"),
        (csv("words,day", *(f"Too loud at night,2026-01-{n:02}" for n in range(1, 9))), "x.csv", "",
         "words"),
        (csv("room,words", *(f"R{n % 7},Too loud" for n in range(30))), "x.csv", "", "words"),
        (csv("word,day", *(f"word{n},2026-01-{n:02}" for n in range(1, 9))), "x.csv", "", "day"),
        (csv("name,lang", "Donaudampfschiff,de", "Krankenversicherung,de"), "x.csv", "", "name"),
        (csv("key,word", f"{CODES[0]},a", ",b", ",c"), "x.csv", "", "key"),
    ],
)  # fmt: skip
def test_a_column_of_unique_codes_is_the_id_and_not_the_text(
    maker: Client, content: bytes, name: str, id_column: str, text: str
) -> None:
    columns = drop(maker, content, name).context["columns"]
    assert (columns["id"].value() or "", columns["text"].value()) == (id_column, text)


def test_too_many_values_are_no_labels_and_the_page_says_so(maker: Client) -> None:
    page = drop(maker, csv("text,label", *(f"t{n},value {n}" for n in range(5000))))
    assert "too many for labels" in page.content.decode()
    assert page.context["columns"]["gold"].value() == ""


def test_only_the_head_of_a_large_file_is_read(maker: Client) -> None:
    page = drop(maker, csv("text,label", *(f"text {n},{n % 3}" for n in range(100_000))))
    head = page.context["source"].head
    assert (head.scanned, head.complete, labels_of(page)) == (5000, False, ["0", "1", "2"])


def test_a_file_that_cannot_be_read_is_refused_beside_the_field(maker: Client) -> None:
    for content, words in ((b"", "empty"), (b"text,label\n", "no rows"), (b"%PDF-1.4", "PDF")):
        page = drop(maker, content, "x.csv")
        assert (page.status_code, words in page.content.decode()) == (422, True), words


def test_somebody_elses_token_opens_nothing(maker: Client) -> None:
    answer = maker.post(URL, {"file": SimpleUploadedFile("x.csv", REVIEWS)})
    stranger = browser_of(UserFactory.create())
    page = stranger.get(answer["Location"], follow=True)
    assert "No towels" not in page.content.decode()
    assert "no longer here" in page.content.decode()
    forged = maker.get(URL, {"file": parse_qs(urlsplit(answer["Location"]).query)["file"][0] + "x"})
    assert forged.status_code == 302


@pytest.mark.parametrize("key", sorted(starters()))
def test_a_template_brings_labels_guideline_and_samples_that_say_so(
    maker: Client, key: str
) -> None:
    starter = starters()[key]
    page = maker.get(URL, {"template": key})
    assert labels_of(page) == list(starter.schema.names)

    maker.post(URL, filled(page))

    project, batch = Project.objects.get(), run_import(ImportBatch.objects.get().pk)
    assert (batch.created, batch.failed) == (len(starter.items), 0)
    assert current_schema(project).parsed == starter.schema
    guideline = current_guideline(project)
    assert guideline is not None
    assert guideline.text == starter.guideline
    assert {item.meta["sample"] for item in Item.objects.all()} == {"written for this template"}


def test_every_template_explains_its_labels() -> None:
    silent = [
        (starter.key, label.name)
        for starter in starters().values()
        for label in starter.schema.labels
        if not (label.description and label.include and label.exclude)
    ]
    assert silent == []
    assert {"single", "multi", "ordinal", "per_item"} == {
        starter.schema.task.name for starter in starters().values()
    }
    assert [starter.key for starter in starters().values()] == [
        "sentiment", "intent", "aspects", "toxicity", "choice_questions", "pairwise",
    ]  # fmt: skip


def test_a_template_takes_a_file_and_leaves_out_other_labels(maker: Client) -> None:
    answer = maker.post(
        URL, {"file": SimpleUploadedFile("x.csv", b"text,label\na,positive\nb,odd\n"),
              "template": "sentiment"},
    )  # fmt: skip
    page = maker.get(answer["Location"])
    assert "1 value of the label column" in page.content.decode()
    maker.post(URL, filled(page))
    run_import(ImportBatch.objects.get().pk)
    assert [row["gold"] for row in ledger(Project.objects.get())] == ["Positive", None]


def test_the_preview_shows_the_review_page_with_the_first_item(maker: Client) -> None:
    page = drop(maker, REVIEWS)
    preview = page.content.decode().partition('id="preview"')[2]
    assert "Fine room" in preview
    assert 'value="good"' in preview
    assert "css/reviews.css" in page.content.decode()

    sent = filled(page, **{"label-0-name": "Poor <i>", "schema-question": "How was it?"})
    part = maker.post(f"{URL}preview/", sent).content.decode()

    assert "Poor &lt;i&gt;" in part
    assert "How was it?" in part
    assert "Fine room" in part
    assert "<html" not in part
    assert Project.objects.count() == 0


@all_cases(("sample",), [("",), ("[]",), ("{",), ('{"text": 1, "options": 5}',), ("[" * 9999,)])
def test_a_tampered_sample_does_no_harm(maker: Client, sample: str) -> None:
    sent = filled(drop(maker, REVIEWS), sample=sample)
    assert maker.post(f"{URL}preview/", sent).status_code == 200


def test_labels_without_a_schema_leave_the_preview_as_it_is(maker: Client) -> None:
    sent = filled(drop(maker, REVIEWS), **{"label-0-name": "good"})
    assert maker.post(f"{URL}preview/", sent).status_code == 204


@pytest.mark.parametrize("task", sorted(TASKS))
def test_every_label_type_has_a_preview(maker: Client, task: str) -> None:
    page = maker.get(URL, {"start": "labels"})
    rows = {"label-0-name": "a", "label-1-name": "b"} if TASKS[task].takes_labels else {}
    answer = maker.post(f"{URL}preview/", filled(page, task=task, **rows))
    assert answer.status_code == 200


def test_a_fault_of_the_file_is_told_before_anything_is_created(maker: Client) -> None:
    page = drop(maker, lines({"a": 1}, {"text": "b"}), "x.jsonl")
    assert "No text here" in page.content.decode() or page.context["columns"]["text"].value()
    sent = filled(page) | {"column-text": ""}
    assert maker.post(URL, sent).status_code == 422
    assert Project.objects.count() == 0


def test_operators_words_stay_out_of_names(maker: Client) -> None:
    page = drop(maker, REVIEWS, "../../etc/pass<b>wd.csv")
    assert page.context["form"]["name"].value() == "Pass b wd"
    assert User.objects.count() == 1


def test_rows_that_unpack_to_much_end_the_head_early(
    maker: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.exchange.file_head.HEAD_BYTES", 10_000)
    page = drop(maker, csv("text,label", *(f"{'long ' * 100}{n},x" for n in range(500))))
    assert page.context["source"].head.scanned < 100


def test_two_presses_at_once_make_one_project(
    maker: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = filled(drop(maker, REVIEWS))
    maker.post(URL, sent)
    # The other press had looked for the short name before this one took it.
    monkeypatch.setattr("apps.projects.forms.free_slug", lambda _: "another-name")
    assert maker.post(URL, sent).status_code == 302
    assert Project.objects.count() == 1


def test_the_empty_home_page_takes_the_file(maker: Client) -> None:
    assert 'action="/projects/new/"' in maker.get("/").content.decode()
    maker.post(URL, filled(drop(maker, REVIEWS)))
    assert 'type="file"' not in maker.get("/").content.decode()


def test_a_link_may_choose_the_label_type(maker: Client) -> None:
    page = maker.get(URL, {"task": "per_item"})
    assert page.context["form"]["task"].value() == "per_item"
    assert "There are no labels to enter" in page.content.decode()
