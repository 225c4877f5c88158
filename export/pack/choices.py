"""Convolutions and products that two operators can compute: the pairs, and the sites where one of a pair is chosen.

Only what is asked for (`--fast-conv`, `--activations`) makes a site, for the operator in the other's place rounds otherwise. Which is
faster depends on the processor too: each site has the answer of a rule, `export.tune` has those of measurements.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Final

from pteron.schema.formats import FORMATS

from ..program import Instr, Program, Value
from . import winograd

INSTEAD_OF: Final = {"conv_winograd": "conv", "matmul_int8": "matmul", "matmul_turned": "matmul"}
"""An operator that rounds otherwise, and the one whose place it takes."""

PLAIN: Final = "plain"
"""Elements as they are: of weights whose operator reads no codes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Site:
    """A conv or matmul with a choice: whether `operator` takes its place, from x to y.

    `format`: of the weight's codes, where both operators read them, else PLAIN. `rule`: the answer where nothing was
    measured.
    """

    operator: str
    format: str
    x: Value
    y: Value
    node: int
    rule: bool

    @property
    def plain(self) -> str:
        return INSTEAD_OF[self.operator]


Decide = Callable[[Site], bool]


def by_rule(site: Site) -> bool:
    return site.rule


NARROW: Final = 64
"""Columns of a product up to which sums in integers do not make up for rounding its rows,"""
MANY_ROWS: Final = 64
"""where it has so many: as long as in f32 times 1.34, 1.21 and 0.90 by 32, 64 and 128 columns of 512 rows of K 256; exact 1.20, 1.10 and 1.09.
By one row the weights are what takes time, and there are fewer of them: 0.71, 0.75 and 0.53 (AVX2, one thread, least of 40, interleaved)."""


def site_of(
    operator: str, format: str, instr: Instr, x: Value, y: Value, asked: bool = True
) -> Site:
    """Of a conv or matmul that `operator` can compute. `asked`: it was asked for, by name."""
    rule = operator != "conv_winograd" or winograd.pays(x, y)
    if operator == "matmul_int8" and not asked:
        rule = not _is_narrow(y)
    return Site(operator, format, x, y, instr.node, rule)


def _is_narrow(y: Value) -> bool:
    """Whether a product has many rows, extents that are not known at export counted as 1, of few columns."""
    *rows, columns = y.shape
    many = math.prod(n for n in rows if isinstance(n, int)) >= MANY_ROWS
    return many and isinstance(columns, int) and columns <= NARROW


def seen(program: Program, instr: Instr) -> Site | None:
    """The site that an instruction of a packed program is, or would be where its other operator is asked for."""
    ports = (*instr.inputs, None, None)[:2], (*instr.outputs, None)[:1]
    x, w, y = (None if v is None else program.values[v] for v in (*ports[0], *ports[1]))
    if x is None or w is None or y is None:
        return None
    operator, format = instr.op, w.format
    if instr.op == "conv" and format == PLAIN:
        operator = "conv_winograd" if winograd.fits(instr, x, y) else ""
    elif instr.op == "matmul":
        operator = "matmul_turned" if format == PLAIN else "matmul_int8"
    if operator not in INSTEAD_OF or (operator == "matmul_int8" and not FORMATS[format].dot):
        return None
    return site_of(operator, format if operator == "matmul_int8" else PLAIN, instr, x, y)
