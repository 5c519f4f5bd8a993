"""Prints the title and the first cells of a page's first table; "ok" if every element is closed and nothing is fetched."""
import html.parser
import sys

VOID = {"meta", "line", "polygon", "polyline"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.faults, self.tables, self.cells = [], [], 0, None

    def handle_starttag(self, tag, attributes):
        self.faults += [f"<{tag}> names another file" for name, _ in attributes if name in ("src", "href")]
        self.tables += tag == "table"
        self.cells = [] if tag == "tr" else self.cells
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.faults += [f"<{tag}/> is no empty element"] if tag not in VOID else []

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes another element")
        if tag == "tr" and self.tables == 1:
            print("pass", self.cells[0])

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells.append(data)
        if self.open and self.open[-1] == "title" and "svg" not in self.open:
            print(data)


page = Page()
page.feed(open(sys.argv[1]).read())
page.faults += [f"<{tag}> is open at the end" for tag in page.open]
if page.tables != 7:
    page.faults.append(f"{page.tables} tables, wanted 7")
print(*page.faults, "wrong" if page.faults else "ok", sep="\n")
