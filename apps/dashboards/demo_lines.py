"""What sample visitors of the demo's shop write, and the offline model that reads it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from apps.llm.models import ModelSpec
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.types import Call, Completion

TALK = Path(__file__).parent / "demo" / "shop_talk.json"
#: What a message says something about.
PARTS = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A message, what it is about, and what its author would answer about it, by feature."""

    text: str
    ware: str
    answers: dict[str, str]


class Offline:
    """The offline model itself: there is nothing to connect to."""

    async def complete(self, spec: ModelSpec, call: Call) -> Completion:
        """What it says, without a gateway's waiting and counting."""
        return await OfflineModel().complete(call)


def sample_lines(many: int) -> Iterator[Line]:
    """The same lines at every start."""
    told, draws = json.loads(TALK.read_text(encoding="utf-8")), Random(8)  # noqa: S311 - samples
    first, *others = told["parts"]
    for _ in range(many):
        chosen = [first, *draws.sample(others, PARTS - 1)]
        values = {key: draws.choice(sorted(told["parts"][key])) for key in chosen}
        said = [draws.choice(told["parts"][key][value]) for key, value in values.items()]
        ware = draws.choice(told["wares"])
        yield Line(" ".join(said).replace("{ware}", ware), ware, values)
