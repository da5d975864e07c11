"""The config.yml that `nightcrew init` writes: short, commented, and safe whatever it is filled with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import yaml

from nightcrew.config.document import parse_document
from nightcrew.core.errors import Bug
from nightcrew.core.model.forge import AppSettings
from nightcrew.core.model.merge import MergeMode

CHECK = "tests"
"""What the check is called that `init` writes down."""


@dataclass(frozen=True, slots=True)
class ProjectLine:
    """A project to write down; what is empty is left out. `check` is the command that tests it."""

    slug: str
    forge: str = ""
    source: str = ""
    check: tuple[str, ...] = ()

    def values(self) -> dict[str, object]:
        pairs: dict[str, object] = {"slug": self.slug, "forge": self.forge, "source": self.source}
        if self.check:
            pairs["checks"] = [{"name": CHECK, "command": list(self.check)}]
        return {name: value for name, value in pairs.items() if value}


@dataclass(frozen=True, slots=True)
class Answers:
    """What `init` found out: projects, agents by name with their adapter, the token's reference (empty: the usual
    places) or the App to be, and whether green pull requests merge by themselves."""

    projects: Sequence[ProjectLine] = ()
    agents: Mapping[str, str] = field(default_factory=dict)
    merge: MergeMode = MergeMode.AUTO
    github_token: str = ""
    github_url: str = ""
    github_app: AppSettings | None = None


_CHECKS = (
    "  # What tests each merge result before it lands, beside the forge's own CI; without both nothing is merged.",
    f"  # checks: [{{name: {CHECK}, command: [make, test]}}]",
)


def render_template(answers: Answers) -> str:
    """The text of a new config.yml. Every key is explained in docs/config.md."""
    lines = [
        "# Nightcrew's configuration. Every key is explained in docs/config.md; `nightcrew config check` reads it.",
        "",
        "# The repositories to look after.",
        *_projects(answers.projects),
        "",
        "# What holds for each of them that does not say otherwise.",
        "defaults:",
        "  # auto: merge once a different agent approved and CI is green. ask: wait for your word as well.",
        f"  merge: {answers.merge.value}",
        "  # Issues with this label become tasks.",
        "  intake_label: nightcrew",
        *([] if any(project.check for project in answers.projects) else _CHECKS),
        "",
        "# The coding CLIs to use. Name two or more: nobody reviews their own work.",
        *_agents(answers.agents),
        *_forge(answers),
        "",
        "# Runs at once, in all.",
        "limits:",
        "  max_runs: 4",
        "",
    ]
    text = "\n".join(lines)
    written = parse_document(text, "config.yml").value
    expected = [line.values() if len(line.values()) > 1 else line.slug for line in answers.projects]
    if not isinstance(written, dict) or (written.get("projects") or []) != expected:
        raise Bug("the template does not say what was answered")
    return text


def render_scalar(text: str) -> str:
    """Text as one YAML word on one line, in double quotes where it could be read as anything else."""
    plain = text.isascii() and text.replace("/", "a").replace("-", "a").replace("_", "a").replace(".", "a").isalnum()
    if plain and text[0].isalpha() and text.lower() not in ("true", "false", "null", "yes", "no", "on", "off"):
        return text
    dumped = yaml.dump(text, default_style='"', width=10**9, allow_unicode=True)
    return str(dumped).rstrip("\n")


def render_item(line: ProjectLine, *, indent: str) -> list[str]:
    """The lines of one item of `projects:`."""
    values = line.values()
    if len(values) == 1:
        return [f"{indent}- {render_scalar(line.slug)}"]
    named = {name: value for name, value in values.items() if isinstance(value, str)}
    starts = ("- ", *["  "] * (len(named) - 1))
    lines = [
        f"{indent}{start}{name}: {render_scalar(value)}"
        for start, (name, value) in zip(starts, named.items(), strict=True)
    ]
    if line.check:
        words = ", ".join(render_scalar(word) for word in line.check)
        lines += [
            f"{indent}  # Run on the merge result of each change, in a clean checkout.",
            f"{indent}  checks:",
            f"{indent}    - name: {CHECK}",
            f"{indent}      command: [{words}]",
        ]
    return lines


def _projects(projects: Sequence[ProjectLine]) -> list[str]:
    if not projects:
        return ["projects: []"]
    return ["projects:", *(line for project in projects for line in render_item(project, indent="  "))]


def _agents(agents: Mapping[str, str]) -> list[str]:
    if not agents:
        return ["agents: {}"]
    lines = ["agents:"]
    for name, adapter in agents.items():
        lines.append(f"  {render_scalar(name)}:")
        if adapter != name:
            lines.append(f"    adapter: {render_scalar(adapter)}")
    lines.append("    # models: {simple: …, medium: …, complex: …}   by default the CLI chooses")
    return lines


def _forge(answers: Answers) -> list[str]:
    pairs = {"base_url": answers.github_url, "token": answers.github_token}
    given = [f"    {name}: {render_scalar(value)}" for name, value in pairs.items() if value]
    app = answers.github_app
    if app is not None:
        key = render_scalar(app.private_key)
        given += [
            "    app:",
            f"      id: {app.id}",
            f"      installation: {app.installation}",
            f"      private_key: {key}",
        ]
    if not given:
        return []
    who = "its token: env:NAME or file:PATH" if app is None else "the App that Nightcrew is there"
    return ["", f"# Where GitHub is, and {who}.", "forges:", "  github:", *given]
