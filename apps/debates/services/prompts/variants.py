"""A project's own versions of prompts: check, save, and compare with the present text."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_noop

from apps.accounts.models import User
from apps.common.audit import Action, record
from apps.debates.models import PromptVariant, Run
from apps.debates.services.experiments import sample_verified_items
from apps.debates.services.plans import RunPlan
from apps.debates.services.preview import Preview, preview
from apps.debates.services.prompts.library import find_prompt, protocol_of
from apps.debates.services.prompts.rendering import Rendering, render_prompt
from apps.debates.services.role_assignment import prompt_library
from apps.debates.services.run_spec import salt_of
from apps.debates.services.runs import start_run
from apps.llm.models import ModelSpec
from apps.llm.services import remember_prompt
from apps.projects.models import Item, Project
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.core.llm.types import Output
from labelhub.core.phrases import Phrase
from labelhub.core.prompts import FORM, Prompt, PromptError, fence, parse_prompt

#: The lines from which answers are read.
FORMS = {
    Output.DECISION: ("Final Decision:",),
    Output.RANKING: ("First choice:", "Second choice:"),
}
NO_GUARD = gettext_noop(
    "The paragraph that tells models to treat what stands between <text> and </text> as data was "
    "removed or changed. A text that gives orders is then more likely to be obeyed."
)
NEW_FORM = gettext_noop(
    "The form of the answer was changed. Try the variant and see whether its answers can be read."
)
NO_FORM = gettext_noop(
    "Nothing asks for %(form)s any more: answers can then hardly be read, and items go to people "
    "without a label."
)
_ASKS_FOR_FORM = re.compile(rf"\{{[{{%][^}}\n]{{0,200}}\b{FORM}\b")
_HEADING = re.compile(r"^## \w+\s*$", re.MULTILINE)
#: Words of the parser → words for people.
_PLAIN_WORDS = (
    ("is not a valid template: ", ""),
    ("declares ", "every input must be used, but "),
    (" but does not use it", " is not"),
)


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """A valid draft with its rendering and warnings."""

    draft: Prompt
    rendering: Rendering
    warnings: list[str]


def draft_variant(present: Prompt, *, system: str, user: str) -> Prompt:
    """The prompt with other texts under the same front matter.

    Raises:
        InvalidInput: with the field ("system", "user" or none) and the line.
    """
    for section, text in (("system", system), ("user", user)):
        heading = _HEADING.search(text)
        if heading:
            line = text.count("\n", 0, heading.start()) + 1
            words = Phrase(
                "Line %(line)s: '%(strip)s' would begin a section of its own.",
                line=line,
                strip=heading[0].strip(),
            )
            raise InvalidInput.at(section, words)
    head = present.body[: present.body.index("\n## system\n")]
    if not _ASKS_FOR_FORM.search(f"{system}\n{user}"):
        # Without a choice of the form, no model is asked for JSON.
        head = re.sub(r"^fields: .*\n", "", head, flags=re.MULTILINE)
        head = re.sub(rf"^(inputs: .*), {FORM}\]", r"\1]", head, flags=re.MULTILINE)
    body = f"{head}\n## system\n{system}\n## user\n{user}\n"
    try:
        draft = parse_prompt(present.name, body)
    except PromptError as error:
        raise _invalid_input(present.name, error) from None
    if draft.hash == present.hash:
        raise InvalidInput("This is the present text: change something first.")
    return draft


def check_draft(project: Project, present: Prompt, *, system: str, user: str) -> CheckedDraft:
    """A draft, parsed and rendered for the project's first item or for a sample.

    Raises:
        InvalidInput: it cannot be parsed or rendered, or does not show the text to label; with
            the field and, if known, the line.
    """
    draft = draft_variant(present, system=system, user=user)
    item = Item.objects.filter(project=project).order_by("pk").first() or Item(
        project=project, external_id="sample", text=gettext("A sample text."), options=["Yes", "No"]
    )
    try:
        shown = render_prompt(project, draft, item)
    except PromptError as error:
        raise _invalid_input(present.name, error) from None
    text = fence(item.text, salt_of(project))
    if "item" in draft.inputs and text not in shown.text:
        raise InvalidInput.at("user", "The prompt does not show the text to label: add {{ item }}.")
    return CheckedDraft(draft, shown, warnings_about(draft))


def save_variant(
    *, project: Project, actor: User | None, draft: Prompt, title: str
) -> PromptVariant:
    """Save a draft as a variant of the project. Equal content is the same version; a retired
    variant with this content is offered again under the new title.

    Raises:
        InvalidInput: there is such a variant already.
    """
    with transaction.atomic():
        version = remember_prompt(draft)
        made, created = PromptVariant.objects.get_or_create(
            project=project,
            name=draft.name,
            version=version,
            defaults={"title": title, "created_by": actor},
        )
        if not created and not made.retired:
            raise InvalidInput("The variant '%(title)s' has the same text.", title=made.title)
        if not created:
            made.title, made.retired = title, False
            made.save(update_fields=["title", "retired"])
        record(Action.PROMPT_CREATED, made)
    return made


@transaction.atomic
def retire_variant(*, variant: PromptVariant) -> PromptVariant:
    """Stop offering the variant; runs that used it do not change."""
    variant.retired = True
    variant.save(update_fields=["retired"])
    record(Action.PROMPT_RETIRED, variant)
    return variant


def warnings_about(prompt: Prompt) -> list[str]:
    """Warnings about a version that is allowed but may work badly."""
    library = prompt_library()
    system, user = (text for _, text in prompt.sections)
    found = []
    if library.shared("untrusted") not in system and library.shared("untrusted") not in user:
        found.append(gettext(NO_GUARD))
    missing = [words for words in FORMS.get(Output(prompt.output), ()) if words not in user]
    if missing:
        forms = ", ".join(f"'{words}'" for words in missing)
        found.append(gettext(NO_FORM) % {"form": forms})
    elif prompt.output == Output.DECISION and library.shared("decision") not in user:
        found.append(gettext(NEW_FORM))
    return found


def inputs_match(variant: PromptVariant) -> bool:
    """Whether the prompt's file still has the inputs of the variant."""
    present = find_prompt(variant.name.replace("/", "-"))
    written = parse_prompt(variant.version.name, variant.version.body)
    return set(written.inputs) - {FORM} == set(present.inputs) - {FORM}


