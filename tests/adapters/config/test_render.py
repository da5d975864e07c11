"""What is shown can be read back, and shows no secret."""

from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from nightcrew.config.document import parse_document
from nightcrew.config.render import render_duration, render_settings, render_yaml
from nightcrew.config.secret import MASK
from nightcrew.config.value import parse_duration
from nightcrew.core.model.forge import ForgeBudget, ForgeSettings
from nightcrew.core.model.merge import MergeMethod, MergeMode, MergeSettings
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.settings import (
    AgentSettings,
    CheckCommand,
    CommitSettings,
    Intake,
    Limits,
    ProjectSettings,
    PromptBudget,
    ReviewAllow,
    ReviewSettings,
    RouterMode,
    RouterSettings,
    Settings,
    SetupCommand,
)
from tests.adapters.config.reading import read

seconds = st.integers(8, 8 * 3600).map(lambda eighths: eighths / 8)
names = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,30}", fullmatch=True)
models = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9./:_-]{0,20}", fullmatch=True)
letters = st.characters(codec="utf-8", categories=("L", "N", "P", "S"))
lines = st.text(letters, min_size=1, max_size=20)
texts = st.text(st.one_of(letters, st.sampled_from("\n\t \"'#:-|>&*!%@`{}[]\u2028\u0085\ufeff")), max_size=60)
words = st.lists(st.text(letters, min_size=1, max_size=12), min_size=1, max_size=4).map(tuple)
paths = lines.filter(lambda text: not text.startswith(("/", "~", ".")) and "\\" not in text and ".." not in text)
options = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | lines,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(models, inner, max_size=3),
    max_leaves=6,
)


