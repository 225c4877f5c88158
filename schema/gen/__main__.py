"""Writes every file that is derived from schema/: `python schema/gen`, or `--check`, which fails where one is stale.

Needs NumPy only. frame.fbs, program.fbs and text.fbs give the structs of the file; ops.py, steps.py and formats.py give the tables; docs/ gets both.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def outputs() -> dict[str, str]:
    """Path from the root -> text, for every generated file."""
    from pteron.schema.gen import fbs, isas, pages
    from pteron.schema.gen import ops as gen_ops
    from pteron.schema.gen import structs as gen_structs

    frame_text = (ROOT / "schema/frame.fbs").read_text()
    program_text = (ROOT / "schema/program.fbs").read_text()
    text_text = (ROOT / "schema/text.fbs").read_text()
    frame, program, text = map(fbs.parse, (frame_text, program_text, text_text))
    digest = schema_hash(program.text)
    schema = dataclasses.replace(
        program, enums=frame.enums | program.enums, structs=frame.structs | program.structs
    )
    whole = dataclasses.replace(
        schema, enums=schema.enums | text.enums, structs=schema.structs | text.structs
    )
    comments = pages.notes(frame_text) | pages.notes(program_text) | pages.notes(text_text)
    return {
        "runtime_c/include/pteron/types.h": gen_structs.types_h(schema),
        "runtime_c/gen/ops.h": gen_ops.ops_h(),
        "runtime_c/gen/ops.c": gen_ops.ops_c(),
        "runtime_c/gen/steps.h": gen_ops.steps_h(),
        "runtime_c/gen/steps.c": gen_ops.steps_c(),
        "runtime_c/gen/layout.h": gen_structs.layout_h(schema, digest),
        "runtime_c/gen/layout.c": gen_structs.layout_c(schema),
        "runtime_c/gen/text.h": gen_structs.text_h(text),
        "runtime_c/gen/isas.c": isas.isas_c(),
        "runtime_c/gen/variants.inc": isas.variants_inc(
            (ROOT / "runtime_c/kernels").glob("*/*__*.c")
        ),
        "runtime_c/cmake/isas.cmake": isas.isas_cmake(),
        "schema/layout.py": gen_structs.layout_py(whole, digest),
        "docs/operators.md": pages.operators_md(),
        "docs/format.md": pages.format_md((ROOT / "docs/format.md").read_text(), whole, comments),
    }


def schema_hash(fbs_text: str) -> bytes:
    """BLAKE2s-64 over the file's structs and what a row says of an instruction's bytes: files of another hash are refused.
    Relations only say which instructions are refused: a file that keeps them is the same with or without."""
    from pteron.schema import formats, ops, signature, steps

    lines = [fbs_text]
    for op in ops.OPS.values():
        sig = signature.signature(op)
        ports = [(p.name, p.rule, p.optional, p.variadic) for p in (*sig.inputs, *sig.outputs)]
        attrs = [(a.name, a.kind, a.offset, a.default, a.values) for a in sig.attrs]
        lines.append(
            repr(
                (
                    op.id,
                    op.name,
                    op.dtypes,
                    op.shape,
                    op.strided,
                    op.inplace,
                    bool(op.counts),
                    ports,
                    attrs,
                )
            )
        )
    lines += [
        repr((s.id, s.name, s.types, s.result, s.arity, s.reads)) for s in steps.STEPS.values()
    ]
    lines += [repr((f.id, f.row, f.bits, f.planes)) for f in formats.ROWS.values()]
    return hashlib.blake2s("\n".join(lines).encode(), digest_size=8).digest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 where a file is stale"
    )
    check = parser.parse_args().check
    stale = 0
    for name, text in outputs().items():
        path = ROOT / name
        if path.exists() and path.read_text() == text:
            continue
        stale += 1
        if check:
            print(f"{name}: expected what schema/ says, got something else; run python schema/gen")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"wrote {name}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    # The package `pteron` as the source tree has it, so that nothing needs to be installed.
    package = types.ModuleType("pteron")
    package.__path__ = [str(ROOT)]
    sys.modules["pteron"] = package
    sys.exit(main())
