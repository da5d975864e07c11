"""The words of model vendors about limits and refusals, whichever CLI passes them on.

Order matters: particular words first (a 401 about credits is credits, a 403 about a billing cycle is billing). Times
that a vendor names are read by `waiting`. `source` is a row of tests/data/vendor-messages.md or a recorded run. A scope
stands where the words name the account, the plan or the CLI itself, or else one model against what is usual.
"""

from collections.abc import Mapping

from nightcrew.agents.pattern import Pattern
from nightcrew.core.failures import FailureKind, Scope

BEIJING, PACIFIC = "Asia/Shanghai", "America/Los_Angeles"

VENDOR_PATTERNS: tuple[Pattern, ...] = (
    # Too long for the model.
    Pattern(r"exceeded model token limit", FailureKind.CONTEXT_TOO_LONG, "V102 kimi"),
    Pattern(r"input token count.*exceeds|maximum context length|context_length_exceeded", FailureKind.CONTEXT_TOO_LONG,
            "V085, V086 gemini"),
    Pattern(r"prompt is too long|input is too long|input_too_large", FailureKind.CONTEXT_TOO_LONG, "claude, codex"),
    # Plan windows, which come back by themselves.
    Pattern(r"\bcode\W{0,4}(1308|1310)\b|Weekly/Monthly Limit Exhausted|usage limit reached for \d+ hour",
            FailureKind.USAGE_WINDOW, "V111, V112, V113 glm", BEIJING),
    Pattern(r"usage limit exceeded \(2056\)", FailureKind.USAGE_WINDOW, "V104 minimax"),
    Pattern(r"free quota used|free_quota_exceeded", FailureKind.USAGE_WINDOW, "V109 minimax"),
    Pattern(r"FreeUsageLimitError|free usage exceeded", FailureKind.USAGE_WINDOW, "V065, V066, V067 opencode",
            scope=Scope.ACCOUNT),
    Pattern(r"no active plan|status_code\W{0,4}1004\b", FailureKind.BILLING, "V110 minimax", scope=Scope.ACCOUNT),
    Pattern(r"usage limit for this billing cycle|monthly quota", FailureKind.BILLING, "V097 kimi, V133"),
    Pattern(r"\d+-hour usage limit|usage limit for this period", FailureKind.USAGE_WINDOW, "V099, V101 kimi"),
    Pattern(r"usage_limit_reached|hit your (session|usage|weekly) limit|usage limit reached",
            FailureKind.USAGE_WINDOW, "V001 to V009 claude, V037 to V044 codex", scope=Scope.ACCOUNT),
    Pattern(r"weekly limit reached", FailureKind.USAGE_WINDOW, "V011 claude", scope=Scope.MODEL),
    Pattern(r"(primary|secondary)[^,;]*used\D{0,10}100\b", FailureKind.USAGE_WINDOW, "V045 codex",
            scope=Scope.ACCOUNT),
    Pattern(r"quotaId\W+\w*PerDay", FailureKind.USAGE_WINDOW, "V083 gemini", PACIFIC),
    # Money.
    Pattern(r"credit balance is too low|insufficient[ _]balance|\(1008\)|credit limit reached|insufficient_credits",
            FailureKind.CREDITS, "V050 codex, V106, V108 minimax, V126"),
    Pattern(r"check your plan and billing details|insufficient_quota", FailureKind.BILLING, "V049 codex"),
    # The model, and what may be done with it.
    Pattern(r"model\b.{0,200}\b(does not exist|not found|is not supported|not deployed)|issue with the selected model"
            r"|model_not_found|ModelNotFoundError|(^|failed: )model: \S+$", FailureKind.MODEL_NOT_FOUND,
            "V027 claude, V053, V055 codex, V071 opencode; recorded codex/http404, opencode/http404, gemini/http404"),
    Pattern(r"PERMISSION_DENIED|free tier can only be used", FailureKind.PERMISSION, "V090 gemini, V069 opencode",
            scope=Scope.ACCOUNT),
    Pattern(r"must be verified to use the model", FailureKind.PERMISSION, "V056 codex"),
    Pattern(r"violate our Usage Policy|content filtering policy|content_filter", FailureKind.CONTENT_FILTER,
            "V029, V031 claude"),
    # Who is asking.
    Pattern(r"failed to login.*request to .*failed, reason", FailureKind.NETWORK, "V089 gemini"),
    Pattern(r"authentication_error|authentication_failed|invalid (x-)?api[- ]?key|invalid_api_key|UNAUTHENTICATED"
            r"|not logged in|refresh token (was|has( already)? been) (already )?(revoked|used)|provider\.auth_error"
            r"|Failed to authenticate",
            FailureKind.AUTH, "V019 to V023 claude, V051, V063 codex, C241; recorded gemini/http401, kimi/http401"),
    # Too much at once.
    Pattern(r"\bcode\W{0,4}1302\b|High concurrency usage", FailureKind.RATE_LIMIT, "V115 glm", scope=Scope.AGENT),
    Pattern(r"your account's rate limit|organization max RPM", FailureKind.RATE_LIMIT, "V014 claude, V096 kimi",
            scope=Scope.ACCOUNT),
    Pattern(r"rate_limit_reached_error|too many requests|max RPM|rate_limit_exceeded|rate limit|RateLimitError"
            r"|provider\.rate_limit|Resource exhausted|RESOURCE_EXHAUSTED|Request rejected \(429\)",
            FailureKind.RATE_LIMIT, "V047 codex, V068 opencode, V082 gemini, V094 kimi"),
    Pattern(r"overloaded|is at capacity|server_is_overloaded|\bUNAVAILABLE\b", FailureKind.OVERLOADED,
            "V016, V017 claude; recorded codex/http529, gemini/http503"),
    # The way there.
    Pattern(r"network error: |Upstream idle timeout", FailureKind.NETWORK, "V074, V075 opencode", scope=Scope.MODEL),
    Pattern(r"unable to connect|connection (refused|failed|error|reset)|error sending request|waiting for network"
            r"|network error|fetch failed|stream disconnected|idle timeout|\bECONN\w+|ENOTFOUND|SocketError"
            r"|socket hang up|Request timed out|other side closed|^terminated$", FailureKind.NETWORK,
            "V032 claude, V058, V060 codex; recorded gemini/drop, gemini/refused"),
)  # fmt: skip

