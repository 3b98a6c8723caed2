"""``model NAME``: show a model, or set its prices and limits."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from apps.common.commands import LabelhubCommand
from apps.llm import selectors
from apps.llm.models import ModelSpec
from apps.llm.services import model_for_run, save_model, save_provider
from apps.projects.selectors import find_project
from labelhub.core.errors import InvalidInput


class Command(LabelhubCommand):
    """Show or change one model; create it if the environment names an endpoint."""

    help = "Show a model, or set its prices and limits."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="[PROVIDER/]NAME")
        parser.add_argument("--project", metavar="SLUG", help="Also look among its own models.")
        parser.add_argument("--price-in", metavar="USD", help="Per million tokens of input.")
        parser.add_argument("--price-out", metavar="USD", help="Per million tokens of output.")
        parser.add_argument("--free", action="store_true", help="The model is free.")
        parser.add_argument("--max-tokens", type=int, metavar="N", help="Longest answer.")
        parser.add_argument(
            "--concurrency", type=int, metavar="N", help="Concurrent calls of its provider."
        )

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Find the model, change the given values, show it."""
        changes = _changes(options)
        project = find_project(options["project"]) if options["project"] else None
        try:
            model = selectors.find_model(options["name"], selectors.usable_models(project))
        except selectors.UnknownModelName:
            model = model_for_run(options["name"], project)
        with transaction.atomic():
            for field, value in changes.items():
                setattr(model, field, value)
            if changes:
                save_model(model)
            if options["concurrency"] is not None:
                model.provider.max_concurrency = _positive("--concurrency", options["concurrency"])
                save_provider(model.provider)
        found = report(model)
        self.say(f"{found['provider']}/{found['name']}, for {found['purpose']}.")
        if found["free"]:
            self.say("It is free.")
        elif found["prices_known"]:
            prices = f"{found['price_in']:g} in, {found['price_out'] or 0:g} out"
            self.say(f"USD per million tokens: {prices}.")
        else:
            self.say("Its prices are unknown, so runs with it cannot have a budget.")
        self.say(f"Longest answer: {found['max_tokens']} tokens.")
        self.say(f"Maximum concurrent calls: {found['concurrency']}.")
        return found


def report(model: ModelSpec) -> dict[str, Any]:
    """The output of ``--json``; prices in USD per million tokens, null = unknown."""
    return {
        "name": model.name,
        "provider": model.provider.name,
        "purpose": model.purpose,
        "price_in": _number(model.price_in),
        "price_out": _number(model.price_out),
        "priced_at": model.priced_at,
        "prices_known": model.prices_known,
        "free": model.free,
        "max_tokens": model.max_output_tokens,
        "concurrency": model.provider.max_concurrency,
        "offline": model.offline,
    }


def _changes(options: Mapping[str, Any]) -> dict[str, Any]:
    priced = options["price_in"] is not None or options["price_out"] is not None
    if options["free"] and priced:
        raise InvalidInput("--free: use it without --price-in and --price-out.")
    changes: dict[str, Any] = {}
    if options["free"]:
        changes = {"price_in": Decimal(0), "price_out": Decimal(0)}
        changes |= {"price_cached_in": None, "price_reasoning": None}
    for field in ("price_in", "price_out"):
        if options[field] is not None:
            changes[field] = _price(field, options[field])
    if options["max_tokens"] is not None:
        changes["max_output_tokens"] = _positive("--max-tokens", options["max_tokens"])
    return changes


def _price(field: str, text: str) -> Decimal:
    try:
        price = Decimal(text)
    except InvalidOperation:
        price = Decimal(-1)
    if not price.is_finite() or price < 0:
        option = f"--{field.replace('_', '-')}"
        raise InvalidInput(f"{option}: '{text}' is not a price in USD, such as 0.15.")
    return price


def _positive(option: str, number: int) -> int:
    if number < 1:
        raise InvalidInput(f"{option}: must be 1 or more, not {number}.")
    return number


def _number(price: Decimal | None) -> float | None:
    return None if price is None else float(price)
