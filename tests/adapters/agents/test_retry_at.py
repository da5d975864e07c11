"""When to try again, as each CLI passes it on: every row of tests/data/vendor-messages.md that names a time, with the
moment it means; and where a time counts for nothing."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.agents.codex import CodexAgent
from nightcrew.agents.custom import CustomAgent
from nightcrew.agents.ending import Ending, judge
from nightcrew.agents.gemini import GeminiAgent
from nightcrew.agents.opencode import OpencodeAgent
from nightcrew.agents.pattern import Pattern
from nightcrew.agents.zone import HostZone, find_zone
from nightcrew.core.failures import Failure
from nightcrew.core.failures import FailureKind as K
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.policy.cooling import cooldown_after, cooled_until
from nightcrew.core.retry_time import MARGIN
from nightcrew.ports.agent import Agent, RunOutput
from tests.adapters.agents.recording import DATA, DONE, load_recording, make_output, make_settings

BERLIN = ZoneInfo("Europe/Berlin")
ENDED = datetime(2026, 10, 9, 16, 0, tzinfo=UTC)  # 18:00 in Berlin

CLAUDE = ClaudeAgent(make_settings("claude"))
CODEX = CodexAgent(make_settings("codex"))
OPENCODE = OpencodeAgent(make_settings("opencode"))
GEMINI = GeminiAgent(make_settings("gemini"))
CURSOR = CustomAgent(make_settings("custom", name="cursor", command=("c",), options={"patterns": "cursor"}))
COPILOT = CustomAgent(make_settings("custom", name="copilot", command=("c",), options={"patterns": "copilot"}))
KIMI = CustomAgent(make_settings("custom", name="kimi", command=("k",), options={"patterns": "kimi"}))


def lines(*objects: object) -> str:
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in objects) + "\n"


def claude(message: str, **fields: object) -> RunOutput:
    return make_output(
        lines({"type": "result", "subtype": "success", "is_error": True, "result": message, **fields}), exit_code=1
    )


def codex(message: str, **fields: object) -> RunOutput:
    return make_output(lines({"type": "turn.failed", "error": {"message": message, **fields}}), exit_code=1)


def opencode(message: str, *, timestamp: float | None = None, headers: object = None) -> RunOutput:
    data = {"message": message, "responseHeaders": headers or {}}
    return make_output(lines({"type": "error", "timestamp": timestamp, "error": {"data": data}}), exit_code=1)


def gemini(message: str) -> RunOutput:
    return make_output(stderr=json.dumps({"error": {"message": message, "code": 429}}, indent=1), exit_code=1)


def printed(message: str) -> RunOutput:
    return make_output(stderr=message, exit_code=1)


def fail(agent: Agent, output: RunOutput, *, at: datetime | None = ENDED, zone: tzinfo = BERLIN) -> Failure:
    failure = agent.read(replace(output, ended_at=at, zone=zone)).failure
    assert failure is not None
    return failure


def utc(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


SESSION = "You've hit your session limit · resets "
UPGRADE = "You've hit your usage limit. Upgrade to Pro (https://example.invalid/pricing) or try again in "
GLM = 'API Error: 429 {"error":{"code":"%s","message":"%s"}}'

Row = tuple[Agent, Callable[[str], RunOutput], str, datetime, datetime | timedelta | None]

ROWS: dict[str, Row] = {
    "V001": (CLAUDE, claude, f"{SESSION}10:30pm (Europe/Berlin)", ENDED, utc(2026, 10, 9, 20, 30)),
    "V004": (CLAUDE, claude, f"{SESSION}3:20am (Asia/Calcutta)", ENDED, utc(2026, 10, 9, 21, 50)),
    "V005": (CLAUDE, claude, f"{SESSION}9:50pm (UTC)", ENDED, utc(2026, 10, 9, 21, 50)),
    "V006": (CLAUDE, claude, f"{SESSION}9:50pm (UTC)\n/login to switch to an API usage-billed account", ENDED,
             utc(2026, 10, 9, 21, 50)),
    "V007": (CLAUDE, claude, f"{SESSION}11:50pm (Asia/Riyadh)\n/upgrade to increase your usage limit", ENDED,
             utc(2026, 10, 9, 20, 50)),
    "V008": (CLAUDE, claude, "Claude AI usage limit reached|1791600000", ENDED, utc(2026, 10, 10, 2, 40)),
    "V009": (CLAUDE, claude, "Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).", ENDED,
             utc(2026, 10, 9, 18)),
    "V011": (CLAUDE, claude, "Opus weekly limit reached ∙ resets Oct 24", ENDED, utc(2026, 10, 23, 22)),
    "V017": (CLAUDE, claude, "API Error: 529 Overloaded. This is a server-side issue - try again in a moment...", ENDED,
             None),
    "V037": (CODEX, codex, f"{UPGRADE}2 days 17 hours 14 minutes.", ENDED,
             timedelta(days=2, hours=17, minutes=14)),
    "V040": (CODEX, codex, f"🖐 {UPGRADE}3 hours 2 minutes.", ENDED, timedelta(hours=3, minutes=2)),
    "V041": (CODEX, codex,
             "You've hit your usage limit. Upgrade to Pro, or wait for limits to reset (every 5h and every week.)",
             ENDED, None),
    "V042": (CODEX, codex,
             ("You have hit your usage limit. Visit https://example.invalid/usage to purchase more credits or try "
             "again at Jul 23rd, 2026 4:15 AM."), utc(2026, 7, 20), utc(2026, 7, 23, 2, 15)),
    "V044": (CODEX, codex,
             ('{"error":{"type":"usage_limit_reached","plan_type":"pro","resets_at":1777936568,'
             '"resets_in_seconds":13872}}'), utc(2026, 5, 4, 19, 24, 56), utc(2026, 5, 4, 23, 16, 8)),
    "V045": (CODEX, codex, ("primary used 100 %, window 300 min, reset after 13873 s; secondary used 80 %, window "
             "10080 min, reset after 316705 s"), ENDED, timedelta(seconds=13_873)),
    "V066": (OPENCODE, opencode, "free usage exceeded, subscribe to Go retrying in 9h", ENDED, timedelta(hours=9)),
    "V067": (OPENCODE, opencode, "Free usage exceeded with retry timer 73801s", ENDED, timedelta(seconds=73_801)),
    "V083": (GEMINI, gemini,
             ('You exceeded your current quota. {"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier",'
             '"quotaValue":"50"}'), ENDED, utc(2026, 10, 10, 7)),
    "V094": (KIMI, printed, ("Error code: 429 - We're receiving too many requests at the moment. Please wait a moment"
             " and try again., type rate_limit_reached_error"), ENDED, None),
    "V096": (KIMI, printed, "429 request reached organization max RPM: 20, please try again after 1 seconds", ENDED,
             timedelta(seconds=1)),
    "V097": (KIMI, printed, ("Error: [provider.auth_error] 403 You've reached your usage limit for this billing cycle."
             " Your quota will be refreshed in the next cycle."), ENDED, None),
    "V099": (KIMI, printed, "You've reached your 5-hour usage limit", ENDED, timedelta(hours=5)),
    "V109": (CLAUDE, claude, ("API Error: 402 Free quota used (30 requests / 5h). Resets at 10:00 UTC. code "
             "free_quota_exceeded"), ENDED, utc(2026, 10, 10, 10)),
    "V111": (CLAUDE, claude, GLM % (1308, ("Usage limit reached for 5 hour. Your limit will reset at "
             "2026-09-04 19:01:25")), utc(2026, 9, 4, 8), utc(2026, 9, 4, 11, 1, 25)),
    "V112": (CLAUDE, claude, GLM % (1308, "已达到 5 小时的使用上限。您的限额将在 2026-08-25 07:41:44 重置。"),
             utc(2026, 8, 24, 20), utc(2026, 8, 24, 23, 41, 44)),
    "V113": (CLAUDE, claude, GLM % (1310, ("Weekly/Monthly Limit Exhausted. Your limit will reset at "
             "2026-08-14T00:00:00Z")), utc(2026, 8, 10), utc(2026, 8, 14)),
    "V118": (CURSOR, printed, ("Error: You've hit your usage limit Get Cursor Pro for more Agent usage. Your usage"
             " limits will reset when your monthly cycle ends on 11/17/2025."), utc(2025, 10, 20),
             utc(2025, 11, 16, 23)),
    "V131": (COPILOT, printed, ("Sorry, you've hit a rate limit that restricts the number of requests. Please try "
             "again in 58 hours. (Request ID C0FE:1234:5678)"), ENDED, timedelta(hours=58)),
}  # fmt: skip


def test_every_row_that_names_a_time_is_here():
    text = (DATA / "vendor-messages.md").read_text("utf-8").replace("\\ |", "")  # a bar in a message
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| V")]
    assert {len(row) for row in rows} == {7}
    assert {row[0].strip("| ") for row in rows if row[4] != "none"} == set(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_the_time_of_a_message_is_the_moment_that_it_means(row):
    agent, shape, message, at, means = ROWS[row]
    failure = fail(agent, shape(message), at=at)
    expected = at + means if isinstance(means, timedelta) else means
    assert failure.retry_at == (expected + MARGIN if expected else None)
    assert "could not be read" not in failure.detail or row == "V041"


@pytest.mark.parametrize("row", ROWS)
def test_the_same_words_from_the_agent_itself_name_no_time(row):
    agent, _, message, at, _ = ROWS[row]
    spoken = {
        CLAUDE: lines({"type": "result", "subtype": "success", "is_error": False, "result": message}),
        CODEX: lines({"type": "item.completed", "item": {"type": "agent_message", "text": message}},
                     {"type": "turn.completed"}),
        OPENCODE: lines({"type": "text", "part": {"text": message}},
                        {"type": "step_finish", "part": {"reason": "stop"}}),
        GEMINI: lines({"type": "message", "role": "assistant", "content": message},
                      {"type": "result", "status": "success"}),
    }.get(agent, message)  # fmt: skip
    failure = fail(agent, make_output(spoken), at=at)
    assert (failure.kind, failure.retry_at) == (K.BAD_OUTPUT, None)
    assert agent.read(replace(make_output(spoken, report=DONE), ended_at=at)).failure is None


@pytest.mark.parametrize("row", [row for row in ROWS if ROWS[row][-1]])
def test_without_knowing_when_it_ended_no_time_is_made_up(row):
    agent, shape, message, _, _ = ROWS[row]
    assert fail(agent, shape(message), at=None).retry_at is None


def test_a_failure_of_another_kind_has_no_time():
    failure = fail(CLAUDE, claude("Not logged in · Please run /login. Try again in 5 hours."))
    assert (failure.kind, failure.retry_at) == (K.AUTH, None)


def test_a_time_that_cannot_be_read_is_noted():
    failure = fail(CLAUDE, claude(f"{SESSION}at 25:99 (Mars/Olympus)"))
    assert (failure.kind, failure.retry_at) == (K.USAGE_WINDOW, None)
    assert failure.detail.endswith("[when to try again could not be read]")


def test_a_time_on_another_line_of_the_same_message():
    for output in (claude("You've hit your usage limit\nTry again in 3 hours"),
                   make_output(stderr="rate limit exceeded\nTry again in 3 hours\n", exit_code=1)):  # fmt: skip
        assert fail(CLAUDE, output).retry_at == ENDED + timedelta(hours=3) + MARGIN
    prose = make_output("I wrote: try again in 3 hours\nrate limit exceeded", exit_code=1)
    assert fail(CLAUDE, prose).retry_at is None


def test_a_run_that_stops_without_an_end_or_at_its_deadline_names_the_time_it_was_told():
    told = "rate limit exceeded, try again in 3 hours"
    for output in (make_output(stderr=told), make_output(stderr=told, timed_out=True)):
        assert fail(CODEX, output).retry_at == ENDED + timedelta(hours=3) + MARGIN


def test_a_vendor_whose_zone_this_machine_does_not_know_is_not_read_in_another():
    pattern = Pattern("limit reached", K.USAGE_WINDOW, "made up", "Mars/Olympus")
    output = replace(make_output(), ended_at=ENDED, zone=BERLIN)
    failure = judge(output, Ending(errors=("limit reached, resets 3pm",)), (pattern,)).failure
    assert failure is not None
    assert failure.retry_at is None
    assert failure.detail == "limit reached, resets 3pm [when to try again could not be read]"


def test_a_duration_counts_from_the_time_of_its_own_line():
    said = ENDED - timedelta(minutes=20)
    message = "usage limit reached, try again in 3 hours"
    expected = said + timedelta(hours=3) + MARGIN
    millis = said.timestamp() * 1000
    assert fail(CLAUDE, claude(message, timestamp="2026-10-09T15:40:00.000Z")).retry_at == expected
    assert fail(CLAUDE, claude(message, timestamp="2026-10-09T15:40:00.000Z"), at=None).retry_at == expected
    assert fail(OPENCODE, opencode(message, timestamp=millis)).retry_at == expected
    stream = lines({"type": "result", "timestamp": "2026-10-09T15:40:00Z", "status": "error",
                    "error": {"message": message}})  # fmt: skip
    assert fail(GEMINI, make_output(stream, exit_code=1)).retry_at == expected
    # A line cannot be newer than the end, and a time that is none is passed over.
    for wrong in ("2026-10-09T18:40:00Z", "2026-10-09T15:40:00", "soon", 1e300, None):
        assert fail(CLAUDE, claude(message, timestamp=wrong)).retry_at == ENDED + timedelta(hours=3) + MARGIN


def test_fields_of_the_answer_count_as_well_as_words():
    assert fail(OPENCODE, opencode("Rate limit exceeded.", headers={"retry-after": "90"})).retry_at == (
        ENDED + timedelta(seconds=90) + MARGIN
    )
    http_date = {"retry-after": "Sat, 10 Oct 2026 07:28:00 GMT"}
    assert fail(OPENCODE, opencode("Rate limit exceeded.", headers=http_date)).retry_at == utc(2026, 10, 10, 7, 29)
    assert fail(CODEX, codex("usage_limit_reached", resets_at=1791600000, resets_in_seconds=60)).retry_at == (
        utc(2026, 10, 10, 2, 41)
    )
    assert fail(CODEX, codex("usage_limit_reached", resets_in_seconds=60)).retry_at == (
        ENDED + timedelta(seconds=60) + MARGIN
    )
    event = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1791600000}}
    rejected = claude("API Error: Request rejected (429)")
    with_event = replace(rejected, stdout=lines(event).encode() + rejected.stdout)
    assert fail(CLAUDE, with_event).retry_at == utc(2026, 10, 10, 2, 41)
    allowed = with_event.stdout.replace(b'"rejected"', b'"allowed"')
    assert fail(CLAUDE, replace(rejected, stdout=allowed)).retry_at is None


def test_a_recorded_header_of_opencode():
    failure = fail(OPENCODE, load_recording("opencode/http429-json"), at=utc(2026, 11, 30, 7))
    assert failure.kind is K.RATE_LIMIT
    assert failure.retry_at == datetime(2026, 11, 30, 6, 59, 54, 840_000, tzinfo=UTC) + MARGIN


def test_gemini_names_quota_and_delay_in_the_details_of_its_answer():
    def answer(quota: str) -> str:
        details = [{"violations": [{"quotaId": quota}]}, {"retryDelay": "34s"}]
        return json.dumps({"error": {"message": "Quota is used.", "status": "X", "details": details}})

    day = fail(GEMINI, gemini(answer("GenerateRequestsPerDayPerProject")))
    assert (day.kind, day.retry_at) == (K.USAGE_WINDOW, utc(2026, 10, 10, 7) + MARGIN)
    minute = fail(GEMINI, gemini(answer("GenerateRequestsPerMinutePerProject")))
    assert (minute.kind, minute.retry_at) == (K.RATE_LIMIT, ENDED + timedelta(seconds=34) + MARGIN)


@pytest.mark.case("C124")
@pytest.mark.case("C132")
def test_a_billing_cycle_is_no_short_rate_limit():
    agent, shape, message, _, _ = ROWS["V097"]
    for failure in (fail(agent, shape(message)), fail(CLAUDE, claude(message))):
        assert failure.kind is K.BILLING
        cooldown = cooldown_after(failure, agent="kimi", model="k", known=(), now=ENDED)
        assert cooldown is not None
        assert cooldown.until_at >= ENDED + timedelta(days=1)
        assert (cooldown.kind, cooldown.model) == (K.BILLING, "k")
        assert cooled_until([cooldown], agent="kimi", model="other", now=ENDED) is None


@pytest.mark.case("C133")
@pytest.mark.parametrize(("minute", "day"), [(59, 9), (61, 10)])
def test_an_hour_that_has_passed_is_of_the_next_day(minute, day):
    at = utc(2026, 10, 9, 12) + timedelta(minutes=minute)  # 14:59 and 15:01 in Berlin
    for message in (f"{SESSION}3pm", f"{SESSION}3pm (Europe/Berlin)"):
        assert fail(CLAUDE, claude(message), at=at).retry_at == utc(2026, 10, day, 13) + MARGIN
    message = f"{SESSION}Oct 12 at 5pm"
    assert fail(CLAUDE, claude(message), at=at).retry_at == utc(2026, 10, 12, 15) + MARGIN
    assert fail(CLAUDE, claude(f"{message} (UTC)"), at=at).retry_at == utc(2026, 10, 12, 17) + MARGIN


@pytest.mark.case("C134")
def test_no_money_is_an_hour_and_grows():
    failure = fail(CLAUDE, claude("API Error: 402 insufficient balance (1008)"))
    assert (failure.kind, failure.retry_at) == (K.CREDITS, None)
    first = cooldown_after(failure, agent="minimax", model="m", known=(), now=ENDED)
    assert first is not None
    assert first.until_at == ENDED + timedelta(hours=1)
    second = cooldown_after(failure, agent="minimax", model="m", known=(first,), now=first.until_at)
    assert second is not None
    assert second.until_at == first.until_at + timedelta(hours=3)


@pytest.mark.case("C141")
def test_a_reset_that_is_named_is_no_billing_and_passes():
    agent, shape, message, at, _ = ROWS["V111"]
    failure = fail(agent, shape(message), at=at)
    assert failure.kind is K.USAGE_WINDOW
    cooldown = cooldown_after(failure, agent="glm", model="g", known=(), now=at)
    assert cooldown is not None
    reset_at = utc(2026, 9, 4, 11, 1, 25)
    assert cooled_until([cooldown], agent="glm", model="g", now=reset_at) == cooldown
    assert cooled_until([cooldown], agent="glm", model="g", now=reset_at + MARGIN) is None


@pytest.mark.case("C142")
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Shanghai"])
def test_a_time_of_beijing_is_one_wherever_the_host_stands(zone):
    message = GLM % (1308, "Usage limit reached for 5 hour. Your limit will reset at 2026-10-10 05:38:28")
    for output in (claude(message), opencode(message)):
        agent = CLAUDE if output.stdout.startswith(b'{"type": "result"') else OPENCODE
        assert fail(agent, output, zone=ZoneInfo(zone)).retry_at == utc(2026, 10, 9, 21, 38, 28) + MARGIN
    # The times of other vendors are those of the host.
    other = fail(
        CLAUDE, claude("usage limit reached, resets 2026-10-10 05:38:28"), zone=ZoneInfo("America/Los_Angeles")
    )
    assert other.retry_at == utc(2026, 10, 10, 12, 38, 28) + MARGIN


@pytest.mark.case("C145")
def test_the_same_limit_with_a_new_time_gets_the_new_time_and_nothing_more():
    known: list[Cooldown] = []
    now = ENDED
    for hour in (23, 4, 9):
        local = f"{hour % 12}{'pm' if hour >= 12 else 'am'}"
        failure = fail(CLAUDE, claude(f"{SESSION}{local} (Europe/Berlin)"), at=now)
        cooldown = cooldown_after(failure, agent="claude", model="m", known=known, now=now)
        assert cooldown is not None
        assert now < cooldown.until_at <= now + timedelta(hours=5) + MARGIN
        assert cooldown.until_at.astimezone(BERLIN).hour == hour
        now, known = cooldown.until_at, [cooldown]


COMPARE = """
import sys
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo
from nightcrew.agents.pattern import Pattern
from nightcrew.agents.zone import HostZone

