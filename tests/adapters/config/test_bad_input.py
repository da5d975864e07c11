"""Each bad value is one problem with file, line and key, and says what to write instead."""
# ruff: noqa: E501 - one row a case reads best

import os

import pytest

from nightcrew.config.file import ConfigFile
from nightcrew.config.load import load_settings, parse_project_file
from nightcrew.config.project import MergeKeys, ProjectKeys
from nightcrew.core.errors import ConfigError
from tests.adapters.config.reading import problems, read


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- a", "config.yml:1:1: must be a mapping, one `key: value` a line"),
        ("limits:\n  max_run: 3", "config.yml:2:limits.max_run: unknown key (did you mean `max_runs`?)"),
        ("zzz: 1", f"config.yml:1:zzz: unknown key (known here: {', '.join(sorted(ConfigFile.model_fields))})"),
        ("interval: soon", "config.yml:1:interval: 'soon' is not a time; write 45, 45s, 30m or 2h"),
        ("interval: -3", "config.yml:1:interval: is too small; at least 0.1"),
        ("interval: 2d", "config.yml:1:interval: '2d' is not a time; write 45, 45s, 30m or 2h"),
        ("interval: true", "config.yml:1:interval: True is not a time; write 45, 45s, 30m or 2h"),
        ("interval:", "config.yml:1:interval: None is not a time; write 45, 45s, 30m or 2h"),
        ("limits: 3", "config.yml:1:limits: must be a mapping, one `key: value` a line"),
        ("limits: {max_runs: many}", "config.yml:1:limits.max_runs: 'many' is not a whole number"),
        ("limits: {max_runs: 1.5}", "config.yml:1:limits.max_runs: 1.5 is not a whole number"),
        ("limits: {max_runs: true}", "config.yml:1:limits.max_runs: True is not a whole number"),
        ("limits: {max_runs: 0}", "config.yml:1:limits.max_runs: is too small; at least 1"),
        ("limits: {max_runs: 9999}", "config.yml:1:limits.max_runs: is too large; at most 256"),
        ("router: {mode: llm}", "config.yml:1:router.mode: is not one of the accepted values (accepted: model or round_robin)"),
        ("router: {mode: model}", "config.yml:1:router.agent: is missing (mode `model` needs an agent to ask)"),
        ("router: {agent: x}", "config.yml:1:router.agent: there is no agent `x` (no agent is configured)"),
        ("agents: {claude: }\nrouter: {agent: claud}", "config.yml:2:router.agent: there is no agent `claud` (did you mean `claude`?)"),
        ("agents: {a: {enabled: false}}\nrouter: {agent: a}", "config.yml:2:router.agent: the agent `a` is not enabled"),
        ("projects:\n- slug: a/b\n  sourse: /x", "config.yml:3:projects[0].sourse: unknown key (did you mean `source`?)"),
        ("projects:\n- slug: a/b\n  merge:\n    metod: merge", "config.yml:4:projects[0].merge.metod: unknown key (did you mean `method`?)"),
        ("agents:\n  a:\n    comand: x", "config.yml:3:agents.a.comand: unknown key (did you mean `command`?)"),
        ("defaults:\n  checks:\n  - name: a\n    command: x\n    time_out: 3", "config.yml:5:defaults.checks[0].time_out: unknown key (did you mean `timeout`?)"),
        ("projects: a/b", "config.yml:1:projects: must be a list, one `- item` a line"),
        ("projects:\n- a", "config.yml:2:projects[0].slug: 'a' is not a repository; write owner/name"),
        ("projects:\n- a/b.git", "config.yml:2:projects[0].slug: 'a/b.git' is not a repository; write owner/name"),
        ("projects:\n- ../x", "config.yml:2:projects[0].slug: '../x' is not a repository; write owner/name"),
        ("projects:\n- {forge: local}", "config.yml:2:projects[0].slug: is missing"),
        ("projects:\n- a/b\n- A/b", "config.yml:3:projects[1]: A/b is there already (see config.yml:2:projects[0])"),
        ("projects:\n- slug: a/b\n  forge: githib", "config.yml:3:projects[0].forge: there is no forge `githib` (did you mean `github`?)"),
        ("defaults:\n  forge: nowhere", "config.yml:2:defaults.forge: there is no forge `nowhere` (known here: github, local)"),
        ("projects:\n- slug: a/b\n  source: x", "config.yml:3:projects[0].source: 'x' must be a whole path, from / or ~/"),
        ("defaults: {slug: a/b}", f"config.yml:1:defaults.slug: unknown key (known here: {', '.join(sorted(ProjectKeys.model_fields))})"),
        ("defaults: {merge: maybe}", "config.yml:1:defaults.merge.mode: is not one of the accepted values (accepted: auto or ask)"),
        ("defaults: {merge: {sign: true}}", f"config.yml:1:defaults.merge.sign: unknown key (known here: {', '.join(sorted(MergeKeys.model_fields))})"),
        ("defaults: {merge: {allow_without_ci: maybe}}", "config.yml:1:defaults.merge.allow_without_ci: 'maybe' is neither true nor false"),
        ("defaults: {merge: {allow_without_ci: 1}}", "config.yml:1:defaults.merge.allow_without_ci: 1 is neither true nor false"),
        ("defaults: {merge: {required_checks: [1]}}", "config.yml:1:defaults.merge.required_checks[0]: must be text; put it in quotes"),
        ("defaults: {merge: {required_checks: {a: b}}}", "config.yml:1:defaults.merge.required_checks: must be a list, one `- item` a line"),
        ('defaults: {merge: {hold_labels: ["a\\nb"]}}', "config.yml:1:defaults.merge.hold_labels[0]: 'a\\nb' must be one line of printable text"),
        ("defaults: {intake_label: " + "x" * 51 + "}", "config.yml:1:defaults.intake_label: is longer than 50 characters"),
        ("defaults: {base_ref: --force}", "config.yml:1:defaults.base_ref: '--force' is not the name of a branch"),
        ("defaults: {base_ref: a..b}", "config.yml:1:defaults.base_ref: 'a..b' is not the name of a branch"),
        ("defaults: {commit: {email: nobody}}", "config.yml:1:defaults.commit.email: 'nobody' is not an address; {agent} stands for the agent's name"),
        ("defaults: {commit: {email: '{who}@x.org'}}", "config.yml:1:defaults.commit.email: '{who}@x.org' is not an address; {agent} stands for the agent's name"),
        ("defaults: {commit: {trailers: nothing}}", "config.yml:1:defaults.commit.trailers[0]: 'nothing' is not a trailer; write `Name: value`"),
        ("defaults: {copy_files: ../x}", "config.yml:1:defaults.copy_files[0]: '../x' must be a path inside the checkout"),
        ("defaults: {copy_files: /etc/passwd}", "config.yml:1:defaults.copy_files[0]: '/etc/passwd' must be a path inside the checkout"),
        ("defaults: {copy_files: .git/config}", "config.yml:1:defaults.copy_files[0]: '.git/config' must be a path inside the checkout"),
        ("defaults: {setup: [a | b]}", "config.yml:1:defaults.setup[0].command: is not given to a shell; write [sh, -c, '…'] if it needs one"),
        ("defaults: {setup: [\"a 'b\"]}", "config.yml:1:defaults.setup[0].command: cannot be split into words: No closing quotation"),
        ("defaults: {setup: [[]]}", "config.yml:1:defaults.setup[0].command: names no program"),
        ("defaults: {checks: [{name: x}]}", "config.yml:1:defaults.checks[0].command: is missing"),
        ("defaults: {checks: [{name: Review, command: x}]}", "config.yml:1:defaults.checks[0].name: `review` is the name of the reviewer's own status; choose another"),
        ("defaults: {checks: [{name: a/b, command: x}]}", "config.yml:1:defaults.checks[0].name: 'a/b' is not a name for a check"),
        ("defaults: {checks: [{name: a, command: x},{name: A, command: y}]}", "config.yml:1:defaults.checks: two checks are named 'a'"),
        ('defaults: {instructions: "a\\0b"}', "config.yml:1:defaults.instructions: has a zero character"),
        ("agents: {Claude: }", "config.yml:1:agents.Claude: 'Claude' is not a name: small letters, digits, - and _, at most 31"),
        ("agents: [claude]", "config.yml:1:agents: must be a mapping, one `key: value` a line"),
        ("agents: {a: {models: {tiny: x}}}", "config.yml:1:agents.a.models.tiny: unknown key (accepted: simple, medium or complex)"),
        ("agents: {a: {models: {simple: --yolo}}}", "config.yml:1:agents.a.models.simple[0]: '--yolo' is not the name of a model"),
        ("agents: {a: {models: {simple: a b}}}", "config.yml:1:agents.a.models.simple[0]: 'a b' is not the name of a model"),
        ("agents: {a: {env: {PORT: 80}}}", "config.yml:1:agents.a.env.PORT: must be text; put it in quotes"),
        ("agents: {a: {env: {a b: x}}}", "config.yml:1:agents.a.env.a b: 'a b' is not the name of a variable"),
        ("agents: {a: {env: {GH_TOKEN: x}}}", "config.yml:1:agents.a.env.GH_TOKEN: is never given to an agent: only Nightcrew itself talks to the forge"),
        ("agents: {a: {env: {X: env:GITHUB_TOKEN}}}", "config.yml:1:agents.a.env.X: is the forge's token, which is never given to an agent"),
        ("agents: {a: {env: {X: 'env:'}}}", "config.yml:1:agents.a.env.X: names no variable after env:"),
        ("agents: {a: {env: {X: 'file:'}}}", "config.yml:1:agents.a.env.X: names no file after file:"),
        ("agents: {a: {command: 'x > y'}}", "config.yml:1:agents.a.command: is not given to a shell; write [sh, -c, '…'] if it needs one"),
        ("forges: {a: {token: hunter2}}", "config.yml:1:forges.a.token: must be a reference; write env:NAME or file:PATH, never the token itself"),
        ("cooldowns: {crashes: {base: 1m}}", "config.yml:1:cooldowns.crashes: unknown key (did you mean `crash`?)"),
        ("cooldowns: {crash: {base: 2h}}", "config.yml:1:cooldowns: crash: base 2h is longer than max 1h"),
        ("cooldowns: {crash: {max: 0}}", "config.yml:1:cooldowns.crash.max: is too small; at least 1"),
        ("cooldowns: {crash: {scope: nobody}}", "config.yml:1:cooldowns.crash.scope: is not one of the accepted values (accepted: agent, account or model)"),
        ("forges: {a: {kind: gitlab}}", "config.yml:1:forges.a.kind: is not one of the accepted values (accepted: github or local)"),
        ("forges: {a: {base_url: 'ftp://x'}}", "config.yml:1:forges.a.base_url: is not a URL of a server; write https://host/path, without name and password"),
        ("forges: {a: {base_url: 'https://me:pw@x'}}", "config.yml:1:forges.a.base_url: is not a URL of a server; write https://host/path, without name and password"),
    ],
)  # fmt: skip
def test_one_line_says_it(text, line):
    assert problems(text) == [line]