def _invalid_input(name: str, error: PromptError) -> InvalidInput:
    """The error at its field, with its line, in words without the prompt's name."""
    words = error.message.replace(f"The prompt '{name}' ", "")
    for technical, plain in _PLAIN_WORDS:
        words = words.replace(technical, plain)
    words = capfirst(words)
    if "section" not in error.data:
        return InvalidInput(words)
    return InvalidInput.at(
        error.data["section"], "Line %(line)s: %(error)s", line=error.data["line"], error=words
    )


TRIAL_ITEMS = 10


def trial_roles(variant: PromptVariant) -> tuple[str, tuple[str, ...]]:
    """The protocol of a trial of the variant, and its roles."""
    info, settings = protocol_of(variant.name)
    return info.name, info.roles(settings)


def trial_plans(
    project: Project, variant: PromptVariant, models: Mapping[str, ModelSpec]
) -> tuple[RunPlan, RunPlan]:
    """The run with the variant, and the same with the present prompt.

    Raises:
        InvalidInput: the project has no items.
        Conflict: the variant is retired, or was written for other inputs than there are now.
    """
    if variant.retired:
        raise Conflict("This variant is retired and cannot be tried.")
    if not inputs_match(variant):
        raise Conflict(
            "The inputs of the prompt have changed since this variant was written. Create a "
            "new variant of the present text."
        )
    item_ids = trial_items(project)
    if not item_ids:
        raise InvalidInput("The project has no items yet: import some first.")
    info, settings = protocol_of(variant.name)
    plan = RunPlan(
        protocol=info.name,
        models=models,
        settings=settings,
        prompts={variant.name: variant.version},
        item_ids=item_ids,
        trial=True,
    )
    return plan, replace(plan, prompts={})


def trial_items(project: Project) -> list[int]:
    """At most ten items from the whole project, verified items first."""
    gold = sample_verified_items(project, TRIAL_ITEMS)
    others = Item.objects.filter(project=project).exclude(pk__in=gold).order_by("pk")
    other_ids = list(others.values_list("pk", flat=True))
    missing = TRIAL_ITEMS - len(gold)
    step = max(1, len(other_ids) // missing) if missing else 1
    return gold + other_ids[::step][:missing]


def preview_trial(project: Project, plans: Sequence[RunPlan]) -> list[Preview]:
    """The estimates of both runs, in the order of the plans.

    Raises:
        InvalidInput: they cannot be run as they are.
    """
    return [preview(project=project, plan=plan) for plan in plans]


def start_trial(
    *, project: Project, actor: User | None, plans: tuple[RunPlan, RunPlan]
) -> tuple[Run, Run]:
    """Record both runs; workers pick them up.

    Raises:
        InvalidInput: they cannot be run as they are.
    """
    with transaction.atomic():
        tried, beside = (start_run(project=project, actor=actor, plan=plan) for plan in plans)
    return tried, beside
