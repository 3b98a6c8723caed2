"""Label a project's items as its reviewers would have, through the product's own service.

    python tests/bench/filled_queue.py SLUG

A queue that nobody has worked in tells nothing of one that is two thirds done.
"""

import json
import sys
from pathlib import Path

import django

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))


def main() -> None:
    """Every item gets the labels it wants, of the reviewers in turn; prints how many."""
    django.setup()
    from apps.accounts.models import User  # noqa: PLC0415 - Django has to be set up first
    from apps.projects.models import Item, Project  # noqa: PLC0415
    from apps.reviews.queue.answers import Answer  # noqa: PLC0415
    from apps.reviews.queue.submission import submit_label  # noqa: PLC0415
    from tests.bench.workload import right_label  # noqa: PLC0415

    project = Project.objects.get(slug=sys.argv[1])
    reviewers = list(User.objects.filter(memberships__project=project).order_by("pk"))
    labels = 0
    # Read at once: while a statement is open, SQLite refuses to write once another process has.
    for item in list(Item.objects.filter(project=project).order_by("pk")):
        answer = Answer(value=right_label(item.text), seconds=1)
        for _ in range(project.overlap):
            user = reviewers[labels % len(reviewers)]
            submit_label(project=project, user=user, item_id=item.pk, answer=answer)
            labels += 1
    print(json.dumps({"labels": labels}))


if __name__ == "__main__":
    main()