def test_an_adapter_that_nobody_provides_is_named_with_the_nearest():
    assert problems("agents:\n  claud:\n  x: {adapter: codec}", adapters=["claude", "codex"]) == [
        "config.yml:2:agents.claud: there is no adapter `claud` (did you mean `claude`?)",
        "config.yml:3:agents.x.adapter: there is no adapter `codec` (did you mean `codex`?)",
    ]


def test_all_problems_of_all_sources_come_at_once_and_in_the_order_of_the_file():
    found = problems(
        "limits:\n  max_runs: x\ninterval: soon\nprojects:\n- bad\n",
        environ={"NIGHTCREW_ROUTER__MODE": "x"},
        overrides={"nothing": 1},
    )
    assert [line.split(": ")[0] for line in found] == [
        "config.yml:2:limits.max_runs",
        "config.yml:3:interval",
        "config.yml:5:projects[0].slug",
        "environment:NIGHTCREW_ROUTER__MODE",
        "override:nothing",
    ]


def test_a_secret_is_not_repeated_in_a_problem():
    assert "hunter2" not in "\n".join(problems("forges: {a: {token: hunter2}}"))
    text = "forges: {a: {token: [hunter2], base_url: 'https://x:hunter2@y'}}\nagents: {a: {env: {GH_TOKEN: hunter2}}}"
    assert "hunter2" not in "\n".join(problems(text))


