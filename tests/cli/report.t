#!/usr/bin/python3
"""hrun-calibrate report and show --plot, on logs that are written here: three sub-clusters, runs on several of them,
failed runs, and texts that try to be more than text. TAP on standard output; HRUN_BUILD is the folder of built
files."""
import html.parser
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import zlib

build = os.path.abspath(os.environ.get("HRUN_BUILD", "build"))
top = tempfile.mkdtemp(prefix="hrun-report.")
calibrate = os.path.join(build, "bin/hrun-calibrate")
data = os.path.join(top, "data")
env = dict(os.environ, HRUN_DATA=data, HRUN_PROFILE_PATH=os.path.join(top, "profiles"), HOME=top, LC_ALL="C.UTF-8")
count = failed = 0


def ok(good, what):
    global count, failed
    count += 1
    failed += not good
    print("%s %d - %s" % ("ok" if good else "not ok", count, what.strip()), flush=True)
    return good


def skip(what, why):
    global count
    count += 1
    print("ok %d - %s # SKIP %s" % (count, what, why), flush=True)


def done():
    print("1..%d" % count)
    sys.exit(1 if failed else 0)


def run(*args, **more):
    more.setdefault("env", env)
    return subprocess.run([calibrate] + list(args), capture_output=True, text=True, cwd=top, stdin=subprocess.DEVNULL,
                          **more)


def one_error(r, text):
    return r.returncode == 125 and not r.stdout and r.stderr.count("\n") == 1 and text in r.stderr


def path(name):
    return os.path.join(top, name)


# ---------------------------------------------------------------- measurements

NASTY = "x</title><script>alert(1)</script>'`touch PWNED`\"&$(id)@"
SUBS = [("fast", "fast.8c-11111111-ompi", 1.0, 4), (NASTY, "mid.4c-22222222-ompi", 1.62, 3),
        ("slow", "slow.2c-33333333-ompi", 3.1, 2)]
SIZES = (400, 800, 1600)
records = []


def seconds(config, n):
    procs = sum(p * m for p, m in zip(config[::2], config[1::2]))
    return max(SUBS[i][2] * 2e-9 * n ** 3 / procs * (1 + 0.1 * (config[2 * i + 1] - 1)) + 1e-5 * n + 1e-3 * procs
               for i in range(3) if config[2 * i])


