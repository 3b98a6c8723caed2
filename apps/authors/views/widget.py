"""The widget's files, and the public configuration of a site, for pages of other origins.

``make bundle`` builds the files from ``apps/authors/widget``; the first request reads them. No
cookie is read or set here. Any origin may load the files: they contain no personal data.
"""

import gzip
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from apps.authors.selectors.sites import check_open, known_site, widget_config
from labelhub.core.errors import LabelhubError

FOLDER: Path = settings.BASE_DIR / "static" / "widget"
ENTRY = "v1.js"
#: Placeholder in the entry for the build of the other files, which is part of their address.
BUILD_MARK = "__LH_BUILD__"
SCRIPT = "text/javascript; charset=utf-8"
HOUR = "public, max-age=3600, stale-while-revalidate=86400"
FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class WidgetFile:
    """A file for the response, plain and compressed."""

    plain: bytes
    packed: bytes
    etag: str


@require_safe
def widget_script(request: HttpRequest) -> HttpResponseBase:
    """``v1.js``: the address in the snippets, which never changes."""
    return _send_file(request, _files()[ENTRY], HOUR)


@require_safe
def widget_file(request: HttpRequest, build: str, name: str) -> HttpResponseBase:
    """Any other file. A page loaded before an update requests files of the previous build; it gets
    the present ones, and must not cache them under that address."""
    found = _files().get(name)
    if found is None:
        raise Http404
    return _send_file(request, found, FOR_EVER if build == build_of_files() else "no-store")


@require_safe
def config(request: HttpRequest, public_key: str) -> HttpResponseBase:
    """The public configuration of a site: its name, languages and consent text."""
    try:
        known = known_site(public_key)
        check_open(known.site, request.headers.get("Origin"))
    except LabelhubError as error:
        response = JsonResponse(
            {"code": error.code, "message": error.message}, status=error.http_status
        )
    else:
        language = request.GET.get("lang", "")[:2].lower()
        response = JsonResponse(widget_config(known, language))
    response["Cache-Control"] = "no-store"
    patch_vary_headers(response, ["Origin"])
    return _allow_everybody(response)


@lru_cache(maxsize=1)
def build_of_files() -> str:
    """A name that changes with any of the widget's files."""
    found = hashlib.sha256()
    for name, code in sorted(read_files().items()):
        found.update(f"{name}\0{code}\0".encode())
    return found.hexdigest()[:12]


@lru_cache(maxsize=1)
def read_files() -> dict[str, str]:
    """The text of the built files by their names within the folder."""
    paths = FOLDER.rglob("*.js")
    return {path.relative_to(FOLDER).as_posix(): path.read_text("utf-8") for path in paths}


@lru_cache(maxsize=1)
def _files() -> dict[str, WidgetFile]:
    files = {}
    for name, code in read_files().items():
        plain = code.replace(BUILD_MARK, build_of_files()).encode()
        etag = f'"{hashlib.sha256(plain).hexdigest()[:16]}"'
        files[name] = WidgetFile(plain, gzip.compress(plain, 9, mtime=0), etag)
    return files


def _send_file(request: HttpRequest, found: WidgetFile, caching: str) -> HttpResponse:
    if request.headers.get("If-None-Match") == found.etag:
        response = HttpResponse(status=304)
    elif "gzip" in request.headers.get("Accept-Encoding", ""):
        response = HttpResponse(found.packed, content_type=SCRIPT)
        response["Content-Encoding"] = "gzip"
    else:
        response = HttpResponse(found.plain, content_type=SCRIPT)
    response["Cache-Control"], response["ETag"] = caching, found.etag
    patch_vary_headers(response, ["Accept-Encoding"])
    return _allow_everybody(response)


def _allow_everybody(response: HttpResponse) -> HttpResponse:
    response["Access-Control-Allow-Origin"] = "*"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response
