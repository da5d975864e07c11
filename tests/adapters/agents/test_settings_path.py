"""What a repository may hold that changes what agents, or people's git, run: no such change merges without a person."""

import pytest

from nightcrew.agents.claude import ClaudeAgent
from nightcrew.agents.codex import CodexAgent
from nightcrew.agents.gemini import GeminiAgent
from nightcrew.agents.opencode import OpencodeAgent
from nightcrew.core.model.merge import MergeSettings
from nightcrew.core.path_pattern import matching_paths
from tests.adapters.agents.recording import make_settings

PROTECTED = MergeSettings().protected_paths


@pytest.mark.parametrize("kind", [ClaudeAgent, CodexAgent, GeminiAgent, OpencodeAgent])
def test_settings_of_agents_are_protected(kind):
    paths = kind(make_settings("a")).settings_paths
    below = [path if "." in path.lstrip(".") else f"{path}/hooks/start.sh" for path in paths]
    assert matching_paths((*paths, *below), PROTECTED) == (*paths, *below)


@pytest.mark.parametrize("path", [".github/workflows/ci.yml", ".nightcrew.yml", ".Husky/pre-commit", ".githooks/x"])
def test_so_is_what_runs_by_itself(path):
    assert matching_paths((path,), PROTECTED) == (path,)
