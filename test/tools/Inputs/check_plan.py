"""Compares what `napkin plan` says with what other plans of the same model say.

check_plan.py NAPKIN FOLDER MODEL FLAGS...
"""
import functools
import html.parser
import json
import pathlib
import sys

from commands import Napkin

napkin, folder, *model = sys.argv[1:]
folder = pathlib.Path(folder)
folder.mkdir(parents=True, exist_ok=True)
plan = functools.partial(Napkin(napkin, model).run, "plan")
failures = []


@functools.cache
def table(*flags, status=0):
    return json.loads(plan("--json", *flags, status=status).stdout)


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: found {found}, wanted {wanted}")


def check_rows(facts):
    """Bounds are below what is found, by the same number for equal bytes; a budget costs time."""
    for row in facts["strategies"] + facts["frontier"]:
        if not 0 < row["bound_ns"] <= row["ns"]:
            failures.append(f"{row}: a bound above what is found, or none")
    expect("the fastest row's gap", facts["frontier"][-1]["bound_ns"], facts["frontier"][-1]["ns"])
    bounds = [row["bound_ns"] for row in facts["frontier"]]
    expect("bounds that fall with the bytes", bounds, sorted(bounds, reverse=True))
    if bounds[0] == bounds[-1]:
        failures.append("the least plan has no bound of its own")


def check_peak(facts, row):
    """The live tensors add up to what the planner says of the plan."""
    peak = facts["peak"]
    expect("the peak's plan", peak["bytes"], row["peak_bytes"])
    expect("live bytes of the peak", peak["live_bytes"], row["live_bytes"])
    expect("bytes of its tensors", sum(t["bytes"] for t in peak["tensors"]), peak["live_bytes"])
    expect("declared", sum(facts["declared"].values()), facts["declared_bytes"])
    for tensor in peak["tensors"]:
        if tensor["drop_ns"] >= 0 and (tensor["in_use"] or tensor["launches_until_read"] <= 0):
            failures.append(f"{tensor}: can be dropped where it is read")
        if not tensor["readers"] and not tensor["in_use"] and tensor["launches_until_read"] >= 0:
            failures.append(f"{tensor}: nobody reads it")
    return peak["tensors"]


def check_batches(facts):
    """With the largest batch a plan is within the capacity, with one sample more it is not."""
    for name, batch in [("auto", facts["largest_batch"])] + [(row["strategy"], row["largest_batch"])
                                                            for row in facts["strategies"]]:
        for more in (0, 1):
            if batch + more == 0:
                continue
            other = table("--micro-batch", batch + more)
            rows = [row for row in other["strategies"] if name in ("auto", row["strategy"])]
            least = min(row["peak_bytes"] for row in rows + (other["frontier"] if name == "auto" else []))
            if (least <= facts["capacity_bytes"]) != (more == 0):
                failures.append(f"{name}, {batch} + {more} samples: {least} bytes of {facts['capacity_bytes']}")


class Page(html.parser.HTMLParser):
    """What stands on a page; every element is closed and nothing is fetched."""

    def __init__(self, text):
        super().__init__()
        self.open, self.counts, self.points, self.words = [], {}, [], ""
        self.feed(text)
        expect("elements open at the end", self.open, [])

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if {"src", "href"} & values.keys():
            failures.append(f"<{tag}> names another file")
        name = f"{tag}.{values['class']}" if "class" in values else tag
        self.counts[name] = self.counts.get(name, 0) + 1
        if tag == "polygon":
            self.points.append([tuple(map(float, point.split(","))) for point in values["points"].split()])
        if tag != "meta" and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            failures.append(f"</{tag}> closes another element")

    def handle_data(self, data):
        self.words += data


def check_page(facts, *flags):
    page = Page(plan("--html", *flags).stdout)
    expect("drawings", [page.counts.get("svg.timeline"), page.counts.get("svg.frontier")], [1, 1])
    expect("rings", page.counts["circle.named"], 5)
    expect("chosen plans", page.counts.get("circle.chosen"), 1)
    expect("tables", [page.counts.get("table.plans"), page.counts.get("table.live")], [1, 1])
    bands = sum(bytes > 0 for bytes in facts["declared"].values()) + (facts["scratch_bytes"] > 0) + 3
    expect("bands", len(page.points), bands)
    # Bands lie on each other: each begins where the one below ends; none reaches over the top.
    upper = [[point for point in band[:len(band) // 2]] for band in page.points]
    lower = [[point for point in reversed(band[len(band) // 2:])] for band in page.points]
    for below, above in zip(upper, lower[1:]):
        if below != above:
            failures.append("a band of the drawing does not lie on the one below it")
    least = min(y for band in page.points for _, y in band)
    padding = facts["chosen"]["transient_bytes"] - facts["chosen"]["live_bytes"]
    wanted = 300 * padding / facts["chosen"]["peak_bytes"]
    if abs(least - wanted) > 0.02:
        failures.append(f"the top of the drawing is at {least}, wanted {wanted}")


everything = table()
check_rows(everything)
check_peak(everything, everything["strategies"][0])
least, most = (everything["frontier"][at]["peak_bytes"] for at in (0, -1))

budget = (least + most) // 2
within = table("--memory", budget)
tensors = check_peak(within, within["chosen"])
expect("the chosen plan's peak", within["peak"]["bytes"], within["chosen"]["peak_bytes"])
check_batches(within)
check_page(within, "--memory", budget)

saved = [tensor for tensor in check_peak(everything, everything["strategies"][0]) if tensor["use"] == "saved"]
if not any(tensor["drop_ns"] > 0 for tensor in saved):
    failures.append("nothing that is saved could be computed again")
if any(not tensor["lines"] for tensor in saved):
    failures.append("a saved tensor comes from no line of the model")

# Below the floor: the least plan's tensors, and changes that do what they say.
low = least - 256
refused = table("--memory", low, status=3)
expect("what is chosen below the least", refused["chosen"], None)
check_peak(refused, everything["frontier"][0])
if not any(change["fits"] for change in refused["changes"]):
    failures.append("no change fits")
for change in refused["changes"]:
    flags = [flag.replace("'", "") for flag in change["flags"].split()]
    other = table("--memory", low, *flags, status=0 if change["fits"] else 3)
    if other["frontier"][0]["peak_bytes"] > change["least_bytes"]:
        failures.append(f"{change}: {other['frontier'][0]['peak_bytes']} is the least")
    expect(f"{flags}: fits", other["chosen"] is not None, change["fits"])

print(*failures or ["every figure is as other plans have it"], sep="\n")
sys.exit(bool(failures))
