"""The keys about sub-tasks that agents propose."""

from nightcrew.config.section import Section
from nightcrew.config.value import Count, Lines, key
from nightcrew.core.model.delegation import DelegationMode, DelegationSettings

_PLAIN = DelegationSettings()


class DelegationKeys(Section):
    """Sub-tasks that an agent proposes for a task that is too large for one change."""

    allow: DelegationMode = key(
        "`never`: none are taken, and agents are not told of them; `ask`: a person accepts them; `auto`: the limits "
        "below decide.",
        _PLAIN.allow,
    )
    max_children: Count = key("Sub-tasks of one task.", _PLAIN.max_children, ge=1, le=20)
    max_depth: Count = key(
        "How deep they go: 1 if sub-tasks have none of their own, 2 if those have.", _PLAIN.max_depth, ge=1, le=3
    )
    max_open: Count = key("Sub-tasks of a project that have not ended.", _PLAIN.max_open, ge=1, le=100)
    labels: Lines = key("Labels that a proposal may ask for, besides agent and complexity.", _PLAIN.labels)


def build_delegation(keys: DelegationKeys) -> DelegationSettings:
    """The settings of these keys."""
    return DelegationSettings(keys.allow, keys.max_children, keys.max_depth, keys.max_open, keys.labels)
