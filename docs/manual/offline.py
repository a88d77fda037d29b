#!/usr/bin/env python3
"""Every page of a site takes everything from its own folder, and every link and anchor inside it leads somewhere: offline.py SITE"""
import html.parser
import pathlib
import sys
import urllib.parse

LOADS = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}
CONNECTED = ("canonical", "author", "license")  # a link that is followed by nobody


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.loads, self.links, self.anchors = [], [], set()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if given.get("id"):
            self.anchors.add(given["id"])
        if tag in LOADS and given.get(LOADS[tag]) and given.get("rel") not in CONNECTED:
            self.loads.append(given[LOADS[tag]])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])


def main(site):
    pages, problems = {}, []
    for file in sorted(site.rglob("*.html")):
        page = Page()
        page.feed(file.read_text(encoding="utf-8"))
        pages[file.resolve()] = page
    for file, page in pages.items():
        name = file.relative_to(site.resolve())
        for address in page.loads:
            parts = urllib.parse.urlsplit(address)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                problems.append(f"{name}: fetches {address}")
            elif not (file.parent / urllib.parse.unquote(parts.path)).exists():
                problems.append(f"{name}: there is no {address}")
        for address in page.links:
            parts = urllib.parse.urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            there = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            if not there.exists():
                problems.append(f"{name}: links to {address}, which is not there")
            elif parts.fragment and there in pages and urllib.parse.unquote(parts.fragment) not in pages[there].anchors:
                problems.append(f"{name}: links to {address}, and there is no such place on that page")
    print("\n".join(problems))
    print(f"{len(pages)} pages, {len(problems)} failures")
    return 1 if problems or not pages else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
