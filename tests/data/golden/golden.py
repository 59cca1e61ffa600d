#!/usr/bin/python3
"""Golden dry runs: what `hrun --dry-run` prints, as text and as JSON, in the cases of the table `cases` (see README).

golden.py          run all cases, print TAP with a diff for each that is not as expected
golden.py --new    write expected/ anew
golden.py NAME...  print what these cases give
"""
import concurrent.futures
import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib
from math import log, log2

HERE = os.path.dirname(os.path.abspath(__file__))
UNSTEADY = ("search_s", "looks", "yielding")    # keys of JSON: effort of the search, and a property of this kernel
SPEED = {"new": 4.0, "old": 1.0, "big": 3.0, "mid": 2.0, "low": 1.0, "a": 2.0, "b": 1.0}


class Run:
    """A folder with the files of the cases, and an environment that does not depend on this machine."""

    def __init__(self, folder, build):
        self.folder = os.path.join(folder, "work")
        flops = os.path.join(build, "tests/smpi/flops")
        self.smpi = os.access(os.path.join(build, "bin/hrun-smpi"), os.X_OK) and os.access(flops, os.X_OK)
        shutil.copytree(os.path.join(HERE, "files"), self.folder)
        shutil.copytree(os.path.join(HERE, "../topo"), os.path.join(self.folder, "topo"))
        for name in open(os.path.join(HERE, "programs")).read().split():
            path = os.path.join(self.folder, name)
            with open(path, "w") as f:
                f.write("#!/bin/sh\n")
            os.chmod(path, 0o755)
            os.utime(path, (1500000000, 1500000000))
        if self.smpi:
            os.symlink(flops, os.path.join(self.folder, "flops"))
        for name in ("home", "tmp"):
            os.mkdir(os.path.join(folder, name))
        bin = os.path.join(self.folder, "bin")
        self.env = {"PATH": ":".join((bin, os.path.join(build, "bin"), "/usr/bin:/bin")), "LC_ALL": "C",
                    "HOME": os.path.join(folder, "home"), "TMPDIR": os.path.join(folder, "tmp"), "COLUMNS": "80",
                    "HRUN_DATA": os.path.join(self.folder, "data"), "HRUN_LEDGER": "none",
                    "HRUN_PROFILE_PATH": os.path.join(self.folder, "defs")}
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        places = (folder, build, os.path.join(HERE, "../../.."))
        self.folders = {f(p) for p in places for f in (os.path.abspath, os.path.realpath)}

    def command(self, words, **more):
        p = subprocess.run(words, cwd=self.folder, env={**self.env, **more}, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
        return p.returncode, p.stdout.decode(), p.stderr.decode()

    def clean(self, text):
        """Without what differs from run to run: folders, ages, times of the search."""
        for folder in sorted(self.folders, key=len, reverse=True):
            text = text.replace(folder, "/...")
        text = re.sub(r"\b(mycode|x)-[0-9a-f]{8}\b", r"\1-########", text)
        text = re.sub(r'"age_s": [0-9.]+', '"age_s": "..."', text)
        text = re.sub(r"newest [0-9]+ [a-z]+ old", "newest ... old", text)
        return re.sub(r"(\d configurations: .*\))   [0-9.]+ [mu]?s", r"\1   ... s", text)


# ---------------------------------------------------------------- profiles

class Profile:
    """Made-up measurements of one application on the cluster of `words`."""

    def __init__(self, run, app, words, N=None, consts="", definition=None):
        self.run, self.app, self.consts, self.lines, self.serial = run, app, consts, {}, 0
        size = ["-N", str(N)] if N else []
        status, out, err = run.command(["hrun", "--dry-run", "--json", "-q", "-app", definition or app, *size,
                                        *words.split(), "./flops" if "--platform" in words else "./x"])
        if status:
            sys.exit("golden.py: %s: %s" % (app, err))
        plan = json.loads(out)
        self.engine, self.mpi = plan["engine"], plan["mpi"]
        self.subs = [s["name"] for s in plan["subclusters"]]
        self.signatures = [s["signature"] for s in plan["subclusters"]]

    def add(self, config, N, seconds, sub=None, **more):
        """One run of the configuration (P1, M1, P2, M2, ...): a record for each sub-cluster in it, or for `sub`."""
        used = [i for i in range(len(self.subs)) if config[2 * i]]
        P = sum(config[2 * i] * config[2 * i + 1] for i in used)
        self.serial += 1
        seconds *= 1 + 0.02 * (zlib.crc32(repr((self.app, config, N, self.serial)).encode()) / 2**32 - 0.5)
        for i in used if sub is None else [sub]:
            r = dict(v=5, app=self.app, signature=self.signatures[i], N=N, P=P, M=config[2 * i + 1], pes=config[2 * i],
                     time_s=seconds, wall_s=seconds, ok=True, mixed=len(used) > 1, status="ok", origin="calibration",
                     config="(%s)" % ",".join(map(str, config)), cluster=",".join(self.subs), consts=self.consts,
                     program="/opt/x", host="head", mpi=self.mpi, engine=self.engine, version="0.1.0",
                     date="2025-11-20T10:%02d:%02dZ" % divmod(self.serial, 60),
                     signatures=",".join(self.signatures) if len(self.subs) > 1 else "", limits="", compute_s=0.0,
                     mpi_s=0.0, trace="", work=0.0, copies=False, settings="", shares="")
            r.update(more)
            if not r["ok"]:
                r["time_s"] = r["wall_s"] = 0.0
            text = json.dumps(r, sort_keys=True, separators=(",", ":"))
            self.lines.setdefault(self.signatures[i], []).append("%s\t%08x\n" % (text, zlib.crc32(text.encode())))

    def write(self):
        path = os.path.join(self.run.env["HRUN_DATA"], "profiles", self.app)
        os.makedirs(path, exist_ok=True)
        for signature, lines in self.lines.items():
            with open(os.path.join(path, signature + ".log"), "a") as f:
                f.writelines(lines)
        self.lines = {}

    def alone(self, T, sizes, most, procs=(1,), **more):
        """Each sub-cluster alone, on 1 to most[i] PEs, with T(N, P, M, speed) seconds."""
        for i, n in enumerate(most):
            for pes in range(1, n + 1):
                for M in procs:
                    for N in sizes:
                        config = [0] * (2 * len(self.subs))
                        config[2 * i:2 * i + 2] = [pes, M]
                        self.add(config, N, T(N, pes * M, M, SPEED[self.subs[i]]), **more)

    def together(self, T, configs, sizes, **more):
        for config in configs:
            used = [i for i in range(len(self.subs)) if config[2 * i]]
            P = sum(config[2 * i] * config[2 * i + 1] for i in used)
            for N in sizes:
                self.add(config, N, max(T(N, P, config[2 * i + 1], SPEED[self.subs[i]]) for i in used), **more)


def lu_time(N, P, M, speed):
    return 2e-9 * N**3 / P * M / speed + (P > M) * (1e-8 * N * N + 1e-3 * P) + 0.01


def make_profiles(run):
    two, three = "--cluster two.yaml", "--cluster three.yaml"
    sizes = (400, 800, 1600, 3200)
    fits = ["lu", "ludrift", "lufails", "grid", "ring", "mesh", "planes", "duct", "threads", "farm", "both", "fft"]

    for app in ("lu", "ludrift", "lufails"):
        p = Profile(run, app, two, 1000)
        p.alone(lu_time, sizes, (2, 6), (1, 2))
        if app == "lu":
            p.together(lu_time, [(2, 1, 6, 1), (1, 1, 4, 1)], sizes)
        if app == "ludrift":
            p.together(lambda *a: 1.03 * lu_time(*a), [(2, 1, 6, 1)] * 10, (1600,), origin="run")
            p.together(lambda *a: 1.25 * lu_time(*a), [(2, 1, 6, 1)] * 7, (1600,), origin="run")
        if app == "lufails":
            p.together(lu_time, [(2, 2, 0, 0)] * 3, (1600,), origin="run", ok=False, status="exit 1")
        p.write()
    p = Profile(run, "lu", three, 1000)
    p.alone(lu_time, sizes, (8, 8, 4))
    p.write()
    if run.smpi:
        p = Profile(run, "lu", "--platform six.xml", 1000)
        p.alone(lu_time, sizes, (3, 3), (1, 2))
        p.write()

    p = Profile(run, "grid", two, 960, "nb=64")
    p.alone(lambda N, P, M, s: 1e-7 * N * N / P * M / s + 1e-6 * N * P**0.5 + 0.002 * P, (960, 1920, 3840), (2, 6),
            (1, 2))
    p.write()

    def ring_time(N, P, M, s):
        n, steps = N / P, P // 2
        return (2e-9 * (n * (n - 1) / 2 + steps * n * n) * M / s + steps * (5e-5 + 80 * n / 1e8)) 
    p = Profile(run, "ring", two, 2000, "")
    p.alone(ring_time, (2000, 4000, 8000), (2, 6), (1, 2, 4))
    p.write()

    p = Profile(run, "mesh", two, 4096, "levels=5")
    for N in (2048, 4096):
        for sub, pes, full in ((0, 2, N // 2), (1, 4, N // 6 // 16 * 16)):
            for np in (1, pes, 6 if sub else pes):
                for rows in (full, full // 2):
                    config = [0, 0, 0, 0]
                    config[2 * sub:2 * sub + 2] = [6 if np != 4 and sub else pes, 1]
                    s = SPEED[p.subs[sub]]
                    t = 1e-9 * N * rows * 30 / s + (np > 1) * (0.01 + 0.002 * log2(max(np, 1)) + 1e-6 * rows)
                    for _ in range(2):
                        p.add(config, N, t, work=float(rows), copies=np == 1)
    p.write()

    p = Profile(run, "planes", two, 144)

    def planes_time(N, W, s):
        return 3e-8 * N**3 * W / s + 2e-8 * N * N + 0.003
    p.alone(lambda N, P, M, s: planes_time(N, 1 / P, s / M), (96, 144, 192), (2, 6), (1, 2))
    for config in ((2, 1, 6, 1), (1, 1, 3, 1)):
        for shares in ((0.125,) * 2, (0.28, (1 - 0.56) / 6), (0.2, 0.1)):
            if config[0] * shares[0] + config[2] * shares[1] > 1.001:
                continue
            if config == (1, 1, 3, 1):
                shares = (0.25, 0.25) if shares[0] == shares[1] else (0.55, 0.15)
            for N in (96, 144, 192):
                t = max(planes_time(N, w, SPEED[n]) for w, n in zip(shares, p.subs))
                p.add(config, N, t, shares="" if shares[0] == shares[1] else "%.17g,%.17g" % shares)
    p.write()

    p = Profile(run, "duct", two)
    p.alone(lambda N, P, M, s: 12 / P * M / s + 0.05 * log(P) + 0.3, (1,), (2, 6), (1, 2))
    p.write()

    # no models: earlier runs alone
    p = Profile(run, "fixed", two, consts="threads:fill")
    for config, seconds in (((2, 1, 6, 1), 4.0), ((2, 1, 6, 1), 4.1), ((2, 1, 0, 0), 3.0), ((2, 1, 0, 0), 3.1)):
        p.add(config, 1, seconds, origin="run")
    p.write()

    p = Profile(run, "threads", two, 1000, "threads:fill")
    p.alone(lambda N, P, M, s: 8e-9 * N**3 / P * M / s / (4 if s > 2 else 2) * (1 + 0.1 / M) + 1e-8 * N * N + 1e-4 * P,
            (500, 1000, 2000), (2, 6), (1, 2, 4))
    p.write()

    # a process gets new work when it is free, so speeds add up
    p = Profile(run, "farm", two, 1000)
    p.alone(lambda N, P, M, s: 2e-7 * N * N / P / s + 0.01, (1000, 2000, 4000), (2, 6))
    for config in ((2, 1, 6, 1), (1, 1, 6, 1), (2, 1, 3, 1)):
        for N in (1000, 2000, 4000):
            p.add(config, N, 2e-7 * N * N / (4 * config[0] + config[2]) + 0.01)
    p.write()

    for variant, T in (("linear", lambda N, P, M, s: 1e-3 * N / P / s + 0.01 * P),
                       ("square", lambda N, P, M, s: 1e-5 * N * N / P / s + 0.02)):
        p = Profile(run, "both." + variant, two, 100, "variant:" + variant, "both." + variant)
        p.alone(T, (50, 100, 200, 400), (2, 6))
        p.write()

    p = Profile(run, "fft", two, 65536)
    p.alone(lambda N, P, M, s: 4e-8 * N * log(N) / P * M / s + 3 * (P - 1) * (16 * N / P / P / 1e8 + 1e-4),
            (65536, 262144, 1048576), (2, 4), (1, 2))
    p.write()
    for app in fits:
        status, out, err = run.command(["hrun-calibrate", "fit", app])
        if status:
            sys.exit("golden.py: hrun-calibrate fit %s: %s%s" % (app, out, err))


# ---------------------------------------------------------------- cases

def read_cases():
    """(name, environment, words) of each line of the table."""
    cases = []
    for line in open(os.path.join(HERE, "cases")):
        if not line.strip() or line.startswith("#"):
            continue
        name, *words = shlex.split(line)
        n = 0
        while re.match("[A-Za-z_]+=", words[n]):
            n += 1
        cases.append((name, dict(w.split("=", 1) for w in words[:n]), words[n:]))
    return cases


def rounded(value):
    if isinstance(value, float):
        return float("%.6g" % value)
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return {k: rounded(v) for k, v in value.items()} if isinstance(value, dict) else value


def compact(text):
    """JSON with a line for each key, and for each object of a list, whose keys stand once; keys with null together."""
    plan = rounded(json.loads(text))
    if isinstance(plan, list):
        return "".join(compact(json.dumps(p)) for p in plan)
    lines, none = [], []
    for key, value in plan.items():
        if key in UNSTEADY:
            continue
        if value is None:
            none.append(key)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append("%s: %s" % (key, " ".join(value[0])))
            lines += ["  " + json.dumps(list(v.values()))[1:-1] for v in value]
        else:
            lines.append("%s: %s" % (key, json.dumps(value)))
    return "\n".join(lines + ["null: " + " ".join(none)]) + "\n"


def say(run, case):
    """What the case prints: the command, text, errors and status, then JSON."""
    name, env, words = case
    env = {k: v.replace("@", run.folder) for k, v in env.items()}
    words = [run.folder + w[1:] if w.startswith("@") else w for w in words]
    dry = [] if any(w.startswith("--dry-run") or w == "--print-shares" for w in words) else ["--dry-run"]
    status, out, err = run.command(["hrun", *dry, *words], **env)
    shown = "%s%s" % (out, "".join("! " + line + "\n" for line in err.splitlines()))
    if status:
        return run.clean("%sstatus %d\n" % (shown, status))
    jstatus, jout, jerr = run.command(["hrun", *dry, "--json", *words], **env)
    shown += "-- JSON\n"
    shown += compact(jout) if jout[:1] in ("{", "[") else jout
    if jerr != err:
        shown += "".join("! " + line + "\n" for line in jerr.splitlines())
    return run.clean(shown + ("status %d\n" % jstatus if jstatus else ""))


def main():
    cases = read_cases()
    new = sys.argv[1:] == ["--new"]
    names = [] if new else sys.argv[1:]
    build = os.path.abspath(os.environ.get("HRUN_BUILD", "build"))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder, build)
        make_profiles(run)
        if names:
            cases = [c for c in cases if c[0] in names]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            got = pool.map(lambda c: say(run, c) if run.smpi or "--platform" not in c[2] else None, cases)
            got = list(zip(cases, got))
    if new:
        shutil.rmtree(os.path.join(HERE, "expected"), ignore_errors=True)
        os.mkdir(os.path.join(HERE, "expected"))
    for n, (case, text) in enumerate(got, 1):
        path = os.path.join(HERE, "expected", case[0])
        if new:
            with open(path, "w") as f:
                f.write(text)
        elif names:
            sys.stdout.write("== %s\n%s" % (case[0], text))
        elif text is None:
            failed |= os.environ.get("CI") == "true"
            print(("not ok %d - %s: %s" if failed else "ok %d - %s # SKIP %s") % (n, case[0], "SimGrid is not installed"))
        else:
            with open(path) as f:
                want = f.read()
            print("%sok %d - %s" % ("" if text == want else "not ", n, case[0]))
            if text != want:
                failed = 1
                sys.stderr.writelines("# " + line.rstrip("\n") + "\n" for line in difflib.unified_diff(
                    want.splitlines(1), text.splitlines(1), case[0] + " expected", "now"))
    if not new and not names:
        print("1..%d" % len(got))
    sys.exit(failed)


if __name__ == "__main__":
    main()
