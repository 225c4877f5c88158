"""Two files of C for a program on a microcontroller: the runtime with the program's operators alone, and the program.

They need a C11 compiler and memcpy, no other file. Sizes are those of the dimensions' hints, or of --dim.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pteron.schema.errors import ArgumentError, ProgramError

from . import say
from .pairs import file, pairs, program


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", type=file)
    parser.add_argument("-o", "--output", type=Path, default=Path(), metavar="FOLDER")
    parser.add_argument("--dim", action="append", default=[], metavar="SYMBOL=N")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    from pteron.export.write import write_text

    path = program(args.program)
    there = next(p for p in (args.output, *args.output.absolute().parents) if p.exists())
    if not there.is_dir():
        raise ArgumentError(f"{args.output}: expected a folder, but {there} is a file")
    source, header, facts = amalgamate(path, pairs("--dim", args.dim, int))
    args.output.mkdir(parents=True, exist_ok=True)
    files = [args.output / "pteron_model.h", args.output / "pteron_model.c"]
    for target, text in zip(files, (header, source)):
        write_text(target, text)
    say.result("amalgamate", args.json, facts, lambda: as_text(facts), files)
    return 0


def amalgamate(path: Path, dims: Mapping[str, int]) -> tuple[str, str, dict[str, int | str]]:
    """The source, the header, and what is known of flash and memory before a compiler has seen them.

    Raises:
        ProgramError: the bytes are not a program.
        ArgumentError: more than one method, states, delegates, shape inputs: what a board's two calls have no place for.
    """
    from pteron.export.file.read import read
    from pteron.export.plan.measure import Sized
    from pteron.export.program.kernels import header as kernel_list
    from pteron.export.program.kernels import kernels_of

    from . import sources
    from .describe import sizes_of

    data, name = path.read_bytes(), path.name
    try:
        whole = read(data)
    except ProgramError as error:
        raise ProgramError(f"{path}: {error}") from None
    kernels = kernels_of(whole)
    root = sources.home()
    paths = sources.needed(root, kernels.ops)
    families = [p.stem.partition("__")[0] for p in paths if "__portable" in p.name]
    rows = "".join(
        f"PTE_VARIANTS({f})\nPTE_VARIANT({f}, portable, PTE_CPU_ANY)\nPTE_VARIANTS_END\n"
        for f in families
    )
    paths = [*paths, root / "kernels/variants.c"]
    body = sources.joined(root, paths, rows)
    at = Sized(whole, sizes_of(whole, dims))
    shapes = {
        port.name: tuple(at.extent(e) for e in whole.values[port.value].shape)
        for port in whole.methods[0].inputs
    }
    memory, ports = measured(data, name, shapes)
    constant = "".join(
        f"  {', '.join(map(str, data[i : i + 24]))},\n" for i in range(0, len(data), 24)
    )
    source = "".join(
        [
            f"/* {name} and the runtime for it: pteron amalgamate. Do not edit. */\n",
            '#include "pteron_model.h"\n\n',
            kernel_list(kernels, name),
            PRELUDE,
            body,
            f"\n/* --- {name} --- */\n\nstatic _Alignas(64) const unsigned char program_bytes[] = {{\n",
            constant,
            "};\n",
            calls(ports),
        ]
    )
    facts: dict[str, int | str] = {
        "program": len(data),
        "memory": memory,
        "lines": source.count("\n"),
    }
    return source, model_header(name, memory, ports), facts


def measured(
    data: bytes, name: str, shapes: Mapping[str, tuple[int, ...]]
) -> tuple[int, dict[str, list[tuple[str, int, tuple[int, ...]]]]]:
    """Bytes of memory that suffice, as 64-bit machines need them, and each port's bytes and shape."""
    from .._pteron import ffi, lib
    from ..runtime import Program, Session
    from ..runtime.memory import check, new_error, new_struct

    opened = Program(data, delegates=())
    if len(opened.methods) != 1 or opened.methods[0].states:
        raise ArgumentError(f"{name}: expected one method without states; a board has two calls")
    method = opened.methods[0]
    if any(p.shape_input for p in method.inputs):
        raise ArgumentError(f"{name}: input values decide its shapes; export it with fixed sizes")
    session = Session(opened, threads=1, cpu=0)
    sizes = session.prepare(shapes)
    needed, of_session, error = ffi.new("size_t *"), ffi.new("size_t *"), new_error()
    check(lib.pte_program_size(ffi.from_buffer(data), len(data), needed, error), error)
    check(lib.pte_session_size(opened.pointer, 0, of_session, error), error)
    ports: dict[str, list[tuple[str, int, tuple[int, ...]]]] = {"input": [], "output": []}
    for kind, query in (("input", lib.pte_session_input), ("output", lib.pte_session_output)):
        infos = method.inputs if kind == "input" else method.outputs
        for i, port in enumerate(infos):
            out = new_struct("pte_extents")
            check(query(session.pointer, i, out))
            shape = tuple(int(out.shape[a]) for a in range(out.rank))
            ports[kind].append((port.name, int(out.size_bytes), shape))
    whole = needed[0] + of_session[0] + sizes.arena_bytes
    return (int(whole) + 3 * 64 + 63) // 64 * 64, ports


