"""The runtime's C sources as one text: those that some operators need, in an order that a compiler takes.

Names that only one file knows are made its own where another file has them too; a header stands once, an .inc as often as
it is included.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from pteron.schema.errors import ArgumentError
from pteron.schema.isas import ISAS

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">][^\n]*\n', re.MULTILINE)
DEFINES = r"^[ \t]*#[ \t]*define (\w+)"
INTRINSICS = ("emmintrin.h", "immintrin.h", "arm_neon.h", "arm_mve.h")
ALWAYS = [row for row in ISAS.values() if row.macro]
"""Instruction sets that a compiler's target has or has not."""


def home() -> Path:
    """The folder runtime_c: of the checkout, or beside the installed module.

    Raises:
        ArgumentError: there is none; the text says where it is looked for.
    """
    from .. import _pteron

    checkout = Path(__file__).resolve().parents[3] / "runtime_c"
    beside = Path(_pteron.__file__).parent / "runtime_c"
    for folder in (checkout, beside):
        if (folder / "core/kernel.h").exists():
            return folder
    raise ArgumentError(f"amalgamate: the runtime's sources are neither {checkout} nor {beside}")


def needed(root: Path, ops: Iterable[str], folders: Iterable[str]) -> list[Path]:
    """Sources of these folders, and those without which these operators do not link, but for variants.c: each kernel's file,
    and the .c of each header. Those of an instruction set stand last, so that no header stands in what one leaves out."""
    kernels = {p.stem: p for p in root.glob("kernels/*/*.c") if "__" not in p.name}
    todo = [kernels[op] for op in ops if op in kernels]
    todo += [p for folder in folders for p in sorted((root / folder).glob("*.c"))]
    seen: dict[Path, None] = {}
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen[path] = None
        text = "".join(p.read_text() for p in reached(root, path))
        for family in re.findall(r"\bpte_(\w+)_pick\(call->cpu|\bpte_(\w+)_pick\(\w", text):
            for isa in ("portable", *(row.name for row in ALWAYS)):
                todo += root.glob(f"kernels/*/{''.join(family)}__{isa}.c")
        todo += [p.with_suffix(".c") for p in reached(root, path) if p.with_suffix(".c").exists()]
    found = (p for p in seen if p.name != "variants.c")
    return sorted(found, key=lambda p: (p.stem.partition("__")[2] not in ("", "portable"), p))


def reached(root: Path, path: Path) -> list[Path]:
    """`path` and what it includes, however far."""
    out, todo = dict[Path, None](), [path]
    while todo:
        if (each := todo.pop()) not in out:
            out[each] = None
            todo += [resolved(root, n) for k, n in INCLUDE.findall(each.read_text()) if k == '"']
    return list(out)


def resolved(root: Path, name: str) -> Path:
    return root / "include" / name if name.startswith("pteron/") else root / name


def families(paths: Iterable[Path]) -> str:
    """What stands for gen/variants.inc: of each family one variant, which the compiler's target decides."""
    have = {p.stem: p.parent.name for p in paths if "__" in p.stem}
    out = []
    for family in sorted(s.removesuffix("__portable") for s in have if s.endswith("__portable")):
        out.append(f'#include "kernels/{have[f"{family}__portable"]}/{family}.h"')
        out.append(f"PTE_VARIANTS({family})")
        mine = [row.name for row in ALWAYS if f"{family}__{row.name}" in have]
        for i, isa in enumerate(mine):
            line = f"PTE_VARIANT({family}, {isa}, PTE_CPU_ANY)"
            out += [f"#{'elif' if i else 'if'} PTE_HAVE_{isa.upper()}", line]
        out += ["#else"] if mine else []
        out.append(f"PTE_VARIANT({family}, portable, PTE_CPU_ANY)")
        out += ["#endif"] if mine else []
        out.append("PTE_VARIANTS_END")
    return "\n".join(out) + "\n"


def targets() -> str:
    """Which variants the compiler's target decides about."""
    rows = (
        f"#ifdef {row.macro}\n#define PTE_HAVE_{row.name.upper()} 1\n#endif\n" for row in ALWAYS
    )
    return "".join(rows)


# --- one text ----------------------------------------------------------------------------------


