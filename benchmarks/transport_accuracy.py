"""How near our transport plans come to the exact optimum: POT's network simplex in float64.

    python benchmarks/transport_accuracy.py [--problems 1000]

Three sets of problems, all padded and masked: 36 regions × 8–25 words with cosine costs (the paper's), random and
adversarial ones of 1–49 × 1–25 with equal and unequal masses, and some whose costs are large. The gap is
(⟨T, C⟩ − exact) relative to the exact value, or to 1% of the largest cost where that is more: its median, and the 95%
quantile and the largest of its absolute value. The error is the mass that breaks the plan's marginals, the worst of all
problems. A plan that breaks its marginals can cost less than the exact one: hence the same after rounding.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
from peers.transport_problems import KINDS, Problems, draw, paper_like

from vse_zoo.ops import round_plan, transport_plan

Array = NDArray[np.float64]
SETTINGS = (
    *(("ipot", beta, iterations) for beta in (1.0, 0.5, 0.1, 0.01, 0.001) for iterations in (20, 50, 200)),
    *(("sinkhorn", beta, iterations) for beta in (0.1, 0.01, 0.001) for iterations in (20, 200)),
)


def solve(problems: Problems, method: str, beta: float, iterations: int) -> Array:
    """Plans (P, n, m), not rounded."""
    plan = transport_plan(
        problems.cost,
        problems.rows > 0,
        problems.columns > 0,
        beta=beta,
        iterations=iterations,
        method=method,
        row_mass=problems.rows,
        column_mass=problems.columns,
    ).plan
    return plan.numpy()


def rounded(problems: Problems, plan: Array) -> Array:
    rows, columns = (mass.T.astype(np.float32) for mass in (problems.rows, problems.columns))
    return round_plan(plan.transpose(1, 2, 0), rows, columns).numpy().transpose(2, 0, 1)


def errors(problems: Problems, plan: Array) -> Array:
    """(P,) measured here in float64, not by the solver."""
    gaps = [
        np.abs(plan.sum(axis, dtype=np.float64) - mass).sum(1)
        for axis, mass in ((2, problems.rows), (1, problems.columns))
    ]
    return 0.5 * (gaps[0] + gaps[1])


def relative_gaps(problems: Problems, plan: Array) -> Array:
    cost = np.where((problems.rows > 0)[:, :, None] & (problems.columns > 0)[:, None], problems.cost, 0)
    floor = np.maximum(0.01 * cost.max(axis=(1, 2)), 1e-12)
    return ((plan * cost).sum(axis=(1, 2)) - problems.exact) / np.maximum(problems.exact, floor)


def rows(problems: Problems) -> Iterator[str]:
    for method, beta, iterations in SETTINGS:
        plan = solve(problems, method, beta, iterations)
        cells = [method, f"{beta:g}", str(iterations)]
        for each in (plan, rounded(problems, plan)):
            gaps = 100 * relative_gaps(problems, each)
            cells += [
                f"{np.median(gaps):+.2f}%",
                f"{np.quantile(np.abs(gaps), 0.95):.1f}%",
                f"{np.abs(gaps).max():.1f}%",
            ]
            cells.append(f"{errors(problems, each).max():.0e}")
        yield "| " + " | ".join([*cells, f"{100 * np.isfinite(plan).all(axis=(1, 2)).mean():.1f}%"]) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=1000, help="in each of the three sets")
    args = parser.parse_args()
    for title, problems in (
        ("36 regions × 8–25 words", paper_like(args.problems)),
        ("Random and adversarial", draw(KINDS, args.problems)),
        ("Costs of 10 to 10,000", draw(("large",), args.problems)),
    ):
        print(f"\n{title}, {args.problems:,} problems\n")
        print("| method | β | iterations |" + " median gap | 95% | worst | error |" * 2 + " finite |")
        print("| --- |" + " ---: |" * 11, flush=True)
        for row in rows(problems):
            print(row, flush=True)


if __name__ == "__main__":
    main()