PRELUDE = """
/* Bytes lie in flash, where nobody writes them: they are not copied. Buffers are those of a small machine. */
#define PTE_IN_PLACE 1
#define PTE_SMALL_BUFFERS 1

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <float.h>
#include <limits.h>

/* All of libc that is called. The last four are here, for who links none; a libc's own take their place. */
void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count);
int strcmp(const char *a, const char *b);
size_t strlen(const char *text);
#define PTE_LIBC __attribute__((weak, used, optimize("no-tree-loop-distribute-patterns")))
PTE_LIBC void *memmove(void *to, const void *from, size_t count) {
  unsigned char *t = to;
  const unsigned char *f = from;
  if (t < f) while (count--) *t++ = *f++;
  else while (count--) t[count] = f[count];
  return to;
}
PTE_LIBC void *memset(void *to, int value, size_t count) {
  for (unsigned char *t = to; count--;) *t++ = (unsigned char)value;
  return to;
}
PTE_LIBC int memcmp(const void *a, const void *b, size_t count) {
  const unsigned char *x = a, *y = b;
  for (; count--; x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}
PTE_LIBC int strcmp(const char *a, const char *b) {
  for (; *a != 0 && *a == *b; a++) b++;
  return *(const unsigned char *)a - *(const unsigned char *)b;
}
PTE_LIBC size_t strlen(const char *text) {
  size_t n = 0;
  while (text[n] != 0) n++;
  return n;
}
"""


def calls(ports: Mapping[str, list[tuple[str, int, tuple[int, ...]]]]) -> str:
    shapes = "".join(
        f"static const int64_t shape_{i}[] = {{{', '.join(map(str, shape)) or '0'}}};\n"
        for i, (_, _, shape) in enumerate(ports["input"])
    )
    rows = ", ".join(f"shape_{i}" for i in range(len(ports["input"]))) or "NULL"
    return shapes + CALLS.replace("SHAPES", rows)


CALLS = """static const int64_t *const shapes[] = {SHAPES};
static _Alignas(64) unsigned char memory[PTERON_MODEL_MEMORY];
static size_t used;
static pte_session *session;
static pte_error failure;

static pte_memory rest(void) {
  used = (used + 63) / 64 * 64;
  return (pte_memory){memory + used, sizeof memory - used};
}

int pteron_model_open(const void *bytes, size_t size) {
  const void *from = bytes != NULL ? bytes : program_bytes;
  const size_t count = bytes != NULL ? size : sizeof program_bytes;
  pte_program *program = NULL;
  pte_session *opened = NULL;
  size_t taken = 0;
  session = NULL;
  used = 0;
  PTE_TRY(pte_program_size(from, count, &taken, &failure));
  PTE_TRY(pte_program_open(from, count, NULL, rest(), &program, &failure));
  used += taken;
  PTE_TRY(pte_session_size(program, 0, &taken, &failure));
  PTE_TRY(pte_session_open(program, 0, rest(), &opened, &failure));
  used += taken;
  const pte_prepare_options options = {.size = sizeof options, .threads = 1, .shapes = shapes};
  pte_sizes sizes = {.size = sizeof sizes};
  PTE_TRY(pte_prepare_size(opened, &options, &sizes, &failure));
  PTE_TRY(pte_session_prepare(opened, &options, rest(), (pte_memory){NULL, 0}, 0, &failure));
  used += (size_t)sizes.arena_bytes;
  session = opened;
  return PTE_OK;
}

int pteron_model_run(const void *const *inputs, void *const *outputs) {
  if (session == NULL) return pte_fail(&failure, PTE_BAD_ARGUMENT, "the model is not open");
  return pte_session_run(session, inputs, outputs, NULL, &failure);
}

const char *pteron_model_error(void) { return failure.text; }
size_t pteron_model_used(void) { return used; }
"""


def model_header(
    name: str, memory: int, ports: Mapping[str, list[tuple[str, int, tuple[int, ...]]]]
) -> str:
    lines = list(_port_lines(ports))
    return f"""/* {name} on a microcontroller: pteron amalgamate. Do not edit.
 *
{chr(10).join(lines)}
 *
 * Buffers are dense, row-major and aligned to their elements. Functions return 0, or a number that
 * pteron_model_error says more of. One thread. */
#ifndef PTERON_MODEL_H
#define PTERON_MODEL_H

#include <stddef.h>

/* Static memory for tables, values and scratch: enough for any machine. pteron_model_used says what
 * this one needs. */
#ifndef PTERON_MODEL_MEMORY
#define PTERON_MODEL_MEMORY {memory}
#endif

/* Verifies the program and prepares it. `bytes` NULL: the one that is built in; else `size` bytes of another
 * with the same inputs, aligned to 64, that nobody writes and that outlive the model. */
int pteron_model_open(const void *bytes, size_t size);
int pteron_model_run(const void *const *inputs, void *const *outputs);
const char *pteron_model_error(void);
size_t pteron_model_used(void);

#endif
"""


def _port_lines(ports: Mapping[str, list[tuple[str, int, tuple[int, ...]]]]) -> Iterator[str]:
    for kind, rows in ports.items():
        for i, (name, size, shape) in enumerate(rows):
            text = re.sub(r"[^\w.\[\], -]", "?", name)
            yield f" * {kind} {i}: {text} {list(shape)}, {size} bytes"


def as_text(facts: Mapping[str, int | str]) -> str:
    return "\n".join(
        [
            f"{facts['program']:8d}  bytes of flash, the program",
            f"{facts['memory']:8d}  bytes of static memory at most (PTERON_MODEL_MEMORY)",
            "          the runtime's flash: what the compiler and linker leave of pteron_model.c (-Os, --gc-sections)",
        ]
    )
