"""SKILL.md, and the keys about skills."""

import pytest

from nightcrew.config.job import add_job_files
from nightcrew.config.layer import parse_project_file
from nightcrew.config.skill_file import parse_skill
from nightcrew.core.errors import ConfigError
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.model.skill import PinnedSkills, SkillSettings
from nightcrew.service.skill import find_skill_problems
from tests.adapters.config.reading import read

WHERE = "acme/widgets:.nightcrew/skills/style/SKILL.md"
GOOD = """---
name: style
description: >
  How code is written here.
  Use it for every change.
license: MIT
metadata:
  version: "2"
allowed-tools: Read Bash
---

# Style

Use tabs.
"""


def wrong(text: str, folder: str = "style") -> list[str]:
    with pytest.raises(ConfigError) as caught:
        parse_skill(text, folder, WHERE)
    return [str(problem) for problem in caught.value.problems]


def test_what_a_skill_says():
    said = parse_skill(GOOD, "style", WHERE)
    assert said.name == "style"
    assert said.description == "How code is written here. Use it for every change."
    assert said.text == "# Style\n\nUse tabs."
    assert said.is_offered
    assert parse_skill("\ufeff" + GOOD.replace("\n", "\r\n"), "", WHERE) == said
    quiet = GOOD.replace("license: MIT", "disable-model-invocation: true")
    assert not parse_skill(quiet, "style", WHERE).is_offered


@pytest.mark.parametrize(
    ("change", "key", "words"),
    [
        (("name: style", "name: Style"), "name", "cannot be the name of a skill"),
        (("name: style", "name: [style]"), "name", "cannot be the name of a skill"),
        (("name: style", "name: other"), "name", "is not the name of its folder"),
        (("name: style", "title: style"), "name", "is missing"),
        (("description: >", "descripton: >"), "description", "did you mean description"),
        (
            ("description: >\n  How code is written here.\n  Use it for every change.", "description: ''"),
            "description",
            "is no text",
        ),
        (("description: >\n  How", "description: >\n  " + "How " * 400 + "How"), "description", "longer than 1,024"),
        (("license: MIT", "disable-model-invocation: maybe"), "disable-model-invocation", "neither true nor false"),
        (("license: MIT", "name: again"), "name", "twice"),
    ],
)
def test_what_is_wrong_names_file_and_key(change, key, words):
    (problem,) = wrong(GOOD.replace(*change))
    assert problem.startswith(f"{WHERE}:")
    assert f":{key}" in problem
    assert words in problem


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no front matter"),
        ("# Style\n", "has no front matter"),
        ("---\nname: style\n", "has no front matter"),
        ("---\n- a\n- b\n---\nText.\n", "no mapping"),
        ("---\nname: [\n---\nText.\n", WHERE),
        ("---\nname: !!python/object:os.system x\n---\nText.\n", WHERE),
        (GOOD.replace("# Style\n\nUse tabs.\n", " \n"), "says nothing"),
        (GOOD + "x" * 60_001, "more than 60,000"),
    ],
)
def test_what_is_no_skill(text, words):
    assert any(words in problem for problem in wrong(text))


def test_every_problem_is_told_at_once():
    assert len(wrong("---\nname: A B\ndescription: 3\n---\n")) == 3


def skills_of(keys: str) -> SkillSettings:
    lines = "".join(f"      {line}\n" for line in keys.splitlines())
    (project,) = read(f"projects:\n  - slug: acme/widgets\n    skills:\n{lines}").projects.values()
    return project.skills


def test_the_keys_of_a_project():
    sha = "0123456789" * 4
    found = skills_of(
        "required: style\nreview: [judging]\nrepository: false\nfolders: /srv/skills\n"
        f"repositories:\n  - {{url: 'https://git.example/team/skills.git', ref: {sha}x}}".replace(f"{sha}x", f"'{sha}'")
    )
    assert found.required == ("style",)
    assert found.review == ("judging",)
    assert not found.repository
    assert found.folders == ("/srv/skills",)
    assert found.repositories == (PinnedSkills("https://git.example/team/skills.git", sha),)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("required: Style", "small letters"),
        (f"required: [{', '.join(f's{number}' for number in range(21))}]", "more than 20"),
        ("repositories: [{url: 'https://git.example/x', ref: main}]", "whole id of a commit"),
        ("repositories: [{url: 'https://git.example/x', ref: abc1234}]", "whole id of a commit"),
        (f"repositories: [{{url: 'https://me:pw@git.example/x', ref: '{'a1' * 20}'}}]", "without name and password"),
        (f"repositories: [{{url: 'ext::sh -c id', ref: '{'a1' * 20}'}}]", "not the address"),
        (f"repositories: [{{url: '--upload-pack=id', ref: '{'a1' * 20}'}}]", "not the address"),
        (f"repositories: [{{url: 'https://git.example/x', ref: '{'a1' * 20}', path: '../x'}}]", "inside"),
        (
            "repositories:\n"
            + "".join(f"  - {{url: 'https://git.example/x', ref: '{two * 20}'}}\n" for two in ("a1", "b2")),
            "named twice",
        ),
        ("repository: perhaps", "neither true nor false"),
        ("folders: relative/path", "whole path"),
    ],
)
def test_what_config_refuses(keys, words):
    with pytest.raises(ConfigError, match=words):
        skills_of(keys)


def test_a_repository_asks_for_more_and_never_for_less():
    config = "projects:\n  - slug: acme/widgets\n    skills: {required: [style], repository: false}\n"
    own = {"acme/widgets": "skills: {required: [tests, style], review: [judging]}"}
    (project,) = read(config, repository=own).projects.values()
    assert project.skills.required == ("style", "tests")
    assert project.skills.review == ("judging",)
    assert not project.skills.repository
    for bad in ("skills: {folders: [/etc]}", "skills: {repositories: []}", "skills: {repository: true}"):
        with pytest.raises(ConfigError):
            parse_project_file(bad, ".nightcrew.yml")


def test_a_job_names_skills():
    text = "---\nschedule: '@daily'\nskills: [style]\n---\n\nLook.\n"
    project, problems = add_job_files(ProjectSettings("acme/widgets"), {".nightcrew/jobs/a.md": text})
    assert problems == ()
    assert project.jobs[0].pins.labels == ("skill:style",)


async def test_what_config_check_and_doctor_say(tmp_path):
    (tmp_path / "skills" / "broken").mkdir(parents=True)
    (tmp_path / "skills" / "broken" / "SKILL.md").write_text("nothing")
    pinned = f"{{url: /far, ref: '{'a1' * 20}'}}"
    text = (
        "projects:\n"
        "  - {slug: a/b, skills: {required: [lost], repository: false, folders: [/there/is/no/folder]}}\n"
        "  - {slug: a/c, skills: {required: [lost]}}\n"
        f"  - {{slug: a/d, skills: {{required: [x], repository: false, repositories: [{pinned}]}}}}\n"
    )
    found = await find_skill_problems(read(text), tmp_path)
    assert sorted(problem.where for problem in found) == [
        "projects[a/b].skills.folders",
        "projects[a/b].skills.required",
        "skills",
    ]
    assert "broken/SKILL.md:1" in next(problem.what for problem in found if problem.where == "skills")
