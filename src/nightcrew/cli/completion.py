"""`nightcrew completions SHELL`: a completion script, made from the commands as they are."""

import argparse
from collections.abc import Callable

from nightcrew.cli.context import Context
from nightcrew.cli.parser import build_parser, leaf, options, verbs, walk

Tree = dict[str, tuple[list[str], list[str]]]
"""Command (its words joined by spaces, empty for the root) to the verbs and the options that may follow it."""


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, print_completions, json=False)
    parser.add_argument("shell", choices=tuple(_SHELLS), help="the script goes to standard output")


def print_completions(context: Context, arguments: argparse.Namespace) -> int:
    context.terminal.line(_SHELLS[arguments.shell](_tree()).rstrip("\n"))
    return 0


def _tree() -> Tree:
    tree: Tree = {}
    for path, parser in walk(build_parser()):
        flags = [name for action in options(parser) for name in action.option_strings]
        tree[" ".join(path)] = (list(verbs(parser)) or _choices(parser), ["--help", *flags])
    return tree


def _choices(parser: argparse.ArgumentParser) -> list[str]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to read a parser back
        if not action.option_strings and action.choices is not None:
            return [str(choice) for choice in action.choices]
    return []


def _render_bash(tree: Tree) -> str:
    return f"""# bash completion of nightcrew: eval "$(nightcrew completions bash)"
_nightcrew() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" at="" word candidates=""
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
{_walk_cases(tree, "        ")}
    done
    case "$at" in
{_word_cases(tree, "        ", 'candidates="{words}"')}
    esac
    COMPREPLY=($(compgen -W "$candidates" -- "$cur"))
}}
complete -o default -F _nightcrew nightcrew
"""


def _render_zsh(tree: Tree) -> str:
    return f"""#compdef nightcrew
# zsh completion of nightcrew: eval "$(nightcrew completions zsh)", after compinit
_nightcrew() {{
    local at="" word
    for word in "${{(@)words[2,CURRENT-1]}}"; do
{_walk_cases(tree, "        ")}
    done
    case "$at" in
{_word_cases(tree, "        ", "compadd -- {words}")}
    esac
    case "$at" in
        {_groups(tree)}) ;;
        *) _files ;;
    esac
}}
if [[ "${{funcstack[1]}}" == _nightcrew ]]; then
    _nightcrew "$@"
else
    compdef _nightcrew nightcrew
fi
"""


def _render_fish(tree: Tree) -> str:
    lines = ["# fish completion of nightcrew: nightcrew completions fish | source"]
    for command, (names, flags) in tree.items():
        seen = [f"__fish_seen_subcommand_from {word}" for word in command.split()]
        unseen = [f"not __fish_seen_subcommand_from {' '.join(names)}"] if names else []
        condition = "; and ".join([*seen, *unseen]) or "true"
        lines.extend(f"complete -c nightcrew -n '{condition}' -f -a {name}" for name in names)
        condition = "; and ".join(seen) or "true"
        lines.extend(f"complete -c nightcrew -n '{condition}' -l {flag[2:]}" for flag in flags if flag.startswith("--"))
    return "\n".join(lines)


def _groups(tree: Tree) -> str:
    return "|".join(f'"{command}"' for command, (names, _flags) in tree.items() if names)


def _walk_cases(tree: Tree, indent: str) -> str:
    """How a word that is a command moves on; any other word (an argument) leaves the place as it is."""
    steps = [command for command in tree if command]
    cases = [f'    "{" ".join(step.split()[:-1])}/{step.split()[-1]}") at="{step}" ;;' for step in steps]
    return "\n".join(indent + line for line in ['case "$at/$word" in', *cases, "esac"])


def _word_cases(tree: Tree, indent: str, act: str) -> str:
    return "\n".join(
        f'{indent}"{command}") {act.format(words=" ".join([*names, *flags]))} ;;'
        for command, (names, flags) in tree.items()
    )


_SHELLS: dict[str, Callable[[Tree], str]] = {"bash": _render_bash, "zsh": _render_zsh, "fish": _render_fish}
