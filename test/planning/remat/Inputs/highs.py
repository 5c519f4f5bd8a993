"""The least time of rematerialization problems by HiGHS, through scipy, beside what napkin-plan finds with the order of first
runs fixed: highs.py FOLDER [NAME=PART ...]

Of each problem NAME.json in FOLDER at a part of its peak; without names, of random training steps that are written there first.
The programme is Checkmate's (Jain et al. 2020, equations 1 to 9): stage t runs step t for the first time, after steps before it
that run again. R[t,i] says whether step i runs in stage t, S[t,i] whether its result is held from stage t - 1, and F whether it
ends with a step of stage t. Prints a line a problem; the exit status is 1 where the two differ.
"""

import json
import pathlib
import random
import subprocess
import sys

import numpy
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_matrix


class Programme:
    """Columns with bounds and prices, and rows `sum <= bound`."""

    def __init__(self):
        self.low, self.high, self.price, self.integer, self.rows, self.bounds = [], [], [], [], [], []

    def column(self, low, high, price=0.0, integer=True):
        self.low.append(low)
        self.high.append(high)
        self.price.append(price)
        self.integer.append(int(integer))
        return len(self.low) - 1

    def row(self, terms, bound):
        self.rows.append(terms)
        self.bounds.append(bound)

    def solve(self):
        entries = [(r, c, f) for r, terms in enumerate(self.rows) for c, f in terms.items()]
        r, c, f = zip(*entries)
        matrix = coo_matrix((f, (r, c)), shape=(len(self.rows), len(self.low))).tocsr()
        return milp(self.price, integrality=self.integer, bounds=Bounds(self.low, self.high),
                    constraints=LinearConstraint(matrix, -numpy.inf, self.bounds), options={"mip_rel_gap": 0})


def least_time(problem, budget):
    """Nanoseconds of the fastest sequence, or none where no sequence meets the budget."""
    given = [node.get("given", False) for node in problem["nodes"]]
    steps = [node for node, is_given in zip(problem["nodes"], given) if not is_given]
    number = {}
    for index, is_given in enumerate(given):
        if not is_given:
            number[index] = len(number)
    n = len(steps)
    inputs, readers = [[] for _ in steps], [[] for _ in steps]
    for source, reader in problem["edges"]:
        if not given[source]:
            inputs[number[reader]].append(number[source])
            readers[number[source]].append(number[reader])
    size, cost = [s["size"] for s in steps], [s.get("cost", 0) for s in steps]
    work = [s.get("workspace", 0) for s in steps]
    resident = problem.get("resident", 0) + sum(x["size"] for x, g in zip(problem["nodes"], given) if g)
    unit, unit_time = max(size), sum(cost) / 1000
    limit = (budget - resident) / unit
    if limit < 0:
        return None

    p = Programme()
    R = [[p.column(i == t, 1 if i == t or steps[i].get("recomputable", True) else 0, cost[i] / unit_time) for i in range(t + 1)]
         for t in range(n)]
    S = [[p.column(int(t == n and steps[i].get("kept", False)), 1 if t < n else int(steps[i].get("kept", False)))
          for i in range(t)] for t in range(n + 1)]
    for t in range(n):
        for i in range(t + 1):
            for source in inputs[i]:
                terms = {R[t][i]: 1, R[t][source]: -1}
                if source < t:
                    terms[S[t][source]] = -1
                p.row(terms, 0)
    for t in range(1, n + 1):
        for i in range(t):
            terms = {S[t][i]: 1, R[t - 1][i]: -1}
            if i < t - 1:
                terms[S[t - 1][i]] = -1
            p.row(terms, 0)
    for t in range(n):
        # Live bytes before and behind each step of the stage.
        before = p.column(0, limit, integer=False)
        p.row({**{S[t][i]: size[i] / unit for i in range(t)}, before: -1}, 0)
        for k in range(t + 1):
            here, behind = p.column(0, limit, integer=False), p.column(0, limit, integer=False)
            p.row({before: 1, R[t][k]: size[k] / unit, here: -1}, 0)
            if work[k]:
                p.row({here: 1, R[t][k]: work[k] / unit}, limit)
            terms = {here: 1, behind: -1}
            for i in [*inputs[k], k]:
                ends = p.column(0, 1)
                terms[ends] = -size[i] / unit
                p.row({ends: 1, R[t][k]: -1}, 0)
                p.row({ends: 1, S[t + 1][i]: 1}, 1)
                for reader in readers[i]:
                    if k < reader <= t:
                        p.row({ends: 1, R[t][reader]: 1}, 1)
            p.row(terms, 0)
            before = behind
    answer = p.solve()
    if answer.status not in (0, 2):
        sys.exit(f"HiGHS: {answer.message}")
    return round(answer.fun * unit_time) if answer.status == 0 else None


def random_training(rng, count):
    """A random forward graph and a gradient for each of its steps."""
    nodes, edges = [{"name": "input", "size": rng.randint(1, 8), "given": True}], []
    sources, reads = [], [[] for _ in range(count)]
    for node in range(count):
        sources.append(sorted({max(0, node - 1 - rng.randint(0, 5 * read)) for read in range(rng.randint(1, 3))}) if node else [])
        nodes.append({"cost": rng.randint(1, 20), "size": rng.randint(1, 16), "workspace": rng.randint(0, 3)})
        edges += [[source + 1, node + 1] for source in sources[-1]] or [[0, node + 1]]
        for source in sources[-1]:
            reads[source].append(node)
    gradient = {}
    for node in reversed(range(count)):
        gradient[node] = len(nodes)
        nodes.append({"cost": rng.randint(1, 20), "size": nodes[node + 1]["size"], "workspace": rng.randint(0, 3)})
        edges += [[source + 1, gradient[node]] for source in sources[node]]
        edges += [[gradient[reader], gradient[node]] for reader in reads[node]] or [[node + 1, gradient[node]]]
    nodes[-1]["kept"] = True
    return {"order": "fixed", "nodes": nodes, "edges": edges}


def plan(path, budget):
    words = ["napkin-plan", str(path), f"--memory={budget}"]
    lines = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
    return dict(zip(lines[0].split(), lines[1].split()))


def main():
    folder = pathlib.Path(sys.argv[1])
    wanted = [word.split("=") for word in sys.argv[2:]]
    if not wanted:
        folder.mkdir(exist_ok=True)
        for seed in range(4):
            name = f"random{seed}"
            (folder / f"{name}.json").write_text(json.dumps(random_training(random.Random(seed), 8)))
            wanted += [(name, part) for part in ("0.95", "0.9", "0.8")]
    differs = False
    for name, part in wanted:
        problem = json.loads((folder / f"{name}.json").read_text())
        path = folder / f"{name}-fixed.json"
        path.write_text(json.dumps({**problem, "order": "fixed"}))
        budget = int(int(plan(path, 1 << 60)["PEAK"]) * float(part))
        row, least = plan(path, budget), least_time(problem, budget)
        found = int(row["TIME"]) if int(row["PEAK"]) <= budget else None
        differs |= found != least
        print(f"{name} at {part}: HiGHS {least}, napkin-plan {found}")
    sys.exit(differs)


main()
