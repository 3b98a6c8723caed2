"""Small files, the command on them, and debates that ended as a test wants."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.utils import timezone

from apps.agreement.management.commands.paper_table import Command
from apps.agreement.papers import paper_table
from apps.agreement.papers.options import read_asked
from apps.agreement.papers.setups import Setup
from apps.debates.models import Debate, Run
from apps.debates.services import start_run
from apps.llm.models import ModelSpec
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from tests.factories.llm import ModelSpecFactory

#: (set-up, place of the item in its file, pass) → value (None: no usable answer) and signals.
Says = Callable[[Setup, int, int], tuple[Any, Mapping[str, Any]]]

MOODS = [
    ("good", "The room was good and the staff were good too."),
    ("bad", "A bad stay: bad food, a bad bed."),
    ("good", "We had a good time in a good place."),
    ("bad", "Nothing good to say, it was bad."),
    ("good", "All good."),
    ("bad", "The worst, so bad that we left."),
    ("good", "Good value and a good view."),
    ("bad", "Bad service, and bad weather on top of it."),
]
ASPECTS = [
    ({"Cleanliness": True, "Food": False}, "Spotless: the cleanliness of the room was great."),
    ({"Cleanliness": False, "Food": True}, "The food was cold but tasty."),
    ({"Cleanliness": True, "Food": True}, "Good food, and the cleanliness is beyond doubt."),
    ({"Cleanliness": False, "Food": False}, "Close to the station."),
    ({"Cleanliness": False, "Food": True}, "Breakfast food for every taste."),
    ({"Cleanliness": True, "Food": False}, "No complaint about cleanliness."),
]


def moods(folder: Path, name: str = "moods", **more: Any) -> Path:
    """A file of one choice between two labels."""
    rows = [
        {"id": f"{name}{at}", "text": text, "gold": gold, **more}
        for at, (gold, text) in enumerate(MOODS)
    ]
    return written(folder / f"{name}.jsonl", rows)


def aspects(folder: Path) -> Path:
    """A file of two aspects, each there or not."""
    rows = [{"item_id": f"r{at}", "text": text, "aspects": gold}
            for at, (gold, text) in enumerate(ASPECTS)]  # fmt: skip
    return written(folder / "reviews.jsonl", rows)


def labelled(folder: Path, golds: Sequence[Any], name: str = "data") -> Path:
    """A file of texts that say nothing, with these golds."""
    rows = [{"id": f"i{at}", "text": f"text number {at}", "gold": gold}
            for at, gold in enumerate(golds)]  # fmt: skip
    return written(folder / f"{name}.jsonl", rows)


def written(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """The rows as JSON lines."""
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def another_offline(name: str = "offline-b") -> ModelSpec:
    """A second model that costs nothing."""
    builtin = ensure_builtin()
    return ModelSpecFactory.create(provider=builtin.provider, name=name, price_in=0, price_out=0)


def printed(*args: Any) -> str:
    """What people read."""
    out = io.StringIO()
    call_command("paper_table", *map(str, args), stdout=out)
    return out.getvalue()


def told(*args: Any) -> dict[str, Any]:
    """What programs read."""
    found: dict[str, Any] = json.loads(printed(*args, "--json"))
    return found


def values(row: Mapping[str, Any], *columns: str) -> list[float | None]:
    """The numbers of a row, to four digits."""
    found = [row[column]["value"] for column in columns]
    return [None if each is None else round(each, 4) for each in found]


def row_of(table: Mapping[str, Any], **names: str) -> dict[str, Any]:
    """The one row that has these words."""
    (row,) = [row for row in table["rows"] if all(row[k] == v for k, v in names.items())]
    return dict(row)


def scripted(says: Says, *args: Any) -> dict[str, Any]:
    """The table of debates that have ended already, as ``says`` has it: no model is asked."""
    told(*args, "--dry-run")
    project = Project.objects.get()
    options = vars(Command().create_parser("", "paper_table").parse_args([*map(str, args)]))
    wanted = paper_table(options["table"])
    asked = read_asked(wanted, options)
    ids = list(project.items.order_by("pk").values_list("pk", flat=True))
    runs = {}
    for setup in wanted.setups(asked):
        passes = asked.replicates or wanted.replicates
        plan = setup.plan(item_ids=ids, replicates=passes)
        if setup.key not in runs:
            runs[setup.key] = start_run(project=project, actor=None, plan=plan)
            _end(runs[setup.key], setup, says)
    found = told(*args)
    assert set(found["runs"]) == {run.pk for run in Run.objects.all()}
    return found


def _end(run: Run, setup: Setup, says: Says) -> None:
    items = run.project.items.order_by("pk").values_list("pk", flat=True)
    places = {pk: at for at, pk in enumerate(items)}
    for debate in run.debates.all():
        value, signals = says(setup, places[debate.item_id], debate.replicate)
        debate.value, debate.signals = value, dict(signals)
        debate.status = Debate.Status.UNPARSED if value is None else Debate.Status.DONE
        debate.finished_at = timezone.now()
        debate.save()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.DONE)