def test_a_value_with_terminal_codes_is_shown_harmlessly():
    assert "\x1b" not in "\n".join(problems('projects: ["\\e[31mx"]\n"\\e[1m": 2'))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("agents: {}", ".nightcrew.yml:1:agents: a repository may not set this (set it in config.yml)"),
        ("forges: {}", ".nightcrew.yml:1:forges: a repository may not set this (set it in config.yml)"),
        ("copy_files: [.env]", ".nightcrew.yml:1:copy_files: a repository may not set this (set it in config.yml)"),
        ("source: /", ".nightcrew.yml:1:source: a repository may not set this (set it in config.yml)"),
        ("intake: all", ".nightcrew.yml:1:intake: a repository may not set this (set it in config.yml)"),
        ("merge: auto", ".nightcrew.yml:1:merge.mode: a repository may not set this (set it in config.yml)"),
        ("merge:\n  allow_without_ci: true", ".nightcrew.yml:2:merge.allow_without_ci: a repository may not set this (set it in config.yml)"),
        ("merge: {hold_labels: []}", ".nightcrew.yml:1:merge.hold_labels: a repository may not set this (set it in config.yml)"),
        ("review: {allow: other_model}", ".nightcrew.yml:1:review.allow: a repository may not set this (set it in config.yml)"),
        ("review: {cycle: 1}", ".nightcrew.yml:1:review.cycle: unknown key (did you mean `cycles`?)"),
        ("review: {cycles: 99}", ".nightcrew.yml:1:review.cycles: is too large; at most 10"),
        ("a: [", ".nightcrew.yml:1:5: is not YAML: expected the node content, but found '<stream end>' while parsing a flow node"),
    ],
)  # fmt: skip
def test_a_repository_may_not_widen_what_nightcrew_may_do(text, line):
    with pytest.raises(ConfigError) as caught:
        parse_project_file(text, ".nightcrew.yml")
    assert str(caught.value) == line


