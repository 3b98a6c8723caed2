"""The database side of the debate benchmark, in a process of its own: it needs the settings.

    python tests/bench/debate_store.py prepare FOLDER SLUG=COUNT ...   projects with items
    python tests/bench/debate_store.py audit RUN CALLS_PER_ITEM        what a run left behind

Prints one JSON object.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import django

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
django.setup()

from django.core.management import call_command  # noqa: E402 - needs the settings
from django.db.models import Count, QuerySet  # noqa: E402

from apps.debates.models import Debate, Run, Turn  # noqa: E402
from apps.labels.models import ItemState, Label  # noqa: E402
from tests.bench.bare_client import LABELS, texts_of_words  # noqa: E402


def prepare(folder: Path, counts: dict[str, int]) -> dict[str, Any]:
    """A database with a project for each slug, by the product's own commands."""
    quiet = {"verbosity": 0, "stdout": sys.stderr}
    call_command("migrate", **quiet)
    for slug, count in counts.items():
        path = folder / f"{slug}.json"
        rows = [
            {"id": f"t{index}", "text": text} for index, text in enumerate(texts_of_words(count))
        ]
        path.write_text(json.dumps(rows))
        call_command("create_project", slug, task="single", labels=",".join(LABELS), **quiet)
        call_command("import_items", slug, str(path), **quiet)
    return {"projects": list(counts)}


def audit(run_id: int, calls_per_item: int) -> dict[str, Any]:
    """Whether everything that was to be stored is there, once."""
    run = Run.objects.get(pk=run_id)
    debates = Debate.objects.filter(run=run)
    statuses = Counter(debates.values_list("status", flat=True))
    assert run.started_at is not None
    ended = run.finished_at or run.started_at
    return {
        "status": run.status,
        "message": run.message,
        "seconds": (ended - run.started_at).total_seconds(),
        "debates": sum(statuses.values()),
        "unparsed": statuses[Debate.Status.UNPARSED],
        "lost": _lost(run, statuses),
        "turns": Turn.objects.filter(debate__run=run).count(),
        "turns_off": _turns_off(debates, calls_per_item),
        "unparsed_not_queued": _not_queued(debates),
    }


def _lost(run: Run, statuses: Counter[str]) -> int:
    """Debates that ended neither with a label nor unparsed, and labels that are not there."""
    done = statuses[Debate.Status.DONE]
    unended = sum(statuses.values()) - done - statuses[Debate.Status.UNPARSED]
    return unended + abs(done - Label.objects.filter(run_uid=run.uid).count())


def _turns_off(debates: QuerySet[Debate], wanted: int) -> int:
    return debates.annotate(count=Count("turns")).exclude(count=wanted).count()


def _not_queued(debates: QuerySet[Debate]) -> int:
    """Items without a usable label that do not wait for people with a reason."""
    items = debates.filter(status=Debate.Status.UNPARSED).values("item")
    states = ItemState.objects.filter(item__in=items)
    waiting = sum(bool(reasons) for reasons in states.filter(queued=True).values_list("reasons"))
    return items.count() - waiting


def main(command: str, *given: str) -> None:
    """One of the two commands."""
    if command == "prepare":
        counts = {
            slug: int(count) for slug, _, count in (part.partition("=") for part in given[1:])
        }
        prepared = prepare(Path(given[0]), counts)
    else:
        prepared = audit(int(given[0]), int(given[1]))
    print(json.dumps(prepared))


if __name__ == "__main__":
    main(*sys.argv[1:])