here, known = HostZone(), ZoneInfo(sys.argv[1])
for hours in range(0, 24 * 400, 7):
    at = datetime(2026, 1, 1, 0, 30, tzinfo=UTC) + timedelta(hours=hours)
    assert at.astimezone(here).replace(tzinfo=None) == at.astimezone(known).replace(tzinfo=None), at
    assert at.astimezone(here).astimezone(UTC) == at, at
    for fold in (0, 1):
        wall = at.replace(fold=fold)
        assert wall.replace(tzinfo=here).utcoffset() == wall.replace(tzinfo=known).utcoffset(), (at, fold)
"""


@pytest.mark.parametrize("name", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"])
def test_the_zone_of_this_machine_is_the_systems(name):
    ran = subprocess.run(
        [sys.executable, "-c", COMPARE, name], env={"TZ": name}, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    here = HostZone()
    assert here.tzname(ENDED)
    assert (here.utcoffset(None), here.tzname(None), here.dst(ENDED)) == (None, None, None)


@pytest.mark.parametrize(
    "name", ["", "Mars/Olympus", "America", "../../etc/passwd", "/etc/localtime", "A" * 300, "a/b/c/d", "Europe/\0"]
)
def test_what_is_no_zone_is_none(name):
    assert find_zone(name) is None


def test_old_names_of_zones_are_known():
    moment = utc(2026, 1, 1)
    for old, new in (("Asia/Calcutta", "Asia/Kolkata"), ("Europe/Kiev", "Europe/Kyiv"), ("US/Pacific", "PST8PDT")):
        zone, other = find_zone(old), find_zone(new)
        assert zone is not None
        assert other is not None
        assert zone.utcoffset(moment) == other.utcoffset(moment)
