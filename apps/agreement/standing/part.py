"""Which part of the labels a report is about, in words."""

from apps.agreement.standing.truths import Report

_KINDS = {
    "llm": "LLMs",
    "crowd": "the crowd",
    "expert": "experts",
    "author": "authors",
    "model": "models",
}


def part_words(report: Report, who: str = "") -> str:
    """``Only items tagged “urgent”, labels by the crowd``; empty where it is about all labels.

    ``who``: what the annotator is called whose labels alone they are.
    """
    asked = report["slice"]
    parts = []
    if tag := asked.get("tag"):
        parts.append(f"items tagged “{tag}”" if "=" not in tag else f"items with “{tag}”")
    if kind := asked.get("kind"):
        parts.append(f"labels by {_KINDS.get(kind, kind)}")
    if annotator := asked.get("annotator"):
        parts.append(f"labels by {who or f'annotator {annotator}'}")
    if run := asked.get("run"):
        replicate = f", replicate {asked['replicate']}" if "replicate" in asked else ""
        parts.append(f"of machines the labels of run {run}{replicate}")
    if label := asked.get("label"):
        parts.append(f"whether it is “{label}” or not")
    if days := _days(asked.get("since"), asked.get("until")):
        parts.append(f"labels {days}")
    return f"Only {'; '.join(parts)}" if parts else ""


def _days(since: str | None, until: str | None) -> str:
    if since and until:
        return f"of {since}" if since == until else f"from {since} to {until}"
    return f"from {since} on" if since else f"up to {until}" if until else ""