def joined(root: Path, paths: Iterable[Path], families: str) -> str:
    """All of `paths` behind each other. `families` stands for gen/variants.inc."""
    once: set[Path] = set()
    texts: dict[Path, list[tuple[bool, str]]] = {}

    def parts(path: Path) -> Iterator[tuple[bool, str]]:
        """(shared, text): headers are shared by all files, the rest is this file's own."""
        text, at = path.read_text(), 0
        if path.name == "variants.inc":
            text = families
        own = path.suffix != ".h"
        for match in INCLUDE.finditer(text):
            yield not own, text[at : match.start()]
            at = match.end()
            if match[1] == "<":  # libc's stand at the top
                yield not own, match[0] if match[2] in INTRINSICS else ""
                continue
            inner = resolved(root, match[2])
            if inner.suffix == ".h" and inner in once:
                continue
            once.add(inner)
            inside = [t for _, t in parts(inner)] if not own else None
            if inside is not None:
                yield True, "".join(inside)
            else:
                yield from parts(inner)
        yield not own, text[at:]

    for path in paths:
        texts[path] = list(parts(path))
    names = {p: private("".join(t for shared, t in texts[p] if not shared)) for p in texts}
    count = Counter(name for own in names.values() for name in own)
    taken = {n for n in count if count[n] > 1}
    pasted = {p for rows in texts.values() for _, t in rows for p in re.findall(r"^[ \t]*static[^;{=(]*?\b(\w+)##", t, re.M)}  # fmt: skip
    taken |= {n for n in count if n.startswith(tuple(pasted))}
    everywhere = "".join(t for rows in texts.values() for shared, t in rows if shared)
    taken |= count.keys() & set(re.findall(r"\w+", everywhere))
    lasting = set(re.findall(DEFINES, everywhere, re.MULTILINE))
    out = []
    for path in paths:
        rows = unless_better(path, texts[path], texts)
        out.append(whole(path.relative_to(root), rows, names[path] & taken, lasting))
    return "".join(out)


def unless_better(
    path: Path, rows: list[tuple[bool, str]], among: Container[Path]
) -> list[tuple[bool, str]]:
    """What is its own of a portable variant counts only where the target has none of the better ones among the files."""
    family, _, isa = path.stem.partition("__")
    better = [r for r in ALWAYS if path.with_name(f"{family}__{r.name}.c") in among]
    if isa != "portable" or not better:
        return rows
    condition = " && ".join(f"!PTE_HAVE_{row.name.upper()}" for row in better)
    return [(shared, t if shared else f"\n#if {condition}\n{t}\n#endif\n") for shared, t in rows]


def whole(name: Path, rows: list[tuple[bool, str]], clashing: set[str], lasting: set[str]) -> str:
    """A file's part: what clashes gets its name, macros end with it."""
    mark = re.sub(r"\W", "_", name.stem)
    end = f"_of_{mark}"

    def rename(text: str) -> str:
        return renamed(text, clashing, end) if clashing else text

    out = "".join(text if shared else rename(text) for shared, text in rows)
    own = rename("".join(text for shared, text in rows if not shared))
    macros = dict.fromkeys(re.findall(DEFINES, own, re.MULTILINE))
    ends = "".join(f"#undef {macro}\n" for macro in macros if macro not in lasting)
    return f"\n/* --- {name} --- */\n{out}{ends}"


STRUCT = re.compile(r"\b(?:struct|union)\b[^{}();=]*\{[^{}]*\}")


def renamed(text: str, names: set[str], end: str) -> str:
    """`names` with `end`, but not in strings, and not where they are members."""
    word = rf"(?<![.\w])(?<!->)({'|'.join(sorted(names))})\b"
    pattern = re.compile(rf'"(?:[^"\\]|\\.)*"|{word}')
    typed = re.compile(rf"{word}(?!\s*[,;:\[)])")
    out, at = [], 0
    for struct in STRUCT.finditer(text):
        out.append(pattern.sub(lambda m: m[0] + (end if m[1] else ""), text[at : struct.start()]))
        out.append(typed.sub(rf"\1{end}", struct[0]))
        at = struct.end()
    out.append(pattern.sub(lambda m: m[0] + (end if m[1] else ""), text[at:]))
    return "".join(out)


def private(text: str) -> set[str]:
    """Names at file scope that no other file sees."""
    code = re.sub(r"/\*.*?\*/|__attribute__\(\(.*?\)\)", "", text, flags=re.S)
    defining = re.findall(  # macros that define a function of their first argument's name
        r"#define (\w+)\((\w+)[^)]*\)(?:[^\n]*\\\n)*?[^\n]*\bstatic [^;{=(]*?(?<!#)\b\2\(", code
    )
    out = set[str]()
    for macro, _ in defining:
        out |= set(re.findall(rf"^{macro}\((\w+)", code, re.M))
    out |= set(
        re.findall(
            r"^[ \t]*(?:static|INLINE|PTE_ALWAYS)\b[^;{=(]*?(?<!#)\b(\w+)(?:\[[^;{=]*)?[ ]*[(;=]",
            code,
            re.M,
        )
    )
    out |= set(re.findall(r"^typedef (?:struct|union|enum) (\w+)", code, re.M))
    out |= set(re.findall(r"^\} (\w+);", code, re.M))
    out |= set(re.findall(r"^typedef [^{;]*?\b(\w+)(?:\([^;]*\))?;", code, re.M))
    for body in re.findall(
        r"^[ \t]*(?:static )?(?:typedef )?enum \w*\s*\{(.*?)\}", code, re.M | re.S
    ):
        out |= set(re.findall(r"(?:^|,)\s*(\w+)", body))
    return {n for n in out if not n.startswith("__")}
