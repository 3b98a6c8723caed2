"""Chain of thought: one model, one call, which reasons step by step before it answers.

Source: paper 001, section 3.1 and figure 13. Only the prompt differs from ``single``.
"""

from labelhub.core.debate.info import Group, ProtocolInfo, fixed_count, role_parts
from labelhub.core.debate.single import single
from labelhub.core.texts import gettext_noop

INFO = ProtocolInfo(
    name="cot",
    title=gettext_noop("Chain of thought"),
    description=gettext_noop("One model reasons step by step, then labels, in one call."),
    group=Group.ONE,
    start=single,
    parts=role_parts("cot", "annotator"),
    calls=fixed_count(1, 1),
)
