#!/usr/bin/python3
"""hrun-calibrate report and show --plot, on logs that are written here: three sub-clusters, runs on several of them,
failed runs, and texts that try to be more than text. TAP on standard output; HRUN_BUILD is the folder of built
files."""
import html
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


def source(name):
    with open(path(name), encoding="utf-8") as f:
        return f.read()


def parse(name):
    """The document in a page."""
    return json.loads(source(name).split('id="data">')[1].split("</script>")[0], parse_constant=lambda c: 1 / 0)


def shown(name):
    """What the script of a page shows."""
    r = subprocess.run(["node", os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.js"), path(name)],
                       capture_output=True, text=True)
    return json.loads(r.stdout) if ok(r.returncode == 0, "the script of %s runs %s" % (name, r.stderr[-500:])) else None


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

    # ------------------------------------------------------------ the page
    r = run("report", "lu", "-o", "alone.html", env=dict(env, PATH=path("nothing")))
    ok(r.returncode == 0 and not r.stdout and not r.stderr, "a page is made without gnuplot %s" % r.stderr)
    page, d = source("alone.html"), parse("alone.html")
    ok(not re.search("(?i)https?:|//[a-z]|url\\(|@import|<link|<img|<iframe|<object| src=| href=", page) and
       "default-src 'none'" in page, "nothing is fetched")
    ok(page.count("<script") == 2 and page.count("</script>") == 2 and "<b>LU" not in page and "@TEXT@" not in page,
       "texts of logs and definitions do not become elements")
    ok(d["title"].startswith("lu: <b>LU</b> & co") and d["subclusters"][1]["name"] == NASTY and
       "<i>exit</i> 3" in [run["status"] for run in d["runs"]], "and stand in the document as they are")
    ok(not os.path.exists(path("PWNED")), "nor are they run")
    plain = html.unescape(page.split("<noscript>")[1].split("</noscript>")[0])
    ok(all(word in plain for word in ("JavaScript", NASTY, "(4,2,0,0,0,0)", "npt/nnls", "Runs and what they cost")),
       "without JavaScript there are the tables")
    listed = sorted((v["date"], v["N"], v["P"], v["config"], v["time_s"] or 0) for v in d["runs"])
    wanted = sorted((v["date"], v["N"], v["P"], v["config"], v["time_s"]) for v in records)
    ok(len(listed) == len(wanted) and all(x[:4] == y[:4] and abs(x[4] - y[4]) <= 1e-8 * y[4]
       for x, y in zip(listed, wanted)), "every measurement is there with its time")
    ok(all(v["low_s"] <= v["fitted_s"] <= v["high_s"] and abs(v["fitted_s"] / v["time_s"] - 1) < 0.02 for v in d["runs"]
           if v["ok"]), "and what the models say of it")
    costs = {c["on"]: (c["runs"], c["failed"]) for c in d["costs"]}
    ok(costs["all"] == (len(records), 1) and costs["fast"] == (25, 1), "costs count all runs %s" % costs)
    of_show = json.loads(run("show", "lu", "--json").stdout)
    ok({p["signature"]: p["models"] for p in d["profiles"]} == {p["signature"]: p["models"] for p in of_show},
       "the models are those that show --json shows")
    # ------------------------------------------------------------ what the script makes of it
    figures = []
    if not shutil.which("node"):
        skip("the script of the page", "node is not installed")
    else:
        seen = shown("alone.html")
        figures = seen["figures"]
        ok(not seen["bad"], "each attribute and text has a value %s" % seen["bad"][:3])
        ok(len(figures) == len(set(figures)) == 18 and "Configurations at N = 1600" in figures and
           "Time over P: %s, 2 processes per PE" % NASTY in figures, "all plots are drawn %s" % figures)
        ok(len([row for row in seen["rows"] if row[0].startswith("2026-") and len(row) == 10]) == len(records),
           "all measurements are listed")
        ok("<i>exit</i> 3" in seen["words"] and "too few runs" in seen["words"], "as text")
        ok(["all", str(len(records)), "1"] in [row[:3] for row in seen["rows"]], "with what they cost")
    # ------------------------------------------------------------ epsilon and delta, by hand
    sizes = {v["N"]: v for v in d["sizes"]}
    ok(sorted(sizes) == list(SIZES) and all(v["chosen"] for v in sizes.values()), "a choice for each size %s" % sizes)
    recorded = [v["config"] for v in records]
    ok(sizes[1600]["chosen"] not in recorded and
       [sizes[1600][key] for key in ("measured_s", "delta", "epsilon")] == [None] * 3,
       "one that was never run has no errors")
    # All of fast and mid is predicted to take 1 % less time than what was run at N = 800, 6 % less at N = 1600; of
    # predictions that are right to 5 % the first is not worth leaving what is known.
    ok(sizes[800]["chosen"] == "(4,2,0,0,0,0)", "nor is it chosen for a little less time than what was run takes")
    r = run("report", "lu", "-o", "doubts.html", "-N", "800")
    plan = parse("doubts.html")["plan"]
    doubted = [v for v in plan["choices"] if v["config"] == sizes[1600]["chosen"]][0]
    ok(r.returncode == 0 and plan["chosen"] == plan["choices"][0]["config"] == "(4,2,0,0,0,0)" and doubted["doubted"] and
       0.95 < doubted["predicted_s"] / plan["predicted_s"] < 1 < doubted["ranked_s"] / plan["predicted_s"],
       "though it is shown as predicted %s" % doubted)
    if figures:
        behind = {row[0]: row[3] for row in shown("doubts.html")["rows"] if len(row) == 4}
        ok(behind["(4,2,0,0,0,0)"] == "chosen" and re.fullmatch(
            "-[0-4][.][0-9] % [(]less certain: ranked as [+][0-9.]+ %[)]", behind[sizes[1600]["chosen"]]),
           "and the page says so")
    chosen = {n: v["chosen"] for n, v in sizes.items()}
    for n in SIZES:
        config = [int(x) for x in chosen[n].strip("()").split(",")]
        add(n, config, time_s=2 * seconds(config, n))
        add(n, config, time_s=4 * seconds(config, n))
        add(n, config, time_s=9 * seconds(config, n))
    r = run("report", "-app", "lu", "-o", "alone.html", "-N", "800")
    ok(r.returncode == 0, "a report replaces the last %s" % r.stderr)
    d = parse("alone.html")
    ok(len(d["runs"]) == len(records), "a run on several sub-clusters is one run")
    ok(d["N"] == 800 and {v["config"] for v in d["measured"]} == {v["config"] for v in records
                                                                  if v["N"] == 800 and v["ok"]},
       "-N is the size of the landscape")
    known = 0
    for v in d["sizes"]:
        if v["measured_s"] is None:     # a choice that was never run
            continue
        known += 1
        runs = {}
        for run_ in records:
            if run_["N"] == v["N"] and run_["ok"]:
                runs.setdefault(run_["config"], []).append(run_["time_s"])
        medians = {config: statistics.median(times) for config, times in runs.items()}
        actual, best = medians[v["chosen"]], min(medians.values())
        ok(abs(v["epsilon"] - (actual / best - 1)) < 1e-6 and not v["exact"],
           "N = %d: epsilon of the median run, a lower bound %s" % (v["N"], v["epsilon"]))
        ok(abs(v["delta"] - (v["predicted_s"] / actual - 1)) < 1e-6, "N = %d: delta %s" % (v["N"], v["delta"]))
    ok(known, "some choice was run")

    # ------------------------------------------------------------ a cluster that was calibrated before
    first, SUBS[0] = SUBS[0], ("lone", "lone.1c-44444444-ompi", 1.0, 1)
    add(400, alone(0, 1, 1), cluster="lone", signatures=SUBS[0][1], config="(1,1)", date="2026-11-19T10:00:00Z")
    SUBS[0] = first
    records.pop()
    r = run("report", "lu", "-o", "lone.html")
    ok(r.returncode == 0 and "not shown: lone.1c-44444444-ompi\n" in r.stderr,
       "what is not shown is told %s" % r.stderr)
    ok(parse("lone.html")["others"] == ["lone.1c-44444444-ompi"], "and stands in the page")
    r = run("report", "lu", "-q", "-o", "lone.html")
    ok(r.returncode == 0 and not r.stderr, "-q is silent")

    # ------------------------------------------------------------ without gnuplot
    without = path("without")
    os.mkdir(without)
    r = run("report", "lu", "-o", "x.pdf", env=dict(env, PATH=without))
    ok(one_error(r, "apt-get install gnuplot-nox") and not os.path.exists(path("x.pdf")),
       "without gnuplot there are no images, and it says what to install %s" % r.stderr)
    for name, script, words in (("fails", "cat >/dev/null; echo odd words >&2; exit 1", "odd words"),
                                ("dies", "kill -9 $$", "signal 9"), ("is silent", "cat >/dev/null", "says nothing"),
                                ("reads nothing", "exec <&-; echo no >&2; exit 2", "no")):
        fake = path("fake")
        os.makedirs(fake, exist_ok=True)
        with open(os.path.join(fake, "gnuplot"), "w") as f:
            f.write("#!/bin/sh\n%s\n" % script)
        os.chmod(os.path.join(fake, "gnuplot"), 0o755)
        r = run("report", "lu", "-o", "x.pdf", env=dict(env, PATH=fake + ":" + env["PATH"]))
        ok(one_error(r, words) and not os.path.exists(path("x.pdf")),
           "a gnuplot that %s is told %s" % (name, r.stderr))

    # ------------------------------------------------------------ images
    if not shutil.which("gnuplot"):
        skip("images", "gnuplot is not installed (gnuplot-nox)")
    else:
        r = run("report", "lu", "-q", "-o", "r.pdf")
        with open(path("r.pdf"), "rb") as f:
            head = f.read(5)
        ok(r.returncode == 0 and head == b"%PDF-" and not r.stderr, "a PDF %s" % r.stderr)
        r = run("report", "lu", "-o", "plot.png", "-N", "1600")
        named = [line.split()[0] for line in r.stdout.splitlines()]
        made = sorted(name for name in os.listdir(top) if name.startswith("plot-"))
        magic = [open(path(name), "rb").read(8) for name in made]
        ok(r.returncode == 0 and sorted(named) == made and len(made) == 18 and set(magic) == {b"\x89PNG\r\n\x1a\n"} and
           "Measured against fitted" in r.stdout, "a PNG for each plot, each named %s" % r.stderr)
        ok(not os.path.exists(path("PWNED")), "whatever names say")

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
    rows = parse("tiny.html")["sizes"]
    ok(len(rows) == 3 and all(v["recorded"] == v["valid"] == 2 and v["exact"] and v["epsilon"] == 0 for v in rows),
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
    d = parse("priced.html")
    t = d["tradeoffs"]["cost"]
    price = [float(re.search("cost_per_hour: ([0-9.]+)", more).group(1)) / 3600 for more in prices.values()]

    def cost(v):
        return sum(p * pes for p, pes in zip(price, map(int, v["config"].strip("()").split(",")[::2]))) * v["predicted_s"]

    front = [(v["predicted_s"], v["value"]) for v in t["front"]]
    ok(r.returncode == 0 and all(abs(cost(v) / v["value"] - 1) < 1e-6 for v in t["choices"] + t["front"]),
       "with prices there is time against cost %s" % r.stderr)
    ok(len(front) > 2 and front == sorted(front) and not any(v["predicted_s"] < a and cost(v) < b * (1 - 1e-9)
       for a, b in front for v in d["plan"]["choices"]), "nothing is both quicker and cheaper than the front")
    ok(t["front"][0]["config"] == "(4,1,3,1,0,0)" and re.fullmatch(r"\(0,0,0,0,1,[12]\)", t["front"][-1]["config"]),
       "which goes from the quickest to the cheapest %s" % t["front"])
    ok(d["tradeoffs"]["energy"] is None, "and where a power is missing no energy")
    if figures:
        seen = shown("priced.html")
        ok("Time against cost at N = 1600" in seen["figures"] and "Time against energy at N = 1600" not in seen["figures"]
           and "The quickest is (4,1,3,1,0,0), the cheapest within 10 % of its time (" in seen["words"],
           "the page shows it")
    r = run("report", "priced", "-o", "priced.html")
    ok(parse("priced.html")["tradeoffs"]["cost"] is None and not r.stderr, "without a cluster file there is neither")
    with open(path("c.yaml"), "w") as f:
        f.write("subclusters:\n" + entry % ("fast", "fast", prices["fast"]))
    r = run("report", "priced", "-o", "priced.html", "--cluster", "c.yaml")
    ok(r.returncode == 0 and "no price and no power of sub-cluster mid" in r.stderr and
       parse("priced.html")["tradeoffs"]["cost"] is None, "a sub-cluster without a price is not free %s" % r.stderr)
    shutil.rmtree(os.path.join(data, "profiles", "priced"))

    # ------------------------------------------------------------ nothing to draw, and models that cannot be used
    add(100, alone(0, 1, 1), app="jacobi", ok=False, status="exit 1", time_s=0)
    shutil.copy("tests/apps/jacobi.yaml", path("profiles"))
    r = run("report", "jacobi", "-o", "few.html")
    ok(r.returncode == 0 and parse("few.html")["runs"][0]["status"] == "exit 1", "failed runs alone are a report, too %s" % r.stderr)
    ok(one_error(run("report", "-o", "x.html"), "jacobi, lu, tiny"), "of several applications one is to be named")
    r = run("report", "lu", "-o", "x.html", "-D", "nb=3")
    ok(one_error(r, "nb"), "constants are those of the definition")

    # ------------------------------------------------------------ numbers that no cluster has
    add(400, alone(0, 1, 1), app="fft")
    add(400, alone(0, 1, 2147483647), app="fft")
    add(400, [2, 1, 1, 1, 0, 0], app="fft", config="(2000000000,2000000000,2000000000,2000000000,0,0)")
    shutil.copy("tests/apps/fft.yaml", path("profiles"))
    r = run("report", "fft", "-o", "odd.html", timeout=120)
    ok(r.returncode == 0 and 2147483647 in [v["P"] for v in parse("odd.html")["runs"]],
       "odd numbers in a log are a report, too %s" % r.stderr)
    if figures:
        ok(not shown("few.html")["bad"] and not shown("odd.html")["bad"], "which can be drawn")
finally:
    shutil.rmtree(top)
done()
