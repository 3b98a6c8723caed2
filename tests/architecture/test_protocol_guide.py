"""docs/protocols.md says of each protocol what is true of it."""

from pathlib import Path

import pytest

from labelhub.core.debate import PROTOCOLS, ProtocolInfo

GUIDE = (Path(__file__).parents[2] / "docs" / "protocols.md").read_text(encoding="utf-8")
INFOS = pytest.mark.parametrize("info", PROTOCOLS.values(), ids=list(PROTOCOLS))


def between(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


@INFOS
def test_roles_calls_and_questions_are_as_listed(info: ProtocolInfo) -> None:
    settings = info.read_settings({})
    calls = info.calls(settings)
    roles = ", ".join(f"`{role}`" for role in info.roles(settings))
    row = (
        f"| `{info.name}` | {roles} | {between(calls.least, calls.most)} "
        f"| {between(calls.depth_least, calls.depth_most)} | {', '.join(map(str, info.tasks))} |"
    )
    assert row in GUIDE


@INFOS
def test_settings_are_as_listed(info: ProtocolInfo) -> None:
    for setting in info.settings:
        choices = ", ".join(str(choice) for choice in setting.choices)
        menu = choices or f"{setting.low:g} to {setting.high:g}"
        row = f"| `{info.name}` | `{setting.name}` | {setting.default} | {menu} | {setting.title} |"
        assert row in GUIDE
