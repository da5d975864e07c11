"""Each example loads, is right by the schema, and means what it says."""

from pathlib import Path

import jsonschema_rs
import pytest

from nightcrew.agents.custom import CustomAgent
from nightcrew.config.check import Surroundings, check_settings
from nightcrew.config.document import parse_document
from nightcrew.config.load import parse_configuration, parse_project_file
from nightcrew.config.schema import render_schema
from nightcrew.core.model.merge import MergeMethod, MergeMode
from tests.adapters.config.reading import read

EXAMPLES = Path(__file__).parents[3] / "examples"
ADAPTERS = ("claude", "codex", "opencode", "gemini", "custom")
FILES = {"config.yml": "ConfigFile", "custom-agent.yml": "ConfigFile", "nightcrew.yml": "ProjectFile"}


def text(name: str) -> str:
    return (EXAMPLES / name).read_text(encoding="utf-8")


def test_no_example_is_left_out():
    assert {path.name for path in EXAMPLES.glob("*.yml")} == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_the_schema_accepts_what_the_loader_accepts(name):
    schema = {**render_schema(), "$ref": f"#/$defs/{FILES[name]}"}
    jsonschema_rs.validate(schema, parse_document(text(name), name).value)


def test_the_schema_refuses_an_unknown_key():
    assert not jsonschema_rs.is_valid(render_schema(), {"limits": {"max_run": 3}})
    assert not jsonschema_rs.is_valid(render_schema(), {"projects": [{"forge": "local"}]})


@pytest.mark.parametrize("name", ["config.yml", "custom-agent.yml"])
def test_a_global_example_loads(name):
    parse_configuration(text(name), name, environ={}, adapters=ADAPTERS).apply()


def test_the_global_example_means_what_it_says(tmp_path):
    settings = read(text("config.yml"), environ={"HOME": str(tmp_path)})
    engine = settings.projects["acme/engine"]
    assert engine.merge.mode is MergeMode.ASK
    assert engine.merge.required_checks == ("build", "test")
    assert engine.source == str(tmp_path / "src/engine")
    assert settings.projects["acme/website"].merge.mode is MergeMode.AUTO
    assert settings.agents["glm"].adapter == "claude"
    warned = [problem.where for problem in check_settings(settings, Surroundings({}, tmp_path))]
    assert warned == ["forges.github.token", "agents.glm.env.ANTHROPIC_AUTH_TOKEN", "projects[acme/engine].source"]


def test_the_example_of_a_repository_means_what_it_says():
    overlay = parse_project_file(text("nightcrew.yml"), "nightcrew.yml")
    configuration = parse_configuration(text("config.yml"), "config.yml", environ={})
    project = configuration.apply({"acme/website": overlay}).projects["acme/website"]
    assert project.merge.method is MergeMethod.REBASE
    assert project.merge.required_checks == ("build", "test", "nightcrew/test")
    assert "migrations/**" in project.merge.protected_paths
    assert [check.name for check in project.checks] == ["test", "lint"]
    assert project.setup[0].argv == ("npm", "ci")


def test_the_adapter_understands_the_custom_agent():
    agent = CustomAgent(read(text("custom-agent.yml")).agents["mytool"])
    assert agent.program == "mytool"
