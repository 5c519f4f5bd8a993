"""What must hold of a trace: check_trace.py TRACE.json KERNEL,KERNEL... [PLAN.json]; the kernels must be in each step.

With the program's plan the memory in use is worked out anew, from the places of its tensors byte by byte.
"""
import json
import sys

trace = json.load(open(sys.argv[1]), parse_float=lambda text: text)
MEASURED, PREDICTED = 1, 2


def nanoseconds(text):
    """Microseconds with three digits as a whole number of nanoseconds."""
    whole, digits = str(text).split(".")
    assert len(digits) == 3, text
    return int(whole) * 1000 + (int(digits) if int(whole) >= 0 else -int(digits))



def bytes_of(places):
    """How many bytes are in any of the places (first byte, behind the last)."""
    sum, end = 0, 0
    for first, last in sorted(places):
        sum += max(0, last - max(first, end))
        end = max(end, last)
    return sum


def replay(plan, launches):
    """The bytes in use during each launch of a step, of the functions whose names the launches are of."""
    places = [(tensor["offset"], tensor["offset"] + tensor["bytes"]) for tensor in plan["tensors"]]
    persistent = [place for place, tensor in zip(places, plan["tensors"]) if tensor["role"] not in ("temporary", "result")]
    functions = {function["name"]: function["launches"] for function in plan["functions"]}
    used, name, at, live = [], None, 0, set()
    for launch in launches:
        if launch["cat"] != name or at == len(functions[name]):
            name, at, live = launch["cat"], 0, set()
        planned = functions[name][at]
        at += 1
        live |= set(planned["results"])
        used.append(bytes_of(persistent + [places[tensor] for tensor in live]))
        for dead in planned.get("dies", []):
            first, last = places[dead]
            live = {tensor for tensor in live if not (first <= places[tensor][0] < last) or (tensor in planned["results"] and tensor != dead)}
    return used


plan = json.load(open(sys.argv[3])) if len(sys.argv) > 3 else None
tracks, names, memory = {}, {}, {}
for event in trace["traceEvents"]:
    if event["ph"] == "M":
        names[event["name"], event["pid"], event["tid"]] = event["args"]["name"]
    elif event["ph"] == "C":
        memory.setdefault(event["pid"], []).append((nanoseconds(event["ts"]), event["args"]["live bytes"]))
    else:
        assert event["ph"] == "X", event
        key = event["pid"], event["tid"], event["cat"] == "whole step"
        begin = nanoseconds(event["ts"])
        tracks.setdefault(key, []).append((begin, begin + nanoseconds(event["dur"]), event))

for key, launches in tracks.items():
    assert all(begin <= end for begin, end, _ in launches), key
    assert all(a[1] <= b[0] for a, b in zip(launches, launches[1:])), f"{key}: launches overlap or are out of order"

steps = sorted(pid for pid, tid, isStep in tracks if isStep and tid == MEASURED)
most = 0
for pid in steps:
    assert names["process_name", pid, 0] == f"step {pid - 1}", names
    assert names["thread_name", pid, MEASURED] == "measured"
    assert names["thread_name", pid, PREDICTED].startswith("predicted, ")
    measured, predicted = tracks[pid, MEASURED, False], tracks[pid, PREDICTED, False]
    [(begin, end, whole)] = tracks[pid, MEASURED, True]
    assert begin <= measured[0][0] and measured[-1][1] <= end, "a launch is outside of its step"
    assert sum(b - a for a, b, _ in measured) <= end - begin
    [(began, ended, _)] = tracks[pid, PREDICTED, True]
    assert began == begin == predicted[0][0], "the two tracks do not begin together"
    assert sum(b - a for a, b, _ in predicted) == ended - began and predicted[-1][1] == ended, "predicted launches do not make up the step"
    for (_, _, a), (_, _, b) in zip(measured, predicted):
        assert a["name"] == b["name"] and a["args"]["line"] == b["args"]["line"], (a, b)
        assert nanoseconds(a["args"]["predicted_us"]) == nanoseconds(b["dur"]), (a, b)
    assert len(measured) == len(predicted) == len(memory[pid])
    assert [at for at, _ in memory[pid]] == [at for at, _, _ in measured]
    assert all(0 < live <= trace["otherData"]["arena_bytes"] for _, live in memory[pid]), "more lives than the arena has"
    most = max([most] + [live for _, live in memory[pid]])
    if plan:
        assert [live for _, live in memory[pid]] == replay(plan, [event for _, _, event in measured]), "the memory in use is not the plan's"
    for kernel in sys.argv[2].split(","):
        assert any(event["name"] == kernel for _, _, event in measured), f"{kernel} is not in step {pid - 1}"
assert all(tracks[a, MEASURED, True][0][1] <= tracks[b, MEASURED, True][0][0] for a, b in zip(steps, steps[1:])), "steps overlap"
beside = len(tracks.get((0, MEASURED, False), []))
share = 100 * most / trace["otherData"]["arena_bytes"]
print(f"{len(steps)} steps, {sum(len(tracks[pid, MEASURED, False]) for pid in steps)} launches in them, {beside} beside")
print(f"at most {share:.1f} % of the arena lives at once")
