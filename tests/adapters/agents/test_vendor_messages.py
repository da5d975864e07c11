"""The messages of vendors in tests/data/vendor-messages.md, as each CLI carries them: the right kind where they are a
message, and no meaning at all where an agent merely wrote them."""

import json
from collections.abc import Callable

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.agents.codex import CodexAgent
from nightcrew.agents.gemini import GeminiAgent
from nightcrew.agents.opencode import OpencodeAgent
from nightcrew.core.failures import FailureKind as K
from nightcrew.core.model.report import AuthorReport
from nightcrew.ports.agent import Agent, RunOutput
from tests.adapters.agents.recording import DATA, DONE, make_output, make_settings

OURS = ("claude", "codex", "opencode", "gemini", "kimi", "minimax", "glm")


def lines(*objects: object) -> str:
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in objects) + "\n"


def claude(message: str, *, failed: bool = True) -> RunOutput:
    result = {"type": "result", "subtype": "success", "is_error": failed, "api_error_status": None, "result": message}
    return make_output(lines(result), exit_code=int(failed))


def codex(message: str, *, failed: bool = True) -> RunOutput:
    answer = {"type": "item.completed", "item": {"type": "agent_message", "text": message}}
    end = {"type": "turn.failed", "error": {"message": message}} if failed else {"type": "turn.completed"}
    return make_output(lines({"type": "turn.started"}, end if failed else answer, end), exit_code=int(failed))


def opencode(message: str, *, failed: bool = True) -> RunOutput:
    if failed:
        return make_output(lines({"type": "error", "error": {"data": {"message": message}}}), exit_code=1)
    text = {"type": "text", "part": {"text": message}}
    return make_output(lines(text, {"type": "step_finish", "part": {"reason": "stop"}}))


def gemini(message: str, *, failed: bool = True) -> RunOutput:
    if failed:
        document = json.dumps({"error": {"type": "Error", "message": message, "code": 1}}, indent=2)
        return make_output(stderr=document, exit_code=1)
    text = {"type": "message", "role": "assistant", "content": message}
    return make_output(lines(text, {"type": "result", "status": "success"}))


AGENTS: dict[Callable[..., RunOutput], Agent] = {
    claude: ClaudeAgent(make_settings("claude")),
    codex: CodexAgent(make_settings("codex")),
    opencode: OpencodeAgent(make_settings("opencode")),
    gemini: GeminiAgent(make_settings("gemini")),
}

