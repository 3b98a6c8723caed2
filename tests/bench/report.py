"""What benches say: options, a table of figures against goals, and the same as JSON."""

import argparse
import json
import statistics
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

Figures = dict[str, Any]
#: name → (at most | at least, bound).
Goals = Mapping[str, tuple[str, float]]


def option_parser(
    description: str, sections: Sequence[str] = (), *, besides: Collection[str] = ()
) -> argparse.ArgumentParser:
    """The options of every bench; ``--only`` where it has sections. Those in ``besides`` run only
    when they are named."""

    def named(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",") if name.strip()]
        if unknown := set(names) - {*sections, *besides}:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
        return names

    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", default="", help="Also write the JSON to this file.")
    parser.add_argument("--strict", action="store_true", help="Fail when a goal is missed.")
    if sections:
        usual = f"By default all of: {','.join(sections)}."
        parser.add_argument("--only", type=named, default=[*sections], help=usual)
    return parser


def report(figures: Figures, goals: Goals, options: argparse.Namespace) -> int:
    """Print the table and, on the last line, the JSON; the bench's exit code."""
    figures = {
        name: round(figure, 3) if isinstance(figure, float) else figure
        for name, figure in figures.items()
    }
    missed = []
    print(f"{'figure':<30}{'value':>12}  goal")
    for name, figure in figures.items():
        goal = ""
        if name in goals:
            how, bound = goals[name]
            met = figure <= bound if how == "<=" else figure >= bound
            missed += [] if met else [name]
            goal = f"{how} {bound:g}  {'MET' if met else 'MISSED'}"
        print(f"{name:<30}{figure!s:>12}  {goal}".rstrip())
    print_json({**figures, "missed": missed}, options)
    return 1 if missed and options.strict else 0


def print_json(figures: Figures, options: argparse.Namespace) -> None:
    """Print the JSON, and write it where the options say."""
    text = json.dumps(figures)
    print(text)
    if options.json:
        Path(options.json).write_text(text + "\n")


def spread(name: str, seconds: Sequence[float]) -> dict[str, float]:
    """Quantiles in milliseconds under ``name``."""
    if len(seconds) < 2:
        return {}
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    found = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(seconds)}
    return {f"{name}_{which}_ms": took * 1000 for which, took in found.items()}
