"""Template tags and filters of every page; the page ``/design/`` shows their use."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator
from django.utils.translation import get_language_bidi, gettext

from apps.common import figures, highlight, values
from apps.common.charts import KIND_WORDS, Chart
from apps.common.charts.drawing import svg_element
from apps.common.theme import current_theme, is_nav_narrow
from labelhub.core import schema

register = template.Library()

#: The end of an id that was made of a text or a question.
CODE = re.compile(r"[0-9a-f]{32}$")

_TONES = {
    "success": "ok", "ok": "ok", "warning": "warn", "warn": "warn", "error": "bad", "bad": "bad",
}  # fmt: skip


@register.simple_tag(takes_context=True)
def html_attributes(context: template.Context) -> SafeString:
    """Attributes of ``<html>``: direction, theme and width of the navigation."""
    request = context.get("request")
    width = mark_safe(' data-nav="narrow"') if is_nav_narrow(request) else ""
    return format_html(
        ' dir="{}" data-theme="{}"{}',
        "rtl" if get_language_bidi() else "ltr",
        current_theme(request),
        width,
    )


@register.simple_tag(takes_context=True, name="current_theme")
def chosen_theme(context: template.Context) -> str:
    """``auto``, ``light`` or ``dark``."""
    return current_theme(context.get("request"))


@register.simple_tag
def icon(name: str, label: str = "", css: str = "") -> SafeString:
    """An icon of the sprite; decorative without a ``label``."""
    address = static("icons.svg")
    hidden = mark_safe('aria-hidden="true"')
    role = format_html('role="img" aria-label="{}"', label) if label else hidden
    return format_html(
        '<svg class="{}" width="18" height="18" viewBox="0 0 20 20" {}>'
        '<use href="{}#{}"></use></svg>',
        f"icon {css}".strip(),
        role,
        address,
        name,
    )


@register.simple_tag
def kind_icon(kind: str) -> SafeString:
    """The shape of an annotator kind, in the colour of the text."""
    return icon(f"kind-{kind if kind in KIND_WORDS else 'model'}", css="icon--solid")


@register.filter
def kind_word(kind: str) -> str:
    """The name of an annotator kind."""
    return gettext(KIND_WORDS.get(str(kind), str(kind)))


@register.inclusion_tag("components/figure_drawn.html", name="figure")
def draw(figure: Mapping[str, Any] | None, percent: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 - a template flag
    """A figure: value, interval bar and n, or why it has no value."""
    return {"drawn": figures.draw_figure(figure, percent=bool(percent))}


@register.inclusion_tag("components/chart.html", name="chart")
def show_chart(
    chart: Chart | None,
    *,
    bare: bool = False,
    without_table: bool = False,
    files: str = "",
    query: str = "",
) -> dict[str, Any]:
    """A chart with its table of numbers; nothing for None.

    ``bare``: without the title. ``without_table``: without the table. ``files``: the address of its
    SVG file, which PNG and CSV resemble; ``query`` is added to each.
    """
    if chart is None:
        return {}
    forms = ("SVG", "PNG", "CSV") if chart.marks else ("CSV",)
    stem, end = files.removesuffix("svg"), f"?{query}" if query else ""
    return {
        "chart": chart,
        "drawing": mark_safe(svg_element(chart)),  # noqa: S308 - svg_element escapes all words
        "bare": bare,
        "without_table": without_table,
        "files": [(form, f"{stem}{form.lower()}{end}") for form in forms] if files else [],
    }


@register.simple_tag(takes_context=True)
def query_with(context: template.Context, **changes: Any) -> str:
    """The page's query string with ``changes``; None or "" removes a parameter.

    Any other change goes back to the first page.
    """
    params = context["request"].GET.copy()
    if "page" not in changes:
        params.pop("page", None)
    for key, value in changes.items():
        if value is None or value == "":
            params.pop(key, None)
        else:
            params[key] = str(value)
    return f"?{params.urlencode()}"


@register.inclusion_tag("components/sort_header.html", takes_context=True)
def sort_header(
    context: template.Context, key: str, text: str, numeric: bool = False  # noqa: FBT001, FBT002 - a template flag
) -> dict[str, Any]:  # fmt: skip
    """A ``<th>`` that sorts its table by ``?sort=key`` or ``?sort=-key``."""
    now = context["request"].GET.get("sort", context.get("sort", ""))
    state = {key: "ascending", f"-{key}": "descending"}.get(now, "")
    wanted = f"-{key}" if state == "ascending" else key
    address = query_with(context, sort=wanted)
    return {"text": text, "state": state, "address": address, "numeric": numeric}


#: A heading of ``table``: its cell and its words.
Heading = str | tuple[str, str]


@register.filter
def numeric(shown: object, words: str) -> Heading:
    """``True|numeric:words``: the heading of a column of numbers; left out unless ``shown``."""
    return ('<th scope="col" class="numeric">{}</th>', words) if shown else ""


@register.filter
def hidden(shown: object, words: str) -> Heading:
    """``True|hidden:words``: a heading for screen readers alone; left out unless ``shown``."""
    return ('<th scope="col"><span class="visually-hidden">{}</span></th>', words) if shown else ""


@register.filter
def when(shown: object, words: str) -> Heading:
    """``shown|when:words``: the heading of a column that may be left out."""
    return words if shown else ""


@register.simple_block_tag
def table(
    content: SafeString,
    css: str,
    *headings: Heading,
    label: str = "",
    labelledby: str = "",
    caption: str = "",
) -> SafeString:
    """A table of the classes ``css`` (``a.b``) around its rows; without ``headings`` around its
    own head and body.

    It scrolls by keyboard where ``label``, or the element ``labelledby``, names it.
    """
    scrolls = ""
    if label:
        scrolls = format_html(' tabindex="0" role="region" aria-label="{}"', label)
    elif labelledby:
        scrolls = format_html(' tabindex="0" role="group" aria-labelledby="{}"', labelledby)
    if caption:
        caption = format_html('<caption class="visually-hidden">{}</caption>', caption)
    if headings:
        cells = [
            format_html(*heading) if isinstance(heading, tuple)
            else format_html('<th scope="col">{}</th>', heading)
            for heading in headings if heading
        ]  # fmt: skip
        head = mark_safe("".join(cells))  # noqa: S308 - format_html has escaped all words
        content = format_html("<thead><tr>{}</tr></thead><tbody>{}</tbody>", head, content)
    return format_html(
        '<div class="table-wrap"{}><table class="{}">{}{}</table></div>',
        scrolls, " ".join(["table", *filter(None, css.split("."))]), caption, content,
    )  # fmt: skip


@register.simple_tag
def highlighted(
    text: str,
    evidence: Mapping[str, Iterable[str]] | None = None,
    labels: Mapping[str, tuple[str, str]] | None = None,
) -> SafeString:
    """``text`` escaped, with the quotes of ``evidence`` marked, as ``highlight`` does."""
    return highlight.highlight(text, evidence, labels)


@register.simple_tag
def label_tags(
    value: Any, under: schema.Schema | None, options: Sequence[str] = ()
) -> SafeString | str:
    """A value as one tag for each label, in the label's colour; words that are no label as a tag
    without a colour. ``under`` is the schema, ``options`` those of the item."""
    named = under.task.names_in(under, value) if under and value is not None else []
    names = named or [values.value_words(value)]
    colors = [under.color(name, options) if under else "" for name in names]
    return format_html_join(
        " ",
        '<span class="tag"{} dir="auto">{}</span>',
        (
            (format_html(' data-color="{}"', color) if color else "", name)
            for name, color in zip(names, colors, strict=True)
        ),
    )


@register.filter
def value_words(value: Any) -> str:
    """A label's value in words."""
    return values.value_words(value)


