"""The floor beneath the model: messages of people in danger, in whichever widget language."""

from labelhub.core.interview.crisis.signs import TOPICS, crisis_sign

__all__ = ["TOPICS", "crisis_sign"]
