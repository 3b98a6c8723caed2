"""Where a site's pages are, and what they say without their tags."""

import html
import re
from typing import Any

from apps.authors.models import Site


def page(site: Site, rest: str = "") -> str:
    """The address of one of a site's pages."""
    return f"/p/{site.project.slug}/sites/{site.pk}/{rest}"


def words(response: Any) -> str:
    """The page's words; it may carry neither styles nor scripts of its own."""
    source = response.content.decode()
    assert "<style" not in source
    assert not re.search(r"<[^>]*\sstyle=", source)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", source)))