def some(strategy: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(strategy, max_size=3, unique=True).map(tuple)


checks = st.lists(
    st.builds(CheckCommand, st.from_regex(r"[a-q][a-z0-9 ._-]{0,10}[a-z0-9]", fullmatch=True), words, seconds),
    max_size=3,
    unique_by=lambda check: check.name,
).map(tuple)
budgets = {part: st.integers(0, 400_000) for part in PromptBudget.__dataclass_fields__}
projects = st.builds(
    ProjectSettings,
    slug=st.from_regex(r"[a-z0-9][a-z0-9-]{0,10}/[a-z0-9][a-z0-9_]{0,10}", fullmatch=True),
    forge=st.sampled_from(["github", "local", "ghe"]),
    base_ref=st.none() | st.from_regex(r"[a-z][a-z0-9/]{0,10}[a-z0-9]", fullmatch=True).filter(lambda t: "//" not in t),
    intake=st.sampled_from(Intake),
    intake_label=lines,
    max_runs=st.integers(1, 256),
    attempts=st.integers(1, 20),
    cycles_cooldown_s=seconds,
    merge=st.builds(
        MergeSettings,
        st.sampled_from(MergeMode),
        st.sampled_from(MergeMethod),
        st.booleans(),
        some(lines),
        some(lines),
        some(lines),
    ),
    review=st.builds(ReviewSettings, st.integers(0, 10), st.sampled_from(ReviewAllow), st.integers(1, 10)),
    commit=st.builds(
        CommitSettings,
        st.sampled_from(["{agent}@x.org", "bot+{agent}@example.com", "a@b"]),
        some(lines.map(lambda text: f"Note: {text}")),
        st.booleans(),
    ),
    prompt=st.builds(PromptBudget, **budgets),
    checks=checks,
    setup=st.lists(st.builds(SetupCommand, words, seconds), max_size=2).map(tuple),
    copy_files=some(paths),
    source=st.just("") | lines.map(lambda text: "/" + text),
    instructions=texts,
)
agents = st.builds(
    AgentSettings,
    name=names,
    adapter=names,
    command=st.just(()) | words,
    models=st.dictionaries(st.sampled_from(Complexity), st.lists(models, min_size=1, max_size=3).map(tuple)),
    review_models=st.lists(models, max_size=2).map(tuple),
    env=st.dictionaries(st.from_regex(r"V[A-Z0-9_]{0,8}X", fullmatch=True), lines.map(lambda text: f"file:{text}")),
    options=st.dictionaries(st.from_regex(r"o[a-z]{0,8}x", fullmatch=True), options, max_size=3),
    max_runs=st.integers(1, 64),
    enabled=st.just(True),
    can_review=st.booleans(),
    can_author=st.booleans(),
)


@st.composite
def settings(draw):
    mine = {agent.name: agent for agent in draw(st.lists(agents, max_size=2))}
    ours = {
        "github": ForgeSettings("github", token=draw(st.sampled_from(["", "env:T", "file:t"]))),
        "local": ForgeSettings("local", kind="local", base_url=draw(st.sampled_from(["", "http://127.0.0.1:8"]))),
        "ghe": ForgeSettings(
            "ghe",
            base_url="https://x.org/api/v3",
            write_interval_s=draw(seconds.filter(lambda s: s <= 3600)),
            tokens=draw(some(st.sampled_from(["env:A", "file:b"]))),
            budget=ForgeBudget(*sorted(draw(st.tuples(*[st.integers(0, 50)] * 3)), reverse=True)),
        ),
    }
    chosen = draw(st.sampled_from(["", *mine]))
    return Settings(
        projects={project.slug: project for project in draw(st.lists(projects, max_size=2))},
        agents=mine,
        forges=ours,
        router=RouterSettings(
            RouterMode.MODEL if chosen else RouterMode.ROUND_ROBIN,
            chosen,
            draw(st.just("") | models),
            draw(seconds.filter(lambda s: s <= 3600)),
        ),
        limits=Limits(draw(st.integers(1, 256)), {level: draw(seconds) for level in Complexity}, draw(seconds)),
        interval_s=draw(seconds.filter(lambda s: s <= 3600)),
        interval_min_s=draw(seconds.filter(lambda s: 1 <= s <= 3600)),
        interval_max_s=draw(seconds.filter(lambda s: 1 <= s <= 3600)),
    )


@profile(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(settings())
def test_settings_shown_and_read_back_are_the_same(before):
    shown = render_yaml(render_settings(before))
    if MASK not in shown:
        assert read(shown) == before


@profile(deadline=None)
@given(st.floats(0, 1e6, allow_nan=False) | st.integers(0, 10**7).map(float))
def test_a_time_shown_and_read_back_is_the_same(value):
    assert parse_duration(render_duration(value)) == value


def test_times_are_shown_in_the_largest_unit_that_loses_nothing():
    assert [render_duration(value) for value in (0, 45, 90, 1800, 7200, 0.5)] == ["0s", "45s", "90s", "30m", "2h", 0.5]


def test_secrets_are_shown_as_references_or_masked():
    text = """
projects: [a/b]
agents:
  a:
    adapter: custom
    command: [x, --token, ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]
    env: {API_KEY: hunter2, REF_KEY: env:REF, PLAIN: words}
    options: {deep: [{password: hunter2}], level: 3}
"""
    shown = render_settings(read(text))
    assert "hunter2" not in str(shown)
    assert "ghp_" not in str(shown)
    agent = shown["agents"]["a"]  # type: ignore[index]  # a plain mapping, as it will be printed
    assert agent["env"] == {"API_KEY": MASK, "REF_KEY": "env:REF", "PLAIN": "words"}
    assert agent["options"] == {"deep": [{"password": MASK}], "level": 3}
    assert agent["command"] == ["x", "--token", MASK]


@profile(deadline=None, max_examples=300)
@given(texts)
def test_any_text_shown_as_yaml_is_read_back_as_the_same(text):
    assert parse_document(render_yaml({"a": [text]}), "f").value == {"a": [text]}


def test_text_that_yaml_would_read_otherwise_is_quoted():
    odd = [
        "true",
        "null",
        "",
        "1",
        "0E0",
        "1e5",
        "1.",
        "~",
        "yes",
        "2024-01-01",
        "- a",
        "a: b",
        "# c",
        "\x85",
        "\u2028",
        " a ",
    ]
    assert parse_document(render_yaml({"a": odd}), "f").value == {"a": odd}
