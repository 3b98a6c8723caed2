"""Load htmx only on pages that use it, as it is half of a page's weight."""

import re

from django import template
from django.template.base import NodeList, Parser, Token
from django_htmx.jinja import htmx_script

register = template.Library()

_USES_HTMX = re.compile(r"\shx-(?:get|post|put|patch|delete)=")


class HtmxWhereUsed(template.Node):
    """Its contents, and the htmx script if they use htmx."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: template.Context) -> str:
        """The contents, with the script if needed."""
        html = self.nodelist.render(context)
        return html + htmx_script(minified=True) if _USES_HTMX.search(html) else html


@register.tag
def htmxwhereused(parser: Parser, _token: Token) -> HtmxWhereUsed:
    """``{% htmxwhereused %}…{% endhtmxwhereused %}`` around the body of a page."""
    nodelist = parser.parse(("endhtmxwhereused",))
    parser.delete_first_token()
    return HtmxWhereUsed(nodelist)
