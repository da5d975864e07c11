"""Configurations of other tools: what comes over, what is said, and that the result is one of ours."""

import json
from pathlib import Path

import pytest
import yaml

from nightcrew.config.load import load_settings, parse_configuration
from nightcrew.core.errors import ConfigError, Invalid, Missing
from nightcrew.core.model.merge import MergeMode
from nightcrew.core.model.route import Complexity
from nightcrew.service.convert import run_import

ORCH = """
projects: [~/code/widget]
engine: {tick_interval: 10, sync_interval: 45, max_parallel: 4, stuck_timeout: 1800}
workflow:
  max_attempts: 10
  timeout_seconds: 1800
  timeout_by_complexity: {complex: 5400}
  review_timeout_seconds: 900
  auto_merge: "false"
  disallowed_tools: ["Bash(rm *)"]
  required_skills: [git-worktree, "No Name"]
skills: [{repo: acme/skills, path: skills}]
router: {mode: llm, agent: claude, model: haiku, timeout_seconds: 60, agents: [claude, codex, kimi]}
model_map:
  simple: {claude: haiku, codex: [small, smaller]}
  review: {claude: opus}
gh: {auth: {mode: auto, token: "${GH_TOKEN}"}}
webhook: {enabled: true, port: 8081, secret: hush-hush}
notifications: {level: errors_only}
channels: {telegram: {bot_token: "${TG}", chat_id: 12345}}
"""
ORCH_PROJECT = """
gh: {repo: acme/widget, default_branch: trunk, project_id: PVT_x}
workflow: {max_review_cycles: 3, max_attempts: 4}
required_tools: [cargo]
jobs: [{id: x}]
"""
AO = """
$schema: x
port: 3000
defaults: {runtime: tmux, agent: claude-code, workspace: worktree, notifiers: [desktop]}
power: {preventIdleSleep: false}
notifiers:
  team: {plugin: slack, webhookUrl: "${SLACK_URL}", channel: "#night"}
  claw: {plugin: openclaw, url: "http://127.0.0.1:18789", token: "${CLAW}"}
  other: {plugin: composio, composioApiKey: abc}
notificationRouting: {urgent: [desktop, team], action: [team], warning: [], info: []}
reactions:
  ci-failed: {auto: true, action: send-to-agent, retries: 3, escalateAfter: 2, message: "fix {{job}}"}
  approved-and-green: {auto: false, action: auto-merge, priority: action}
  agent-stuck: {threshold: 10m, priority: urgent}
  bugbot-comments: {action: send-to-agent}
projects:
  widget:
    path: /srv/widget
    repo: acme/widget
    defaultBranch: main
    sessionPrefix: wid
    postCreate: ["npm ci && npm run build"]
    symlinks: [.env]
    agent: codex
    agentConfig: {model: big, permissions: permissionless}
    agentRules: Be brief.
    reactions: {changes-requested: {escalateAfter: 30m}}
"""