def add(n, config, /, app="lu", **over):
    """A run; its time is like no other's, so that it can be found."""
    used = [i for i in range(3) if config[2 * i]]
    record = dict(N=n, P=sum(p * m for p, m in zip(config[::2], config[1::2])), app=app, consts="", engine="mpirun",
                  cluster=",".join(s[0] for s in SUBS), config="(%s)" % ",".join(map(str, config)), host="head",
                  date="2026-11-20T10:%02d:%02dZ" % (len(records) // 60, len(records) % 60), mixed=len(used) > 1,
                  mpi="ompi-4.1.4", ok=True, origin="calibration", program="/opt/lu", status="ok", version="0.1.0", v=2,
                  signatures=",".join(s[1] for s in SUBS), limits="", compute_s=0, mpi_s=0, trace="",
                  time_s=seconds(config, n) * (1 + 1e-3 * (len(records) % 7)))
    record["wall_s"] = record["time_s"] + 0.5
    record.update(over)
    records.append(record)
    folder = os.path.join(data, "profiles", app)
    os.makedirs(folder, exist_ok=True)
    for i in used:
        mine = dict(record, M=config[2 * i + 1], pes=config[2 * i], signature=SUBS[i][1])
        text = json.dumps(mine, sort_keys=True, separators=(",", ":"))
        with open(os.path.join(folder, SUBS[i][1] + ".log"), "a") as f:
            f.write("%s\t%08x\n" % (text, zlib.crc32(text.encode())))


def alone(i, pes, procs):
    config = [0] * 6
    config[2 * i:2 * i + 2] = [pes, procs]
    return config


def parse(name):
    """Text, attributes and tables of a page; elements must be closed in their order."""
    class Page(html.parser.HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.text, self.bad, self.ids, self.attrs, self.rows = [], [], [], [], [], []

        def handle_starttag(self, tag, attrs):
            self.attrs += attrs
            self.ids += [v for k, v in attrs if k == "id"]
            if tag == "tr":
                self.rows.append([])
            if tag in ("td", "th"):
                self.rows[-1].append("")
            if not self.get_starttag_text().endswith("/>"):
                self.open.append(tag)

        def handle_startendtag(self, tag, attrs):
            self.handle_starttag(tag, attrs)

        def handle_endtag(self, tag):
            if not self.open or self.open.pop() != tag:
                self.bad.append(tag)

        def handle_data(self, text):
            self.text.append(text)
            if self.open and self.open[-1] in ("td", "th"):
                self.rows[-1][-1] += text

    page = Page()
    with open(path(name), encoding="utf-8") as f:
        page.source = f.read()
    page.feed(page.source)
    page.close()
    page.words = "".join(page.text)
    return page


def small(v):
    """Seconds as they are printed."""
    return "%.3g" % (v if v >= 1 else v * 1e3)


try:
    os.mkdir(path("profiles"))
    with open("tests/apps/lu.yaml") as f:
        definition = f.read()
    with open(path("profiles/lu.yaml"), "w") as f:
        f.write(definition.replace("title: LU", "title: <b>LU</b> & co"))
    for n in SIZES:
        for i in range(3):
            for procs in (1, 2):
                for pes in range(1, SUBS[i][3] + 1):
                    add(n, alone(i, pes, procs))
    add(800, alone(0, 2, 1), ok=False, status="<i>exit</i> 3", time_s=0)

    # ------------------------------------------------------------ what is wrong with the words
    ok(one_error(run("report", "lu"), "-o FILE.html"), "without -o it says what to type")
    ok(one_error(run("report", "lu", "-o", "x.txt"), "FILE.html, FILE.pdf or FILE.png"), "an unknown kind of file")
    ok(one_error(run("report", "lu", "-o", "d/.html"), "FILE.html"), "a suffix is no name")
    ok(one_error(run("report", "lu", "fem", "-o", "x.html"), "one application"), "two applications")
    ok(one_error(run("report", "-app", "fem", "lu", "-o", "x.html"), "one application"), "two applications, one by -app")
    ok(one_error(run("report", "lu", "-o", "x.html", "-N", "many"), "-N"), "a size that is none")
    ok(one_error(run("report", "hpl", "-o", "x.html"), "no measurement of hpl"), "an application without measurements")

    # ------------------------------------------------------------ without gnuplot
    without = path("without")
    os.mkdir(without)
    r = run("report", "lu", "-o", "x.html", env=dict(env, PATH=without))
    ok(one_error(r, "apt-get install gnuplot-nox") and not os.path.exists(path("x.html")),
       "without gnuplot it says what to install %s" % r.stderr)
    for name, script, words in (("fails", "cat >/dev/null; echo odd words >&2; exit 1", "odd words"),
                                ("dies", "kill -9 $$", "signal 9"), ("is silent", "cat >/dev/null", "says nothing"),
                                ("reads nothing", "exec <&-; echo no >&2; exit 2", "no"),
                                ("draws no SVG", "cat >/dev/null; echo hello", "no SVG")):
        fake = path("fake")
        os.makedirs(fake, exist_ok=True)
        with open(os.path.join(fake, "gnuplot"), "w") as f:
            f.write("#!/bin/sh\n%s\n" % script)
        os.chmod(os.path.join(fake, "gnuplot"), 0o755)
        r = run("report", "lu", "-o", "x.html", env=dict(env, PATH=fake + ":" + env["PATH"]))
        ok(one_error(r, words) and not os.path.exists(path("x.html")),
           "a gnuplot that %s is told %s" % (name, r.stderr))

    # ------------------------------------------------------------ text in the terminal
    r = run("show", "lu", "--plot")
    ok(r.returncode == 0 and "time over N" in r.stdout and "a P=1" in r.stdout and "\u2502" in r.stdout,
       "show --plot draws times over N")
    ok("fitted" not in r.stdout, "without models there are no curves")
    ok("\u00b7 fitted" not in run("show", "lu").stdout and "time over N" not in run("show", "lu").stdout,
       "without a terminal nothing is drawn unasked")
    run("fit", "lu")
    r = run("show", "lu", "--plot", env=dict(env, LC_ALL="C"))
    drawn = [line for line in r.stdout.splitlines() if re.search("[|+]", line)]
    ok(". fitted" in r.stdout and r.stdout.isascii() and drawn and max(map(len, drawn)) <= 80,
       "in the C locale it is ASCII, in 80 columns")
    plain = run("show", "lu", "--json")
    ok(json.loads(plain.stdout) and "fitted |" not in plain.stdout, "--json stays JSON")
    r = subprocess.run(["script", "-qec", "stty cols 60; %s show lu" % calibrate, "/dev/null"], env=env, cwd=top,
                       text=True, capture_output=True, stdin=subprocess.DEVNULL)
    drawn = [line for line in r.stdout.splitlines() if re.search("[\u2502\u2524]", line)]
    ok(drawn and max(map(len, drawn)) <= 60, "on a terminal it is drawn in its width")

    # gnuplot is optional: without it there are no pages, and what it says then is tested above.
    if not shutil.which("gnuplot"):
        skip("pages and plots", "gnuplot is not installed (gnuplot-nox)")
        done()

    # ------------------------------------------------------------ the page
    r = run("report", "lu", "-o", "alone.html")
    ok(r.returncode == 0 and not r.stdout and not r.stderr, "a report is made %s" % r.stderr)
    page = parse("alone.html")
    ok(not page.bad and not page.open, "elements are closed in their order %s" % (page.bad or page.open))
    if shutil.which("xmllint"):
        x = subprocess.run(["xmllint", "--noout", path("alone.html")], capture_output=True, text=True)
        ok(x.returncode == 0, "the page is well-formed %s" % x.stderr[:500])
    ok(len(page.ids) == len(set(page.ids)) and page.source.count("<svg") >= 10, "each id stands once, over many plots")
    ok(not re.search("(?i)https?:|//[a-z]|url\\(|@import|<script|<link|<img|<iframe|<object", page.source),
       "nothing is fetched or run")
    ok(not any(k.startswith("on") or k == "src" or (k.endswith("href") and not v.startswith("#"))
               for k, v in page.attrs), "links stay in the page")
    ok(not re.search(r"rgb\(", page.source), "every colour follows light and dark")
    ok(NASTY in page.words and "<b>LU</b> & co" in page.words and "<i>exit</i> 3" in page.words,
       "texts of logs and definitions are shown as they are")
    ok(not os.path.exists(path("PWNED")), "and never run")
    rows = [row for row in page.rows if row and row[0].startswith("2026-")]
    ok(len(rows) == len(records), "every measurement is listed: %d of %d" % (len(rows), len(records)))
    listed = {(row[0], int(row[1]), int(row[2]), row[3], row[5].split()[0]) for row in rows}
    wanted = {(d["date"], d["N"], d["P"], d["config"], small(d["time_s"]) if d["ok"] else "-") for d in records}
    same = {(a, b, c, e) for a, b, c, e, _ in listed} == {(a, b, c, e) for a, b, c, e, _ in wanted}
    off = [(x, y) for x, y in zip(sorted(listed), sorted(wanted))
           if x[4] != y[4] and abs(float(x[4]) / float(y[4]) - 1) > 0.006]
    ok(same and not off, "with its time %s" % off[:2])
    costs = {row[0]: row for row in page.rows if len(row) == 5}
    ok(costs["all"][1:3] == [str(len(records)), "1"] and costs["fast"][1:3] == ["25", "1"], "costs count all runs")
    # ------------------------------------------------------------ epsilon and delta, by hand
    chosen = {}
    for row in page.rows:
        if len(row) == 9 and row[0].isdigit():
            chosen[int(row[0])] = row[2]
    ok(sorted(chosen) == list(SIZES), "a choice for each size %s" % chosen)
    unknown = [row for row in page.rows if len(row) == 9 and row[0] == "1600"][0]
    recorded = [d["config"] for d in records]
    ok(chosen[1600] not in recorded and [unknown[i] for i in (4, 5, 8)] == ["-"] * 3,
       "one that was never run has no errors")
    # All of fast and mid is predicted to take 1 % less time than what was run at N = 800, 6 % less at N = 1600; of
    # predictions that are right to 5 % the first is not worth leaving what is known.
    ok(chosen[800] == "(4,2,0,0,0,0)", "nor is it chosen for a little less time than what was run takes")
    r = run("report", "lu", "-o", "doubts.html", "-N", "800")
    behind = {row[0]: row[3] for row in parse("doubts.html").rows if len(row) == 4}
    ok(r.returncode == 0 and behind["(4,2,0,0,0,0)"] == "chosen" and
       re.fullmatch("-[0-4][.][0-9] % [(]less certain: ranked as [+][0-9.]+ %[)]", behind[chosen[1600]]), "though it is shown as predicted %s" % behind)
    for n in SIZES:
        config = [int(x) for x in chosen[n].strip("()").split(",")]
        add(n, config, time_s=2 * seconds(config, n))
        add(n, config, time_s=4 * seconds(config, n))
        add(n, config, time_s=9 * seconds(config, n))
    r = run("report", "-app", "lu", "-o", "alone.html", "-N", "800")
    ok(r.returncode == 0, "a report replaces the last %s" % r.stderr)
    page = parse("alone.html")
    ok(len([row for row in page.rows if row and row[0].startswith("2026-")]) == len(records),
       "a run on several sub-clusters is one run")
    ok("Configurations at N = 800" in page.words, "-N is the size of the landscape")
    for row in page.rows:
        if len(row) != 9 or not row[0].isdigit():
            continue
        n = int(row[0])
        if row[8] == "-":           # a choice that was never run
            continue
        actual = statistics.median(d["time_s"] for d in records if d["N"] == n and d["ok"] and d["config"] == row[2])
        runs = {}
        for d in records:
            if d["N"] == n and d["ok"]:
                runs.setdefault(d["config"], []).append(d["time_s"])
        times = [statistics.median(v) for config, v in runs.items() if config != row[2]]
        predicted = float(row[3].split()[0]) * (1e-3 if row[3].endswith("ms") else 1)
        eps = 100 * (actual / min(times) - 1)
        told = re.fullmatch("(\u2265 )?(-?[0-9.]+) %", row[8])
        if actual <= min(times):
            eps = 0
        ok(told and abs(float(told.group(2)) - eps) < 0.06 and told.group(1),
           "N = %d: epsilon of the median run, a lower bound (%s, %.2f)" % (n, row[8], eps))
        delta = float(row[5].split()[0])
        ok(abs(delta - 100 * (predicted / actual - 1)) < 0.6, "N = %d: delta %s" % (n, row[5]))

    # ------------------------------------------------------------ a cluster that was calibrated before
    first, SUBS[0] = SUBS[0], ("lone", "lone.1c-44444444-ompi", 1.0, 1)
    add(400, alone(0, 1, 1), cluster="lone", signatures=SUBS[0][1], config="(1,1)", date="2026-11-19T10:00:00Z")
    SUBS[0] = first
    records.pop()
    r = run("report", "lu", "-o", "lone.html")
    ok(r.returncode == 0 and "not shown: lone.1c-44444444-ompi\n" in r.stderr,
       "what is not shown is told %s" % r.stderr)
    ok("1 other profile is not shown: lone.1c-44444444-ompi." in parse("lone.html").words, "and stands in the page")
    r = run("report", "lu", "-q", "-o", "lone.html")
    ok(r.returncode == 0 and not r.stderr, "-q is silent")

    # ------------------------------------------------------------ other kinds of files
    r = run("report", "lu", "-o", "r.pdf")
    with open(path("r.pdf"), "rb") as f:
        head = f.read(5)
    ok(r.returncode == 0 and head == b"%PDF-", "a PDF %s" % r.stderr)
    r = run("report", "lu", "-o", "plot.png")
    named = [line.split()[0] for line in r.stdout.splitlines()]
    made = sorted(name for name in os.listdir(top) if name.startswith("plot-"))
    magic = [open(path(name), "rb").read(8) for name in made]
    ok(r.returncode == 0 and sorted(named) == made and len(made) == page.source.count("<svg") and
       set(magic) == {b"\x89PNG\r\n\x1a\n"}, "a PNG for each plot, each named %s" % r.stderr)

    # ------------------------------------------------------------ what cannot be written
    ok(one_error(run("report", "lu", "-o", "no/folder/r.html"), "no/folder"), "a folder that does not exist")
    before = os.listdir(top)
    with open(path("old.html"), "w") as f:
        f.write("old")
    r = subprocess.run(["bash", "-c", "ulimit -f 8; exec %s report lu -o old.html" % calibrate], env=env, cwd=top,
                       text=True, capture_output=True, stdin=subprocess.DEVNULL)
    with open(path("old.html")) as f:
        ok(one_error(r, "old.html") and f.read() == "old", "a full disk leaves the old report %s" % r.stderr)
    ok(sorted(os.listdir(top)) == sorted(before + ["old.html"]), "and nothing else")

    # ------------------------------------------------------------ all that there is to choose from
    with open(path("profiles/tiny.yaml"), "w") as f:
        f.write(definition.replace("name: lu", "name: tiny").replace("procs_per_pe: [1, 2]", "procs_per_pe: [1]"))
    for n in SIZES:
        for pes in (1, 2):
            add(n, alone(2, pes, 1), app="tiny")
    run("fit", "tiny")
    run("report", "tiny", "-o", "tiny.html")
    rows = [row for row in parse("tiny.html").rows if len(row) == 9 and row[0].isdigit()]
    ok(len(rows) == 3 and all(row[1] == "2 of 2" and row[8] == "0.0 %" for row in rows),
       "where all valid configurations were run epsilon is exact %s" % rows[:1])

    # ------------------------------------------------------------ prices and powers
    with open(path("profiles/priced.yaml"), "w") as f:
        f.write(definition.replace("name: lu", "name: priced"))
    for n in SIZES:
        for i in range(3):
            for pes in range(1, SUBS[i][3] + 1):
                add(n, alone(i, pes, 1), app="priced", cluster="fast,mid,slow")
    run("fit", "priced")
    entry = "  - {name: %s, hosts: '%s[1-9]', level: node, cores: 1%s}\n"
    prices = {"fast": ", cost_per_hour: 3, power_w: 200", "mid": ", cost_per_hour: 0.9", "slow": ", cost_per_hour: 0.1"}
    with open(path("c.yaml"), "w") as f:
        f.write("subclusters:\n" + "".join(entry % (name, name, more) for name, more in prices.items()))
    r = run("report", "priced", "-o", "priced.html", "--cluster", "c.yaml")
    words = parse("priced.html").words
    ok(r.returncode == 0 and "Time against cost at N = 1600" in words and "nothing is both quicker and cheaper than the"
       in words, "with prices there is time against cost %s" % r.stderr)
    marked = {k: c for k, c in re.findall(r"(quickest is|within 10 % of its time|the cheapest) (\([0-9,]+\))", words)}
    ok(sorted(marked) == ["quickest is", "the cheapest", "within 10 % of its time"] and
       re.fullmatch(r"\(0,0,0,0,1,[12]\)", marked["the cheapest"]) and
       marked["quickest is"] == "(4,1,3,1,0,0)",
       "the quickest, the cheapest and one between them are named %s" % marked)
    ok("Time against energy" not in words, "and where a power is missing no energy")
    r = run("report", "priced", "-o", "priced.html")
    ok("Time against" not in parse("priced.html").words and not r.stderr, "without a cluster file there is neither")
    with open(path("c.yaml"), "w") as f:
        f.write("subclusters:\n" + entry % ("fast", "fast", prices["fast"]))
    r = run("report", "priced", "-o", "priced.html", "--cluster", "c.yaml")
    ok(r.returncode == 0 and "no price and no power of sub-cluster mid" in r.stderr and "Time against" not in
       parse("priced.html").words, "a sub-cluster without a price is not free %s" % r.stderr)
    shutil.rmtree(os.path.join(data, "profiles", "priced"))

    # ------------------------------------------------------------ nothing to draw, and models that cannot be used
    add(100, alone(0, 1, 1), app="jacobi", ok=False, status="exit 1", time_s=0)
    shutil.copy("tests/apps/jacobi.yaml", path("profiles"))
    r = run("report", "jacobi", "-o", "few.html")
    ok(r.returncode == 0 and "exit 1" in parse("few.html").words, "failed runs alone are a report, too %s" % r.stderr)
    ok(one_error(run("report", "-o", "x.html"), "jacobi, lu, tiny"), "of several applications one is to be named")
    r = run("report", "lu", "-o", "x.html", "-D", "nb=3")
    ok(one_error(r, "nb"), "constants are those of the definition")

    # ------------------------------------------------------------ numbers that no cluster has
    add(400, alone(0, 1, 1), app="fft")
    add(400, alone(0, 1, 2147483647), app="fft")
    add(400, [2, 1, 1, 1, 0, 0], app="fft", config="(2000000000,2000000000,2000000000,2000000000,0,0)")
    shutil.copy("tests/apps/fft.yaml", path("profiles"))
    r = run("report", "fft", "-o", "odd.html", timeout=120)
    ok(r.returncode == 0 and "2147483647" in parse("odd.html").words, "odd numbers in a log are a report, too %s"
       % r.stderr)
finally:
    shutil.rmtree(top)
done()
