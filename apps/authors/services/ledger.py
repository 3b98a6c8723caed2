"""From an answer to a label: the question becomes an item with its own options."""

from django.db import transaction
from django.db.models import QuerySet

from apps.authors.models import Answer, Author, Message, Question, Site
from apps.authors.services.hearing import context_of, ref_of
from apps.common.prepared import prepared
from apps.common.rows import insert_row, update_row
from apps.labels.models import Annotator, Kind, Label
from apps.labels.services import (
    ADVISORY,
    LabelDraft,
    annotator_for,
    open_items,
    record_label,
    withdraw_label,
)
from apps.projects.models import Item
from apps.projects.selectors import current_schema

#: Characters of an assistant's message that annotators are shown; what authors wrote stays whole
#: (paper 004, B.1).
SHOWN_OF_REPLIES = 300


@transaction.atomic(savepoint=False)
def bring_into_line(answer: Answer) -> None:
    """Make the ledger say what stands: a label for an answer that counts, none for one that was
    taken back or is excluded. Nothing is rewritten; each change is a row. A question asked for the
    second time makes no label: it only tells whether its author says the same again."""
    if answer.question.reask_of_id is not None:
        return
    current = _label_of(answer)
    wanted = answer.undone_at is None and answer.excluded_at is None
    if wanted and current is None:
        label = record_label(_draft(answer))
        answer.label_uid = label.uid
        update_row(answer, "label_uid")
    elif not wanted and current is not None:
        why = "taken back by the author" if answer.undone_at else answer.excluded_for
        withdraw_label(label=current, provenance={"reason": why})


def annotator_of(author: Author) -> Annotator:
    """The author as an annotator of the site's project, under their pseudonym."""
    if author.annotator is None:
        project = author.site.project
        found = annotator_for(project, kind=Kind.AUTHOR, name=author.pseudonym)
        author.annotator = found
        update_row(author, "annotator")
    return author.annotator


def item_of(question: Question) -> Item:
    """The item that the question is; made when it is first answered."""
    if question.item is not None:
        return question.item
    message, site = question.message, question.site
    item = Item(
        project=site.project,
        external_id=f"question-{question.uid.hex}",
        text=message.text,
        context=[_shown(each) for each in context_of(message)],
        question=question.text,
        options=[option["label"] for option in question.options],
        meta=_meta(question, site),
        content_hash=ref_of(str(question.uid)),
    )
    insert_row(item)
    open_items([item], site.project)
    question.item = item
    update_row(question, "item")
    return item


def _meta(question: Question, site: Site) -> dict[str, object]:
    values = {each["label"]: each["value"] for each in question.options if each.get("value")}
    return {
        "site": site.name,
        "feature": question.feature.key,
        "author": question.author.pseudonym,
        "conversation": ref_of(question.author.pseudonym, question.message.conversation.ref)[:16],
        "language": question.language,
        "predicted": question.predicted,
    } | ({"values": values} if values else {})


def _shown(message: Message) -> dict[str, str]:
    if message.role == Message.Role.AUTHOR:
        return {"role": "user", "text": message.text}
    short = message.text[:SHOWN_OF_REPLIES]
    return {"role": "assistant", "text": short + ("…" if short != message.text else "")}


def _draft(answer: Answer) -> LabelDraft:
    question = answer.question
    item, annotator = item_of(question), annotator_of(answer.author)
    nofit = answer.outcome == Answer.Outcome.NOFIT
    told = {
        "question": str(question.uid),
        "consent": answer.consent.text.version if answer.consent else None,
        "timing": answer.timing,
        "verified": answer.author.verified,
    }
    advisory = {ADVISORY: True} if answer.late or not question.site.answers_decide else {}
    return LabelDraft(
        item_id=item.pk,
        annotator=annotator,
        schema=current_schema(question.site.project),
        value=None if nofit else answer.value,
        abstained=nofit,
        action=Label.Action.NEW,
        seconds=round(answer.server_ms / 1000, 3),
        cost_nanousd=question.cost_nanousd,
        # The word of somebody whom no option fits is what to make the next options of.
        rationale=f"None of these fits: {answer.value}" if nofit and answer.value else "",
        provenance=told | advisory,
    )


def _label_of(answer: Answer) -> Label | None:
    """The author's label of the answer's item that stands now."""
    if answer.question.item_id is None or answer.author.annotator_id is None:
        return None
    return _current_label.first(answer.question.item_id, answer.author.annotator_id)


@prepared
def _current_label(item: int, annotator: int) -> QuerySet[Label]:
    return Label.objects.current().filter(item=item, annotator=annotator)
