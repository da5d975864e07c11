"""What a branch demands: classic protection and rulesets, as stored, as the API shows them, and joined for the gate."""

import fnmatch
import json
from dataclasses import dataclass
from typing import Any

from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.error import Refusal
from nightcrew.forges.local.page import page_of
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import node_id

ALL_METHODS = frozenset({"merge", "squash", "rebase"})
LINEAR = ALL_METHODS - {"merge"}


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a merge into a branch needs. `binds_admins` is false where admins may pass; `methods` are the ways that are
    left."""

    contexts: tuple[str, ...] = ()
    approvals: int = 0
    strict: bool = False
    dismiss_stale: bool = False
    binds_admins: bool = True
    signatures: bool = False
    methods: frozenset[str] = ALL_METHODS
    merge_queue: bool = False


def find_protection(call: Call, branch: str) -> dict[str, Any] | None:
    row = call.store.find(
        "SELECT detail FROM protection WHERE repository_id = ? AND branch = ?", call.repo["id"], branch
    )
    return json.loads(row["detail"]) if row else None


def rulesets_of(call: Call, branch: str) -> list[Row]:
    """The active rulesets that apply to a branch, whether it is there or not."""
    rows = call.store.all("SELECT * FROM ruleset WHERE repository_id = ? ORDER BY id", call.repo["id"])
    return [row for row in rows if row["enforcement"] == "active" and _applies(call, row, branch)]


def _applies(call: Call, row: Row, branch: str) -> bool:
    include, exclude = json.loads(row["include"]), json.loads(row["exclude"])
    return any(_fits(call, p, branch) for p in include) and not any(_fits(call, p, branch) for p in exclude)


def _fits(call: Call, pattern: str, branch: str) -> bool:
    if pattern == "~ALL":
        return True
    if pattern == "~DEFAULT_BRANCH":
        return branch == str(call.repo["default_branch"])
    return fnmatch.fnmatchcase(f"refs/heads/{branch}", pattern)


def requirements(call: Call, branch: str) -> Requirements:
    """All of it together; the strictest wins."""
    found = find_protection(call, branch)
    classic = found or {}
    contexts = list(classic.get("contexts", []))
    switches = classic.get("switches", [])
    signatures = "required_signatures" in switches
    methods = LINEAR if "required_linear_history" in switches else ALL_METHODS
    approvals = int(classic.get("approvals") or 0)
    strict, stale = bool(classic.get("strict")), bool(classic.get("dismiss_stale"))
    sets = rulesets_of(call, branch)
    for rule in (rule for row in sets for rule in json.loads(row["rules"])):
        parameters = rule.get("parameters", {})
        if rule["type"] == "required_status_checks":
            contexts += [check["context"] for check in parameters["required_status_checks"]]
            strict = strict or bool(parameters.get("strict_required_status_checks_policy"))
        elif rule["type"] == "pull_request":
            approvals = max(approvals, int(parameters.get("required_approving_review_count", 0)))
            stale = stale or bool(parameters.get("dismiss_stale_reviews_on_push"))
            methods &= frozenset(parameters.get("allowed_merge_methods", ALL_METHODS))
        elif rule["type"] == "required_signatures":
            signatures = True
        elif rule["type"] == "required_linear_history":
            methods &= LINEAR
    queue = any(rule["type"] == "merge_queue" for row in sets for rule in json.loads(row["rules"]))
    binds = bool(sets) or found is None or bool(classic.get("enforce_admins"))
    return Requirements(tuple(dict.fromkeys(contexts)), approvals, strict, stale, binds, signatures, methods, queue)


def render_branch_protection(call: Call, branch: str) -> dict[str, Any]:
    """The short form inside a branch."""
    detail = find_protection(call, branch)
    contexts = (detail or {}).get("contexts", [])
    enabled = detail is not None or bool(rulesets_of(call, branch))
    everyone = bool((detail or {}).get("enforce_admins"))
    checks = {
        "enforcement_level": ("everyone" if everyone else "non_admins") if contexts else "off",
        "contexts": contexts,
        "checks": [{"context": name, "app_id": None} for name in contexts],
    }
    return {"enabled": enabled, "required_status_checks": checks}


async def get_protection(call: Call) -> Answer:
    branch = call.params["branch"]
    call.require("admin")
    if await call.git.branch(branch) is None:
        raise Refusal(404, "Branch not found")
    detail = find_protection(call, branch)
    if detail is None:
        raise Refusal(404, "Branch not protected")
    url = f"{call.repo_url}/branches/{branch}/protection"
    switched = detail.get("switches", [])
    body: dict[str, Any] = {
        "url": url,
        "required_signatures": {"url": f"{url}/required_signatures", "enabled": "required_signatures" in switched},
        "enforce_admins": {"url": f"{url}/enforce_admins", "enabled": bool(detail["enforce_admins"])},
        **{name: {"enabled": name in switched} for name in _SWITCHES},
    }
    if detail["contexts"]:
        body["required_status_checks"] = {
            "url": f"{url}/required_status_checks",
            "strict": bool(detail["strict"]),
            "contexts": detail["contexts"],
            "contexts_url": f"{url}/required_status_checks/contexts",
            "checks": [{"context": name, "app_id": None} for name in detail["contexts"]],
        }
    if detail["approvals"] is not None:
        body["required_pull_request_reviews"] = {
            "url": f"{url}/required_pull_request_reviews",
            "dismiss_stale_reviews": bool(detail["dismiss_stale"]),
            "require_code_owner_reviews": False,
            "require_last_push_approval": False,
            "required_approving_review_count": detail["approvals"],
        }
    return Answer(200, body)


_SWITCHES = (
    "required_linear_history", "allow_force_pushes", "allow_deletions", "block_creations",
    "required_conversation_resolution", "lock_branch", "allow_fork_syncing",
)  # fmt: skip


async def list_branch_rules(call: Call) -> Answer:
    """The active rules of all rulesets for a branch; classic protection is not among them."""
    rules = [
        {**rule, "ruleset_source_type": "Repository", "ruleset_source": call.full_name, "ruleset_id": row["id"]}
        for row in rulesets_of(call, call.params["branch"])
        for rule in json.loads(row["rules"])
    ]
    return page_of(call, rules)


async def list_rulesets(call: Call) -> Answer:
    rows = call.store.all("SELECT * FROM ruleset WHERE repository_id = ? ORDER BY id", call.repo["id"])
    return page_of(
        call,
        [
            {
                "id": row["id"],
                "name": row["name"],
                "target": "branch",
                "source_type": "Repository",
                "source": call.full_name,
                "enforcement": row["enforcement"],
                "node_id": node_id("RepositoryRuleset", row["id"]),
                "_links": {"self": {"href": f"{call.repo_url}/rulesets/{row['id']}"}},
                "created_at": row["created_at"],
                "updated_at": row["created_at"],
            }
            for row in rows
        ],
    )


ROUTES = [
    Route("GET", "~/branches/{branch:path}/protection", get_protection, needs="administration=read"),
    Route("GET", "~/rules/branches/{branch:path}", list_branch_rules, needs="metadata=read"),
    Route("GET", "~/rulesets", list_rulesets, needs="metadata=read"),
]