@register.filter
def money(nano_usd: float | None) -> str:
    """Nano-dollars as dollars."""
    return figures.money(nano_usd)


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds in at most two units."""
    return figures.duration(seconds)


@register.filter
def count(number: float | None) -> str:
    """A whole number with thousands separators."""
    return "—" if number is None else figures.count_words(number)


@register.filter
def number(value: float, decimals: int = 2) -> str:
    """A number with fixed decimals, as in a figure."""
    return figures.localise(f"{value:.{decimals}f}")


@register.filter
def readable_id(external_id: str, text: str = "") -> str:
    """The id of an item. A long code is replaced by the first words of ``text``; where the text is
    beside it anyway, by its beginning."""
    if not (code := CODE.search(external_id)):
        return external_id
    words = " ".join(text[:200].split())
    return Truncator(words).chars(50) or f"{external_id[: code.start() + 8]}…"


@register.filter
def tone(level: str) -> str:
    """The tone of a message level: ok, warn, bad or info."""
    return _TONES.get(str(level), "info")


@register.filter
def initials(name: str) -> str:
    """At most two initials of a name."""
    words = str(name).replace("_", " ").replace(".", " ").replace("-", " ").split()
    letters = [word[0] for word in words[:1] + words[1:][-1:]]
    return "".join(letters).upper() or "?"
