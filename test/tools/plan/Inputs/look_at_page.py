"""Opens a page of `napkin plan --html` in Chromium without a window, and measures what is drawn.

look_at_page.py CHROMIUM FOLDER PAGE.html FACTS.json
"""
import html
import json
import pathlib
import re
import subprocess
import sys

chromium, folder, page, facts = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), json.loads(
    pathlib.Path(sys.argv[4]).read_text())
folder.mkdir(parents=True, exist_ok=True)
# The page itself has no script: this one, of the copy that is opened, says where everything lies.
SCRIPT = """<script>
const box = e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
const all = s => [...document.querySelectorAll(s)].map(box);
document.body.dataset.seen = JSON.stringify({
  mode: document.compatMode, title: document.title, width: [document.documentElement.scrollWidth, innerWidth],
  timeline: all("svg.timeline"), bands: all("svg.timeline polygon"), frontier: all("svg.frontier"),
  dots: all("svg.frontier circle"), line: all("svg.frontier polyline"),
  colours: [...document.querySelectorAll("svg.timeline polygon")].map(e => getComputedStyle(e).fill),
  plans: document.querySelectorAll("table.plans tr").length, live: document.querySelectorAll("table.live tr").length,
  tables: all("table"), outside: performance.getEntriesByType("resource").length});
</script>"""
copy = folder / "page.html"
text = page.read_text()
copy.write_text(text.replace("</body>", SCRIPT + "</body>"))
run = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                      f"--user-data-dir={folder / 'profile'}", "--window-size=1280,1600", "--virtual-time-budget=2000",
                      "--dump-dom", copy.resolve().as_uri()], capture_output=True, text=True, timeout=300)
found = re.search(r'data-seen="([^"]*)"', run.stdout)
if not found:
    sys.exit(f"the page did not run: status {run.returncode}\n{run.stderr[-2000:]}")
seen = json.loads(html.unescape(found.group(1)))
failures = []


def expect(what, is_true, value=None):
    if not is_true:
        failures.append(f"{what}: {value}")


def within(inner, outer, slack=1):
    return (inner[0] >= outer[0] - slack and inner[1] >= outer[1] - slack and inner[2] <= outer[2] + slack
            and inner[3] <= outer[3] + slack)


expect("the page is in standards mode", seen["mode"] == "CSS1Compat", seen["mode"])
expect("the title names the model", facts["model"] in seen["title"], seen["title"])
expect("nothing is fetched", seen["outside"] == 0, seen["outside"])
expect("nothing is wider than the window", seen["width"][0] <= seen["width"][1], seen["width"])
expect("one timeline, one frontier", len(seen["timeline"]) == len(seen["frontier"]) == len(seen["line"]) == 1)
timeline, frontier = seen["timeline"][0], seen["frontier"][0]
expect("the drawings have a size", min(timeline[3] - timeline[1], frontier[3] - frontier[1]) > 100, [timeline, frontier])
expect("the frontier is below the timeline", timeline[3] <= frontier[1], [timeline, frontier])
expect("bands lie in their drawing", all(within(band, timeline) for band in seen["bands"]), seen["bands"])
expect("dots lie in their drawing", all(within(dot, frontier) for dot in seen["dots"]), seen["dots"])
expect("the highest band reaches nearly to the top", min(band[1] for band in seen["bands"]) - timeline[1]
       < 0.2 * (timeline[3] - timeline[1]), seen["bands"])
declared = sum(bytes > 0 for bytes in facts["declared"].values()) + (facts["scratch_bytes"] > 0)
expect("a band a class", len(seen["bands"]) == declared + 3, len(seen["bands"]))
expect("bands of different classes have different colours", len(set(seen["colours"])) == len(seen["colours"]), seen["colours"])
# A dot a plan of the frontier, one a named strategy; more bytes are to the right, and no lower.
dots = seen["dots"][:len(seen["dots"]) - len(facts["strategies"])]
expect("dots of the frontier go right and down", dots == sorted(dots, key=lambda box: (box[0], box[1])), dots)
expect("rows of plans", seen["plans"] == 1 + len(facts["strategies"]) + len(dots), seen["plans"])
expect("rows of live tensors", 1 < seen["live"] <= 1 + len(facts["peak"]["tensors"]), seen["live"])
boxes = sorted(seen["tables"] + [timeline, frontier], key=lambda box: box[1])
expect("nothing lies on anything else", all(a[3] <= b[1] + 1 for a, b in zip(boxes, boxes[1:])), boxes)
print("\n".join(failures) or f"{len(seen['bands'])} bands, {len(dots)} plans, {seen['live'] - 1} rows of live tensors")
sys.exit(bool(failures))
