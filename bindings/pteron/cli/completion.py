"""Print a script that completes pteron's commands, options and values in a shell.

bash:  pteron completion bash >~/.local/share/bash-completion/completions/pteron
zsh:   pteron completion zsh >~/.zfunc/_pteron      (with fpath+=~/.zfunc before compinit)
fish:  pteron completion fish >~/.config/fish/completions/pteron.fish

Example:

    pteron completion bash
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator

from .pairs import file

SHELLS = ("bash", "zsh", "fish")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="which shell")


def run(args: argparse.Namespace) -> int:
    from . import parser

    print({"bash": bash, "zsh": zsh, "fish": fish}[args.shell](commands(parser())), end="")
    return 0


@dataclasses.dataclass(frozen=True, slots=True)
class Option:
    """One option, or what stands without one (no names): what follows it is one of `values`, a file, or free."""

    names: tuple[str, ...]
    about: str
    takes: bool
    values: tuple[str, ...]
    is_file: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Command:
    name: str
    about: str
    options: tuple[Option, ...]


def commands(top: argparse.ArgumentParser) -> list[Command]:
    """What the parser takes."""
    (subs,) = (a for a in top._actions if isinstance(a, argparse._SubParsersAction))
    about = {a.dest: a.help or "" for a in subs._choices_actions}
    return [Command(n, about[n], tuple(_options(p))) for n, p in subs.choices.items()]


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for a in parser._actions:
        values = tuple(map(str, a.choices)) if a.choices else ()
        is_file = a.type is file or "FILE" in str(a.metavar)
        about = (a.help or "").replace("%(prog)s", "pteron").replace("%%", "%")
        yield Option(tuple(a.option_strings), about, a.nargs != 0, values, is_file)


def bash(rows: list[Command]) -> str:
    """One case for the word before the cursor, one for the command's options."""
    cases, words = [], []
    for c in rows:
        names = [n for o in c.options for n in o.names]
        words.append(f"    {c.name}) words='{' '.join(names)}' ;;")
        for o in (o for o in c.options if o.takes and o.names):
            what = f"words='{' '.join(o.values)}'" if o.values else "files=1" if o.is_file else ":"
            cases.append(f"    {'|'.join(f'{c.name}:{n}' for n in o.names)}) {what}; value=1 ;;")
        for o in (o for o in c.options if not o.names and o.values):
            words.append(f"    {c.name}:) words='{' '.join(o.values)}' ;;")
    lines = [
        "# bash completion of pteron",
        "_pteron() {",
        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words= files= value=",
        '  [ "$COMP_CWORD" -gt 1 ] || { COMPREPLY=($(compgen -W '
        f"'{' '.join(c.name for c in rows)} --help --version' -- \"$word\")); return; }}",
        '  case "$command:$before" in',
        *cases,
        "  esac",
        '  if [ -z "$value" ]; then case "$word" in',
        '    -*) case "$command" in',
        *(f"  {w}" for w in words if ":)" not in w),
        "    esac ;;",
        '    *) files=1; case "$command:" in',
        *(f"  {w}" for w in words if ":)" in w),
        "    esac ;;",
        "  esac; fi",
        '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
        '  [ -z "$files" ] || { compopt -o filenames; COMPREPLY+=($(compgen -f -- "$word")); }',
        "}",
        "complete -F _pteron pteron",
    ]
    return "\n".join(lines) + "\n"


def zsh(rows: list[Command]) -> str:
    lines = ["#compdef pteron", "_pteron() {", "  local -a commands", "  commands=("]
    lines += [f"    {_quoted(f'{c.name}:{c.about}')}" for c in rows]
    lines += ["  )", "  if (( CURRENT == 2 )); then _describe command commands; return; fi"]
    lines += ["  local command=$words[2]", "  words=(${words[2,-1]}); (( CURRENT -= 1 ))"]
    lines += ['  case "$command" in']
    for c in rows:
        specs = " ".join(_zsh_spec(o) for o in c.options)
        lines.append(f"    {c.name}) _arguments -S {specs} ;;")
    lines += ["  esac", "}"]  # a file of fpath is called as the function; a sourced one declares it
    lines.append(
        'if [ "$funcstack[1]" = _pteron ]; then _pteron "$@"; else compdef _pteron pteron; fi'
    )
    return "\n".join(lines) + "\n"


def _zsh_spec(o: Option) -> str:
    what = (
        f":value:({' '.join(o.values)})"
        if o.values
        else ":file:_files"
        if o.is_file
        else ":value: "
    )
    if not o.names:
        return _quoted(f"*{what}")
    about = o.about.replace("[", "(").replace("]", ")").replace(":", " ")
    tail = f"[{about}]{what if o.takes else ''}"
    return " ".join(_quoted(f"*{name}{tail}") for name in o.names)


def fish(rows: list[Command]) -> str:
    lines = ["# fish completion of pteron", "complete -c pteron -f"]
    for c in rows:
        lines.append(
            f"complete -c pteron -n __fish_use_subcommand -a {c.name} -d {_quoted(c.about)}"
        )
        here = f"complete -c pteron -n '__fish_seen_subcommand_from {c.name}'"
        for o in c.options:
            names = " ".join(
                f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in o.names
            )
            what = f"-xa '{' '.join(o.values)}'" if o.values else "-rF" if o.is_file else "-x"
            if not o.names:
                lines.append(
                    f"{here} {f'-xa {_quoted(chr(32).join(o.values))}' if o.values else '-F'}"
                )
            else:
                lines.append(f"{here} {names} {what if o.takes else ''} -d {_quoted(o.about)}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
