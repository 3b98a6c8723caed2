"""The guide's example of another downstream task works as it stands."""

import functools
import re
from pathlib import Path

import httpx
import pytest
from django.core.wsgi import get_wsgi_application

from apps.authors.services.questions import ask_now
from apps.echo.models import Echo, LogEvent, Selection
from tests.factories.authors import server_key

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "echo-rest.md"


@pytest.mark.django_db(transaction=True)
def test_the_example_works(
    echo: Echo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    monkeypatch.setattr("apps.authors.api.messages.launch_asking", ask_now)
    here = httpx.WSGITransport(app=get_wsgi_application())
    monkeypatch.setattr(httpx, "Client", functools.partial(httpx.Client, transport=here))
    names = {"public_key": echo.site.public_key, "server_key": server_key(echo.site)}
    exec(compile(block, GUIDE.name, "exec"), names)  # noqa: S102 - our own guide
    *features, status = capsys.readouterr().out.splitlines()
    chosen = Selection.objects.get()
    assert [line.split()[0] for line in features] == chosen.selected
    assert status == "201"
    assert LogEvent.objects.get().data["value"] == 1.0