CLI_PATTERNS: Mapping[str, tuple[Pattern, ...]] = {
    "aider": (
        Pattern(r"has hit a token limit", FailureKind.CONTEXT_TOO_LONG, "V125"),
        Pattern(r"API key credit limit reached", FailureKind.CREDITS, "V126"),
    ),
    "copilot": (
        Pattern(
            r"hit a rate limit.*try again in \d+ (hours?|days?)", FailureKind.USAGE_WINDOW, "V131", scope=Scope.AGENT
        ),
        Pattern(r"exceeded your premium request allowance", FailureKind.USAGE_WINDOW, "V132", scope=Scope.MODEL),
        Pattern(r"exceeded your monthly quota", FailureKind.BILLING, "V133"),
        Pattern(r"Session was not created with authentication info", FailureKind.AUTH, "V134"),
    ),
    "cursor": (
        Pattern(r"hit your usage limit|usage limits will reset", FailureKind.USAGE_WINDOW, "V118", scope=Scope.AGENT),
        Pattern(r"\[resource_exhausted\]", FailureKind.USAGE_WINDOW, "V119"),
        Pattern(r"Workspace Trust Required", FailureKind.PERMISSION, "V120", scope=Scope.AGENT),
        Pattern(r"Failed to open browser for login", FailureKind.AUTH, "V121"),
    ),
    "kimi": (Pattern(r"^See log:", None, "recorded kimi/http429-streamjson"),),
}
"""Words of CLIs that have no adapter of their own, for an agent of the custom adapter: option `patterns: <name>`."""