def test_a_file_that_is_not_there_says_what_to_do(tmp_path):
    with pytest.raises(ConfigError, match=r"config.yml: is not there \(`nightcrew init` writes one\)"):
        load_settings(tmp_path / "config.yml", environ={})


def test_files_that_cannot_be_trusted_or_read_are_refused(tmp_path):
    path = tmp_path / "config.yml"
    path.write_bytes(b"a: 1\nb: \xff")
    with pytest.raises(ConfigError, match=r"config.yml:2:4: is not UTF-8"):
        load_settings(path, environ={})
    path.write_text("interval: 3")
    path.chmod(0o666)
    with pytest.raises(ConfigError, match="anybody may write to it"):
        load_settings(path, environ={})
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(tmp_path, environ={})


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_file_of_somebody_else_is_refused(tmp_path):
    path = tmp_path / "config.yml"
    path.write_text("interval: 3")
    os.chown(path, 12345, 12345)
    with pytest.raises(ConfigError, match="belongs to another user"):
        load_settings(path, environ={})


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path):
    path = tmp_path / "config.yml"
    path.write_bytes(b"\xef\xbb\xbfinterval: 3\r\nprojects:\r\n- a/b\r\n")
    settings = load_settings(path, environ={}, generation=7)
    assert (settings.interval_s, list(settings.projects), settings.generation) == (3.0, ["a/b"], 7)


def test_an_empty_file_is_all_defaults():
    assert read("") == read("projects:\nagents:\nlimits:\nforges:\nrouter:\ndefaults:\n")
