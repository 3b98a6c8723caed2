"""The calls that ask a language model for the features of a message: with the nearest answers that
authors gave about that feature, and the instruction that a search has found for it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings

from apps.authors.models import Message, Site
from apps.authors.services.message_lease import leaks_in, salt_of
from apps.echo.examples import indexes_of
from apps.echo.models import Echo
from labelhub.core.echo.examples import ExampleIndex, Wanted
from labelhub.core.echo.prediction import FeatureTask, MessageContext, PredictPlan, predict_call
from labelhub.core.interview.calls import definition_of, meanings_of, signs_of
from labelhub.core.interview.features import Feature
from labelhub.core.interview.pipeline import AuthorMessage
from labelhub.core.llm.types import Call
from labelhub.core.prompts import Prompt, PromptLibrary
from labelhub.core.safety import shows_danger

#: Answers in one prompt at most, whatever their tokens.
MOST_EXAMPLES = 4


@dataclass(frozen=True, slots=True)
class Predicting:
    """What the calls about one message need; making them reads nothing more.

    Args:
        moment: the message.
        plan: the site's.
        indexes: by feature, what authors answered about it.
        instructions: by feature, what a search has found.
        tokens: of the examples in one call.
    """

    moment: MessageContext
    plan: PredictPlan
    indexes: Mapping[str, ExampleIndex]
    instructions: Mapping[str, str]
    tokens: int

    def call(self, feature: Feature) -> Call:
        """The call that predicts the feature's value."""
        moment, index = self.moment, self.indexes.get(feature.key)
        wanted = Wanted(moment.text, MOST_EXAMPLES, self.tokens, moment.conversation, moment.author)
        return predict_call(
            task_of(feature),
            moment,
            self.plan,
            instruction=self.instructions.get(feature.key, ""),
            examples=[
                # What was asked about under older rules is shown to no model.
                each
                for each in (index.nearest(wanted) if index is not None else ())
                if not shows_danger(each.text)
            ],
        )


def predicting_for(
    message: Message,
    shown: AuthorMessage,
    echo: Echo,
    instructions: Mapping[str, str],
    doubted: Collection[str],
) -> Predicting:
    """What is needed to predict a message; ``doubted``: authors whose answers are no examples."""
    author = message.author
    return Predicting(
        moment=MessageContext(
            shown.text, shown.context, str(message.conversation_id), author.uid.hex
        ),
        plan=predict_plan(author.site),
        indexes=indexes_of(author.site_id, doubted) if echo.example_tokens else {},
        instructions=instructions,
        tokens=echo.example_tokens,
    )


def predict_plan(site: Site) -> PredictPlan:
    """How a site's features are predicted."""
    return PredictPlan(prompt=prompt("predict"), salt=salt_of(site), leaks=leaks_in(site.region))


@lru_cache(maxsize=10_000)
def task_of(feature: Feature) -> FeatureTask:
    """The feature as its models see it."""
    return FeatureTask(
        key=feature.key,
        name=feature.name,
        definition=definition_of(feature),
        values=feature.values,
        meanings=meanings_of(feature),
        kind=feature.answer,
        signs=signs_of(feature),
    )


@lru_cache(maxsize=2)
def prompt(role: str) -> Prompt:
    """The prompt of that role: "predict" or "instruct"."""
    return PromptLibrary(settings.PROMPTS_DIR).get("echo", role)