MESSAGES: dict[str, tuple[Callable[..., RunOutput], str, K]] = {
    "V001": (claude, "You've hit your session limit · resets 10:30pm (Europe/Berlin)", K.USAGE_WINDOW),
    "V004": (claude, "You've hit your session limit · resets 3:20am (Asia/Calcutta)", K.USAGE_WINDOW),
    "V005": (claude, "You've hit your session limit · resets 9:50pm (UTC)", K.USAGE_WINDOW),
    "V006": (
        claude,
        "You've hit your session limit · resets 9:50pm (UTC)\n/login to switch to an API usage-billed account",
        K.USAGE_WINDOW,
    ),
    "V007": (
        claude,
        "You've hit your session limit · resets 11:50pm (Asia/Riyadh)\n/upgrade to increase your usage limit",
        K.USAGE_WINDOW,
    ),
    "V008": (claude, "Claude AI usage limit reached|1796018484", K.USAGE_WINDOW),
    "V009": (claude, "Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).", K.USAGE_WINDOW),
    "V011": (claude, "Opus weekly limit reached ∙ resets Oct 24", K.USAGE_WINDOW),
    "V014": (
        claude,
        "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again.",
        K.RATE_LIMIT,
    ),
    "V016": (
        claude,
        'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        K.OVERLOADED,
    ),
    "V017": (claude, "API Error: 529 Overloaded. This is a server-side issue, usually temporary", K.OVERLOADED),
    "V019": (
        claude,
        'API Error: 401 {"type":"authentication_error","message":"OAuth token has expired."} · Please run /login',
        K.AUTH,
    ),
    "V021": (claude, "Not logged in · Please run /login", K.AUTH),
    "V022": (
        claude,
        'API Error: 401 {"error":{"type":"authentication_error","message":"Invalid authentication credentials"}}',
        K.AUTH,
    ),
    "V023": (claude, "Invalid API key · Fix external API key", K.AUTH),
    "V027": (
        claude,
        "There's an issue with the selected model (x-1). It may not exist or you may not have access to it.",
        K.MODEL_NOT_FOUND,
    ),
    "V029": (
        claude,
        "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy",
        K.CONTENT_FILTER,
    ),
    "V031": (claude, "API Error: Output blocked by content filtering policy", K.CONTENT_FILTER),
    "V032": (claude, "API Error: Unable to connect to API (ConnectionRefused)", K.NETWORK),
    "V034": (
        claude,
        "Error: Claude Code cannot be launched inside another Claude Code session.",
        K.CRASH,
    ),
    "V035": (
        claude,
        "Error: Input must be provided either through stdin or as a prompt argument when using --print",
        K.CRASH,
    ),
    "V037": (
        codex,
        "You've hit your usage limit. Upgrade to Pro (https://example.invalid) or try again in 2 days 17 hours.",
        K.USAGE_WINDOW,
    ),
    "V040": (codex, "🖐 You've hit your usage limit. Upgrade to Pro or try again in 3 hours.", K.USAGE_WINDOW),
    "V041": (
        codex,
        "You've hit your usage limit. Upgrade, or wait for limits to reset (every 5h and every week.)",
        K.USAGE_WINDOW,
    ),
    "V042": (
        codex,
        "You have hit your usage limit. Visit https://example.invalid to purchase more credits or try again at",
        K.USAGE_WINDOW,
    ),
    "V044": (
        codex,
        '{"error":{"type":"usage_limit_reached","plan_type":"pro","resets_at":1777936568}}',
        K.USAGE_WINDOW,
    ),
    "V045": (
        codex,
        "primary used 100 %, window 300 min, reset after 13873 s; secondary used 80 %, window 10080 min",
        K.USAGE_WINDOW,
    ),
    "V047": (codex, "exceeded retry limit, last status: 429 Too Many Requests", K.RATE_LIMIT),
    "V049": (codex, "Quota exceeded. Check your plan and billing details.", K.BILLING),
    "V050": (
        codex,
        "unexpected status 402 Payment Required: Your credit balance is too low to access the API., url: http://x.invalid",
        K.CREDITS,
    ),
    "V051": (codex, "unexpected status 401 Unauthorized: invalid x-api-key, url: http://x.invalid", K.AUTH),
    "V053": (
        codex,
        (
            'unexpected status 400 Bad Request: {"detail":"The \'m-1\' model is not supported when using Codex with a '
            'ChatGPT account."}'
        ),
        K.MODEL_NOT_FOUND,
    ),
    "V055": (
        codex,
        "stream disconnected before completion: The model 'm-1' does not exist or you do not have access to it.",
        K.MODEL_NOT_FOUND,
    ),
    "V056": (
        codex,
        "Stream disconnected before completion: Your organization must be verified to use the model 'm-1'.",
        K.PERMISSION,
    ),
    "V058": (
        codex,
        "stream disconnected before completion: error sending request for url (https://example.invalid)",
        K.NETWORK,
    ),
    "V063": (codex, "... because your refresh token was revoked. Please log out and sign in again.", K.AUTH),
    "V065": (
        opencode,
        '429: {"type":"FreeUsageLimitError","message":"Rate limit exceeded. Please try again later."}',
        K.USAGE_WINDOW,
    ),
    "V066": (opencode, "free usage exceeded, subscribe to Go retrying in 9h", K.USAGE_WINDOW),
    "V067": (opencode, "Free usage exceeded [retrying in 73801s]", K.USAGE_WINDOW),
    "V068": (
        opencode,
        "429: Rate limit exceeded. Please try again later. (free model rate limit) code rate_limit_exceeded",
        K.RATE_LIMIT,
    ),
    "V069": (
        opencode,
        "Error from provider (Console): OpenCode's free tier can only be used from within OpenCode",
        K.PERMISSION,
    ),
    "V071": (
        opencode,
        "Error from provider: Model not found, inaccessible, and/or not deployed",
        K.MODEL_NOT_FOUND,
    ),
    "V074": (opencode, "network error: Streaming response failed", K.NETWORK),
    "V075": (opencode, "network error: Upstream idle timeout exceeded", K.NETWORK),
    "V082": (
        gemini,
        "got status: 429 Resource exhausted. Please try again later. Possible quota limitations in place.",
        K.RATE_LIMIT,
    ),
    "V083": (
        gemini,
        'You exceeded your current quota. {"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}',
        K.USAGE_WINDOW,
    ),
    "V085": (
        gemini,
        "The input token count (134123) exceeds the maximum number of tokens allowed (131072)., INVALID_ARGUMENT",
        K.CONTEXT_TOO_LONG,
    ),
    "V086": (
        gemini,
        (
            'Attempt 1 failed with 5xx error. Retrying with backoff... {"code":400,"message":"The input token count '
            '(134123) exceeds the maximum number of tokens allowed (131072)."}'
        ),
        K.CONTEXT_TOO_LONG,
    ),
    "V089": (gemini, "Failed to login. Message: request to https://x.invalid/ failed, reason: ", K.NETWORK),
    "V090": (gemini, "403 PERMISSION_DENIED: API has not been used in project 1234", K.PERMISSION),
    "V094": (
        claude,
        "Error code: 429 - We're receiving too many requests at the moment. type rate_limit_reached_error",
        K.RATE_LIMIT,
    ),
    "V096": (
        claude,
        "API Error: request reached organization max RPM: 20, please try again after 1 seconds",
        K.RATE_LIMIT,
    ),
    "V097": (
        claude,
        (
            "Error: [provider.auth_error] 403 You've reached your usage limit for this billing cycle."
            " Your quota will be refreshed in the next cycle"
        ),
        K.BILLING,
    ),
    "V099": (claude, "You've reached your 5-hour usage limit", K.USAGE_WINDOW),
    "V101": (claude, "You've reached your usage limit for this period", K.USAGE_WINDOW),
    "V102": (claude, "Invalid request: Your request exceeded model token limit: 131072", K.CONTEXT_TOO_LONG),
    "V104": (claude, "API Error: Request rejected (429) · usage limit exceeded (2056)", K.USAGE_WINDOW),
    "V106": (claude, 'API Error: 500 {"type":"api_error","message":"insufficient balance (1008)"}', K.CREDITS),
    "V108": (
        claude,
        "Error code: 429 - insufficient balance (1008), type insufficient_balance_error",
        K.CREDITS,
    ),
    "V109": (
        claude,
        "API Error: 402 Free quota used (30 requests / 5h). Resets at 10:00 UTC. code free_quota_exceeded",
        K.USAGE_WINDOW,
    ),
    "V110": (claude, 'API Error: 500 {"base_resp":{"status_code":1004,"status_msg":"no plan"}}', K.BILLING),
    "V111": (
        claude,
        (
            'API Error: 429 {"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit '
            'will reset at 2026-09-04 19:01:25"}}'
        ),
        K.USAGE_WINDOW,
    ),
    "V112": (
        claude,
        'API Error: 429 {"error":{"code":"1308","message":"已达到 5 小时的使用上限，将在 2026-08-25 07:41:44 重置"}}',
        K.USAGE_WINDOW,
    ),
    "V113": (
        claude,
        'API Error: 429 {"error":{"code":"1310","message":"Weekly/Monthly Limit Exhausted."}}',
        K.USAGE_WINDOW,
    ),
    "V115": (
        claude,
        'API Error: 429 {"error":{"code":"1302","message":"High concurrency usage of this API"}}',
        K.RATE_LIMIT,
    ),
}

