"""Show what is in a program: sizes, inputs and outputs, placement of nodes, instructions and the memory plan.

Of an ONNX model: what it is quantized with. Sizes are those at the dimensions' hints; --dim SYMBOL=N asks for others.

Example:

    pteron inspect model.pte --dim batch=4 --html model.html
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pteron.schema.printable import joined

from . import say
from .pairs import as_json, dims, file, integer, kind, pairs, program, ready
from .say import size

if TYPE_CHECKING:
    from .describe import Description


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", type=file, help=".pte file, or an .onnx model")
    parser.add_argument(
        "--html", type=file, metavar="FILE", help="write one static page with the plan as a picture"
    )
    dims(parser)
    parser.add_argument(
        "--tune",
        type=file,
        metavar="FILE",
        help="profile of export --tune: times of operators, and of those that could replace them",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="every instruction (default: the first 40); of a model, every weight",
    )
    as_json(parser)


def run(args: argparse.Namespace) -> int:
    if args.program.suffix == ".onnx" and not (args.html or args.dim or args.tune):
        from .quantized import inspect

        return inspect(args.program, args.all, args.json)
    from pteron.export.tune.profile import read_profile

    from .describe import describe

    kind("--html", args.html, ".html")
    ready([args.html], [args.program, args.tune])
    profile = None if args.tune is None else read_profile(args.tune)
    about = describe(program(args.program), pairs("--dim", args.dim, integer), profile)
    if args.html:
        from pteron.export.write import write_text

        from .pages.program import program_page

        write_text(args.html, program_page(about))
    if args.json or not args.html:
        most = None if args.all else 40
        say.result("inspect", args.json, about.as_dict(), lambda: text(about, most), [args.html])
    else:
        say.result("inspect", False, {}, lambda: f"wrote {args.html}", [args.html])
    return 0


def text(about: Description, most: int | None) -> str:
    lines = [
        f"{about.path}  {size(about.file_bytes)}, model {about.model!r}, weights {about.activations}"
    ]
    lines += [f"  {s['kind']:10s} at {s['offset']:>10d}  {size(s['size'])}" for s in about.segments]
    if about.dims:
        lines += ["", "dimensions"] + [f"  {d}" for d in about.dims]
    if about.delegates:
        lines += ["", "delegates"] + [f"  {d}" for d in about.delegates]
    if about.placements:
        lines += ["", f"  {'where':10s} {'operator':16s} node: reason"]
        lines += [
            f"  {p.delegate:10s} {p.op_type:16s} {p.name}: {p.reason}"
            for p in about.placements[:most]
        ]
        if most is not None and len(about.placements) > most:
            lines.append(f"  ... {len(about.placements) - most} more: --all")
    for method in about.methods:
        lines += ["", f"method {method.name}"]
        lines += [f"  {kind:6s} {port}" for kind, port in method.ports]
        plan = method.plan
        ratio = plan.total_bytes / max(plan.live_bytes, 1)
        lines.append(
            f"  memory {size(plan.total_bytes)} planned, {ratio:.3f} of the live-bytes bound {size(plan.live_bytes)}; "
            f"states {size(plan.state_bytes)}"
        )
        tuned = "  tuned" if any(row.tuned for row in method.instrs) else ""
        head = f"  {'#':>4s} {'operator':16s} {'bytes':>10s}  result  weight{tuned}  <-  node"
        lines += ["", head]
        shown = method.instrs[:most]
        lines += [
            f"  {row.index:4d} {'  ' * row.depth + row.op:16s} {size(row.bytes):>10s}  {row.result}"
            f"{f'  {row.weight}' if row.weight else ''}{f'  {row.tuned}' if row.tuned else ''}  <-  {f'{row.node} {row.source}'.rstrip()}"
            for row in shown
        ]
        if len(shown) < len(method.instrs):
            lines.append(f"       ... {len(method.instrs) - len(shown)} more: --all")
    return joined(lines)