def converted(capsys, folder: Path, tool: str, **files: str):
    """The values, and what was said by key."""
    paths = []
    for name, text in files.items():
        path = folder / {"orch": ".orch.yml", "ao": "agent-orchestrator.yaml", "shared": "config.yml"}[name]
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    code = run_import(folder / "home", tool, paths, write=False, as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert code == (1 if shown["problems"] else 0)
    assert shown["problems"] == []
    settings = parse_configuration(yaml.safe_dump(shown["config"]), "config.yml", environ={}).apply()
    return settings, {remark["key"]: remark["words"] for remark in shown["remarks"]}


def test_what_orch_says_comes_over(capsys, tmp_path):
    settings, _ = converted(capsys, tmp_path, "orch", shared=ORCH, orch=ORCH_PROJECT)
    project = settings.projects["acme/widget"]
    assert (project.base_ref, project.attempts, project.review.cycles) == ("trunk", 4, 3)
    assert project.merge.mode is MergeMode.ASK
    assert project.skills.required == ("git-worktree",)
    assert project.intake.value == "all"
    assert settings.limits.max_runs == 4
    assert settings.limits.timeouts_s[Complexity.COMPLEX] == 5400
    assert settings.limits.timeouts_s[Complexity.SIMPLE] == 1800
    assert set(settings.agents) == {"claude", "codex"}
    assert settings.agents["codex"].models[Complexity.SIMPLE] == ("small", "smaller")
    assert settings.agents["claude"].review_models == ("opus",)
    assert settings.router.model == "haiku"
    assert settings.forges["github"].token == "env:GH_TOKEN"
    assert settings.telegram.users == ("12345",)
    assert settings.notices.targets[0].target.least.value == "warning"


def test_a_router_of_orch_that_names_no_mode_is_its_default_and_jobs_for_all_are_told(capsys, tmp_path):
    shared = ORCH.replace("mode: llm, ", "") + "jobs: [{id: x}]\n"
    settings, said = converted(capsys, tmp_path, "orch", shared=shared, orch=ORCH_PROJECT)
    assert (settings.router.mode.value, settings.router.agent, settings.router.model) == ("model", "claude", "haiku")
    assert "docs/jobs.md" in said["config.yml: jobs"]


def test_what_of_orch_has_no_counterpart_is_said_and_no_secret_is_copied(capsys, tmp_path):
    settings, said = converted(capsys, tmp_path, "orch", shared=ORCH, orch=ORCH_PROJECT)
    for key in ("engine.stuck_timeout", "workflow.disallowed_tools", "router.kimi", "webhook.secret", "skills"):
        assert f"config.yml: {key}" in said, key
    for key in ("required_tools", "jobs", "gh.project_id"):
        assert f".orch.yml: {key}" in said, key
    assert settings.webhook.listen == ""
    assert "hush-hush" not in str(said)


def test_what_agent_orchestrator_says_comes_over(capsys, tmp_path):
    settings, said = converted(capsys, tmp_path, "ao", ao=AO)
    project = settings.projects["acme/widget"]
    assert project.setup[0].argv == ("sh", "-c", "npm ci && npm run build")
    assert (project.copy_files, project.source, project.instructions) == ((".env",), "/srv/widget", "Be brief.")
    assert project.reactions.ci_failed.retries == 2
    assert project.reactions.approved_and_green.action.value == "notify"
    assert project.reactions.agent_stuck.escalate_after_s == 600
    assert project.reactions.changes_requested.escalate_after_s == 1800
    assert set(settings.agents) == {"claude", "codex"}
    assert settings.agents["codex"].models[Complexity.MEDIUM] == ("big",)
    assert {one.target.name: one.target.least.value for one in settings.notices.targets} == {
        "team": "action",
        "claw": "info",
    }
    for key in ("port", "projects.widget.sessionPrefix", "projects.widget.agentConfig.permissions", "notifiers.other"):
        assert f"agent-orchestrator.yaml: {key}" in said, key
    assert "abc" not in str(said)


def test_it_is_written_only_where_there_is_nothing(capsys, tmp_path):
    path = tmp_path / "agent-orchestrator.yaml"
    path.write_text(AO, encoding="utf-8")
    assert run_import(tmp_path / "home", "ao", [path], write=True) == 0
    assert "acme/widget" in load_settings(tmp_path / "home" / "config.yml", environ={}).projects
    with pytest.raises(ConfigError, match="already"):
        run_import(tmp_path / "home", "ao", [path], write=True)
    with pytest.raises(Missing, match=r"none\.yml"):
        run_import(tmp_path / "home", "ao", [tmp_path / "none.yml"], write=False)


def test_what_is_no_configuration_is_said_and_nothing_is_written(capsys, tmp_path):
    path = tmp_path / "agent-orchestrator.yaml"
    path.write_text("projects: {a: {repo: 'not a slug/'}}\n", encoding="utf-8")
    assert run_import(tmp_path / "home", "ao", [path], write=True) == 1
    assert "still to be put right" in capsys.readouterr().err
    assert not (tmp_path / "home" / "config.yml").exists()


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words\n", "{}\n"])
def test_a_file_without_keys_is_refused(tmp_path, text):
    file = tmp_path / "config.yml"
    file.write_text(text, encoding="utf-8")
    for tool in ("orch", "ao"):
        with pytest.raises(Invalid, match="no configuration"):
            run_import(tmp_path / "home", tool, [file], write=True)
    assert not (tmp_path / "home").exists()


def test_a_value_that_is_not_understood_is_not_passed_over(capsys, tmp_path):
    file = tmp_path / ".orch.yml"
    file.write_text(
        "engine: {max_parallel: -4, sync_interval: soon}\nagents: {a: b}\nworkflow: text\ngh: {repo: [1]}\n",
        encoding="utf-8",
    )
    run_import(tmp_path / "home", "orch", [file], write=False)
    said = capsys.readouterr().err
    for key in ("engine.max_parallel", "engine.sync_interval", "agents", "workflow"):
        assert f".orch.yml: {key} (is no" in said
