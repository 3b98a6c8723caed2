"""A page as one file: styles and icons within, nothing to load, nothing that runs."""

import re
from pathlib import Path

from django.contrib.staticfiles.finders import find

SHEETS = (
    "tokens", "base", "components/icon", "components/card", "components/callout",
    "components/badge", "components/table", "components/figure", "components/chart",
    "components/text", "layout", "agreement", "standing",
)  # fmt: skip
_USE = re.compile(r'href="[^"#]*icons[^"#]*#([\w-]+)"')
_SYMBOL = re.compile(r'<symbol id="([\w-]+)".*?</symbol>', re.DOTALL)
_BODY = re.compile(r"(<body[^>]*>)")


def alone(page: str) -> str:
    """``page`` with the styles of the agreement page and the icons it uses within."""
    used = set(_USE.findall(page))
    drawn = _read("icons.svg")
    kept = [found[0] for found in _SYMBOL.finditer(drawn) if found[1] in used]
    sprite = f'<svg xmlns="http://www.w3.org/2000/svg" hidden>{"".join(kept)}</svg>'
    sheet = "\n".join(_read(f"css/{name}.css") for name in SHEETS)
    page = _USE.sub(r'href="#\1"', page).replace("</head>", f"<style>{sheet}</style></head>", 1)
    return _BODY.sub(lambda body: body[0] + sprite, page, count=1)


def _read(path: str) -> str:
    place = find(path)
    if place is None:
        raise FileNotFoundError(path)
    return Path(str(place)).read_text(encoding="utf-8")
