"""examples.py FILE... - the command lines of hrun and hrun-calibrate in README.md and manual pages, one a line:
FILE:LINE, a tab, and the words as a shell reads them.

In README.md these are the indented lines; in mdoc the lines of .Dl, .Ql, .Sq and of literal displays, there also behind
a "$ ". A line that names things in capitals (NAME, FILE) or leaves words out (...) is none.
"""
import re
import sys

COMMAND = re.compile(r"(?:\$ )?(hrun(?:-calibrate)? [^|;]*)")
NAMES = re.compile(r"\.\.\.|\b[A-Z]{3,}\b(?!=)")


def lines_of(path):
    literal = False
    for n, line in enumerate(open(path), 1):
        line = line.rstrip("\n")
        if path.endswith(".md"):
            if line.startswith("    "):
                yield n, line.strip().split("  ")[0].split(" #")[0]
        elif line.startswith(".Bd"):
            literal = "-literal" in line
        elif line.startswith(".Ed"):
            literal = False
        elif re.match(r"\.(Dl|[A-Z][a-z] Ql|[A-Z][a-z] Sq|Ql|Sq) ", line):
            line = re.sub(r"^\.(?:[A-Z][a-z] )?(?:Dl|Ql|Sq) ", "", line)
            yield n, re.sub(r" [.,:;)]$", "", line)
        elif literal:
            yield n, line


for path in sys.argv[1:]:
    before = ""
    for n, line in lines_of(path):
        line = before + line.replace(r"\(aq", "'").replace(r"\e", "\\").replace(r"\-", "-").replace(r"\&", "")
        before = ""
        if line.endswith("\\"):
            before = line[:-1]
            continue
        found = COMMAND.match(line)
        if found and not NAMES.search(found.group(1)):
            print("%s:%d\t%s" % (path, n, found.group(1).strip()))
