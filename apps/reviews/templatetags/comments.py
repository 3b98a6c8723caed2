"""Template tags of comments and adjudication."""

import json
from typing import Any

from django import template
from django.utils.safestring import SafeString

from apps.reviews.comments.selectors import MANY
from apps.reviews.comments.selectors import unread_mentions as count_unread
from apps.reviews.comments.services import mark_mentions
from apps.reviews.models import Comment

register = template.Library()


@register.simple_tag(takes_context=True)
def unread_mentions(context: template.Context) -> str:
    """How many comments in ``project`` are meant for this person and unread; empty for none."""
    user, project = context.get("user"), context.get("project")
    if user is None or project is None or not user.is_authenticated:
        return ""
    unread = count_unread(project.pk, user.pk)
    return f"{MANY}+" if unread > MANY else str(unread or "")


@register.filter
def said(comment: Comment) -> SafeString:
    """The comment's words, escaped; the names of those it is meant for stand out."""
    return mark_mentions(comment.text, [row.user.username for row in comment.mentions.all()])


@register.filter
def quote_field(quote: tuple[str, str]) -> str:
    """A label and a phrase as a form sends them."""
    return json.dumps(list(quote), ensure_ascii=False)


@register.filter
def json_words(value: Any) -> str:
    """A JSON text for an attribute of the page."""
    return json.dumps(value, ensure_ascii=False)