# Rows that are no message of a failed run; each has its own test in test_reading.py.
ELSEWHERE = {"V060", "V061", "V077", "V078", "V091"}


def test_every_row_of_our_agents_is_read_here():
    rows = [line.split("|") for line in (DATA / "vendor-messages.md").read_text("utf-8").splitlines()]
    wanted = {row[1].strip() for row in rows if len(row) > 3 and row[2].strip() in OURS}
    assert wanted == set(MESSAGES) | ELSEWHERE


@pytest.mark.parametrize("row", MESSAGES)
def test_a_message_of_a_failed_run_names_its_kind(row):
    shape, message, kind = MESSAGES[row]
    failure = AGENTS[shape].read(shape(message)).failure
    assert failure is not None
    assert failure.kind is kind
    assert "://" not in failure.detail


@pytest.mark.parametrize("row", [row for row in MESSAGES if MESSAGES[row][0] is claude])
def test_a_message_without_its_json_is_read_from_what_a_failed_cli_printed(row):
    _, message, kind = MESSAGES[row]
    for output in (make_output(message, exit_code=1), make_output(stderr=message, exit_code=1)):
        failure = AGENTS[claude].read(output).failure
        assert failure is not None
        assert failure.kind is kind


@pytest.mark.case("C241")
def test_a_login_that_another_run_has_used_up_is_one_that_a_person_renews():
    for words in ("was already used", "has already been used", "was revoked"):
        message = f"Your access token could not be refreshed: your refresh token {words}."
        failure = AGENTS[codex].read(codex(message)).failure
        assert failure is not None
        assert failure.kind is K.AUTH


@pytest.mark.case("C087")
@pytest.mark.case("C089")
@pytest.mark.parametrize("row", MESSAGES)
def test_the_same_words_in_an_agents_answer_mean_nothing(row):
    shape, message, _ = MESSAGES[row]
    answer = shape(f"I fixed the parser for messages like:\n{message}\n", failed=False)
    failure = AGENTS[shape].read(answer).failure
    assert failure is not None
    assert failure.kind is K.BAD_OUTPUT
    reported = shape(f"{message}\n{DONE}", failed=False)
    assert isinstance(AGENTS[shape].read(reported).report, AuthorReport)
