"""What a branch demands before a merge: rulesets and classic protection, joined.

Two systems with two addresses. Rulesets are readable by anyone who can read; classic protection is for administrators.
What cannot be read is never taken for no demand, unless the branch itself says that it is not protected.
"""

from dataclasses import dataclass

from nightcrew.core.errors import Denied, Missing
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import Required
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api, branch_path
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.page import PER_PAGE, Listing

_NO_SUCH_FEATURE = "upgrade to github"
"""In GitHub's refusal where the plan has no protection at all, so that none can be in force."""

_ALL = frozenset(MergeMethod)
_LINEAR = frozenset({MergeMethod.SQUASH, MergeMethod.REBASE})


@dataclass(frozen=True, slots=True)
class _Demand:
    contexts: tuple[str, ...] = ()
    approvals: int = 0
    merge_queue: bool = False
    signatures: bool = False
    methods: frozenset[MergeMethod] = _ALL


async def fetch_required(api: Api, project: str, branch: str) -> Required:
    demands = (*await _list_rules(api, project, branch), await _fetch_classic(api, project, branch))
    required = Required(
        contexts=tuple(dict.fromkeys(context for demand in demands for context in demand.contexts)),
        approvals=max(demand.approvals for demand in demands),
        merge_queue=any(demand.merge_queue for demand in demands),
        signatures=any(demand.signatures for demand in demands),
        methods=frozenset.intersection(*(demand.methods for demand in demands)),
    )
    return api.memory.settle(api.of(project, f"/{branch_path(branch)}#required"), required)


async def _list_rules(api: Api, project: str, branch: str) -> tuple[_Demand, ...]:
    url = api.of(project, f"/rules/branches/{branch_path(branch)}", per_page=PER_PAGE)
    try:
        return await api.list(Listing(url, _parse_rule, key=_rule_key))
    except Denied as error:
        if _NO_SUCH_FEATURE in str(error).lower():
            return ()
        raise


def _rule_key(raw: Json) -> tuple[str, object]:
    return field.text(raw, "type"), raw.get("ruleset_id")


def _parse_rule(raw: Json) -> _Demand | None:
    """A rule of a kind that is not about merging is no demand here; the forge itself keeps it."""
    parameters = field.child(raw, "parameters")
    match field.text(raw, "type"):
        case "required_status_checks":
            checks = field.children(parameters, "required_status_checks")
            return _Demand(contexts=tuple(field.text(check, "context") for check in checks))
        case "pull_request":
            return _Demand(
                approvals=field.count(parameters, "required_approving_review_count"),
                methods=_parse_methods(parameters.get("allowed_merge_methods")),
            )
        case "required_signatures":
            return _Demand(signatures=True)
        case "required_linear_history":
            return _Demand(methods=_LINEAR)
        case "merge_queue":
            return _Demand(merge_queue=True)
        case _:
            return None


def _parse_methods(raw: object) -> frozenset[MergeMethod]:
    """Those that a rule leaves. Where it names none that is known, it says nothing that could be understood."""
    named = raw if isinstance(raw, list) else []
    return frozenset(method for method in MergeMethod if method.value in named) or _ALL


async def _fetch_classic(api: Api, project: str, branch: str) -> _Demand:
    # An unprotected branch is said to be so in an answer that is free to ask again; the protection's own address
    # answers 404 then, which is counted each time.
    if not await api.get(api.of(project, f"/branches/{branch_path(branch)}"), _parse_protected):
        return _Demand()
    try:
        return await api.get(api.of(project, f"/branches/{branch_path(branch)}/protection"), _parse_classic)
    except Missing as error:
        if "branch not protected" in str(error).lower():
            return _Demand()
        raise _unreadable(project, branch, str(error)) from error
    except Denied as error:
        if _NO_SUCH_FEATURE in str(error).lower():
            return _Demand()
        raise _unreadable(project, branch, str(error), needed=error.needed) from error


def _parse_protected(raw: Json) -> bool:
    """Only a plain no counts as one."""
    return raw.get("protected") is not False


def _parse_classic(raw: Json) -> _Demand:
    checks = field.child(raw, "required_status_checks")
    old = checks.get("contexts")
    named = [name for name in old if isinstance(name, str)] if isinstance(old, list) else []
    named += [field.text(check, "context") for check in field.children(checks, "checks")]
    reviews = field.child(raw, "required_pull_request_reviews")
    return _Demand(
        contexts=tuple(dict.fromkeys(name for name in named if name)),
        approvals=field.count(reviews, "required_approving_review_count"),
        signatures=_is_on(raw, "required_signatures"),
        methods=_LINEAR if _is_on(raw, "required_linear_history") else _ALL,
    )


def _is_on(raw: Json, name: str) -> bool:
    return field.child(raw, name).get("enabled") is True


def _unreadable(project: str, branch: str, why: str, *, needed: str = "") -> Denied:
    return Denied(
        f"the protection of {branch} in {project} cannot be read, and it may demand checks or approvals ({why})",
        needed=needed or "administration=read",
    )
