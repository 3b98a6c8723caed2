"""What the pages of reviewers, of comments and of adjudication show in their own way."""

import json
import re
from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.common.templatetags.labelhub import label_tags
from apps.common.values import value_words
from apps.debates.conversation.speech import place_of, stage_of
from apps.debates.models import Turn
from apps.reviews.comments.selectors import MANY
from apps.reviews.comments.selectors import unread_mentions as count_unread
from apps.reviews.comments.services import mark_mentions
from apps.reviews.models import Comment
from labelhub.core.schema import Schema

register = template.Library()

#: Keys whose names are too long for a button.
CAPS = {"Enter": "Enter", "Backspace": "⌫", "Delete": "Del"}
#: The line of a model's answer that holds the decision.
_DECISION = re.compile(r"[\s*#_]*final decision\b", re.IGNORECASE)
#: Of a set of labels, a row of a list shows so many.
MOST_TAGS = 3
#: How sure somebody says they are, and what is stored.
SURENESS = ((0.5, _("A guess")), (0.7, _("Rather sure")), (0.9, _("Sure")), (0.99, _("Certain")))


@register.simple_tag
def key_cap(keys: str) -> SafeString:
    """The first of an action's keys as it is printed on a button, nothing without any; screen
    readers hear the button alone."""
    if not keys:
        return format_html("")
    key = keys.split(" ", maxsplit=1)[0]
    return format_html('<kbd aria-hidden="true">{}</kbd>', CAPS.get(key, key.upper()))


@register.simple_tag
def sureness_choices() -> tuple[tuple[float, StrOrPromise], ...]:
    """Value and words of each answer to how sure somebody is."""
    return SURENESS


@register.simple_tag(takes_context=True)
def unread_mentions(context: template.Context) -> str:
    """How many comments in ``project`` are meant for this person and unread; empty for none."""
    user, project = context.get("user"), context.get("project")
    if user is None or project is None or not user.is_authenticated:
        return ""
    unread = count_unread(project.pk, user.pk)
    return f"{MANY}+" if unread > MANY else str(unread or "")


@register.filter
def speaker(turn: Turn) -> str:
    """Who speaks in a turn of a debate, such as "Critic" or "Annotator A"."""
    _, step, role = stage_of(turn.step, turn.role)
    return place_of(step, role).name


@register.simple_tag
def spoken(turn: Turn, schema: Schema) -> list[tuple[str, str]]:
    """What a turn says: for each point the label that it is about, or "", and the words. The
    decision is left out, as it is the turn's value."""
    names = schema.offered(turn.debate.item.options)
    points: list[tuple[str, str]] = []
    for line in filter(None, map(str.strip, turn.words.splitlines())):
        name, words = _read_point(line)
        if name in names:
            points.append((name, words))
        elif not _DECISION.match(line):
            points.append(("", line.replace("**", "")))
    return points


def _read_point(line: str) -> tuple[str, str]:
    """What a line such as ``- **Food:** fresh`` is about, and what it says. Not by a pattern, which
    takes minutes if a model repeats blanks or stars."""
    name, _, words = line[1:].partition(":")
    about = name.strip(" \t*") if line[0] in "-*•" and line[1:2].isspace() else ""
    return about, words.lstrip("*").lstrip()


@register.filter
def comment_text(comment: Comment) -> SafeString:
    """The comment's words, escaped; the names of those it is meant for stand out."""
    return mark_mentions(comment.text, [row.user.username for row in comment.mentions.all()])


@register.simple_tag
def short_tags(value: Any, under: Schema, options: Sequence[str] = ()) -> SafeString | str:
    """A value in a row of a list: the tags of its first labels; a written answer as text."""
    if under.task.written:
        return Truncator(value_words(value)).chars(60)
    rest = value[MOST_TAGS:] if isinstance(value, list) else []
    if not rest:
        return label_tags(value, under, options)
    return format_html(
        '{} <span class="muted small" title="{}">+{}</span>',
        label_tags(value[:MOST_TAGS], under, options),
        ", ".join(rest),
        len(rest),
    )


@register.filter
def json_words(value: Any) -> str:
    """JSON for an attribute of the page, as a form sends it."""
    return json.dumps(value, ensure_ascii=False)
