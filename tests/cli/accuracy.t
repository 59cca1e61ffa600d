#!/bin/bash
# accuracy.t - the figures of tests/lab/accuracy on made-up times with known answers, and its gate; no lab is needed
. "$(dirname "$0")/tap.sh"

# py WHAT: the Python program on standard input ends without an exception
py() {
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$top/tests/lab run python3 -c "$(cat)" "$tmp"
    status_is 0 "$1"
}

py "medians and variation" <<'P'
from figures import median, variation
assert median([3.0, 1.0, 2.0]) == 2.0 and median([4.0, 1.0, 2.0, 3.0]) == 2.5
assert variation([1.0]) is None and variation([2.0, 2.0, 2.0]) == 0
assert abs(variation([0.9, 1.0, 1.1]) - 0.1) < 1e-12
P

py "2+2+2 PEs and Mi <= 2 are 124 configurations, all different" <<'P'
from figures import configurations, processes
v = configurations([2, 2, 2], 2)
assert len(v) == len(set(v)) == 124
assert "(2,2,2,2,2,2)" in v and "(0,0,0,0,1,2)" in v and "(0,0,0,0,0,0)" not in v
assert max(map(processes, v)) == 12 and processes("(2,1,0,0,1,2)") == 4
assert len(configurations([1, 3], 3)) == 4 * 10 - 1
P

py "epsilon, delta and speed-up where they are known" <<'P'
from figures import case
survey = {"a": [1.0, 1.0], "b": [1.2], "c": [3.0], "d": [9.0]}
final = {"a": [1.0, 0.98, 1.02], "b": [1.1, 1.1, 5.0], "c": [3.3, 3.3]}
k = case("lu", 100, survey, final, {"b": 0.99, "a": 1.5}, "b", {"all": "c", "absent": "z"})
assert k["best"] == "a" and k["configs"] == 4
assert abs(k["epsilon"] - 0.1) < 1e-12, k          # 1.1 against 1.0; the glitch of 5 s does not count
assert abs(k["delta"] + 0.1) < 1e-12, k            # 0.99 predicted, 1.1 actual
assert abs(k["speedup"]["all"] - 3.0) < 1e-12 and list(k["speedup"]) == ["all"]
k = case("lu", 100, survey, final, {"a": 1.5}, "a", {})
assert k["epsilon"] == 0 and abs(k["delta"] - 0.5) < 1e-12
P

py "a choice that was not measured is an error, not an epsilon of 0" <<'P'
from figures import case
try:
    case("lu", 100, {"a": [1.0]}, {"a": [1.0]}, {"z": 1.0}, "z", {})
except ValueError as e:
    assert "z was not measured" in str(e)
else:
    raise SystemExit(1)
P

py "real programs: epsilon beyond the noise, runs inside the interval, what users would type" <<'P'
from figures import real_case, seconds
assert abs(seconds("1 min 3.5 s with 2 processes") - 63.5) < 1e-9 and seconds("316 ms with 16 processes") == 0.316
d = {"predicted_s": 1.1, "predicted_low_s": 1.05, "predicted_high_s": 1.25, "yielding": None}
times = {"a": [1.0, 1.02, 0.98], "b": [1.2, 1.21, 1.3], "c": [9.0], "d": []}
k = real_case("hpl", 100, d, "b", times, {"quickest": "a", "all": "d", "by speed": "c"}, 60)
assert k["best"] == "a" and abs(k["epsilon"] - 0.21) < 1e-12 and (k["inside"], k["runs"]) == (2, 3)
assert 0.13 < k["epsilon_beyond"] < 0.18 and k["simple"] == "quickest" and abs(k["gain"] - 1 / 1.21) < 1e-12, k
assert real_case("hpl", 100, d, "a", times, {"all": "c"}, 60)["epsilon_beyond"] == 0
P

py "the final holds the choice, the defaults and the survey's best, each once" <<'P'
from figures import finalists
survey = {"a": [1.0], "b": [2.0], "c": [3.0], "d": [4.0], "e": [5.0]}
assert finalists(survey, "d", ["e", "cut off"], 2) == ["d", "e", "cut off", "a", "b"]
assert finalists(survey, "a", ["a"], 3) == ["a", "b", "c"]
P

# 200 trials of 124 equal configurations with 5 % noise: every choice is right, so epsilon is 0. The least of all
# survey times would say some 12 %; what is left after the final is little, and never below 0.
py "noise alone makes no false best" <<'P'
import random
from figures import case, finalists, median
r = random.Random(1)
naive, two = [], []
for trial in range(200):
    t = {"c%d" % i: [r.gauss(1, 0.05) for _ in range(2)] for i in range(124)}
    best = finalists(t, "c0", [], 3)
    final = {c: [r.gauss(1, 0.05) for _ in range(10)] for c in best}
    k = case("x", 1, t, final, {"c0": 1.0}, "c0", {})
    assert k["epsilon"] >= 0
    two.append(k["epsilon"])
    naive.append(median(t["c0"]) / min(map(median, t.values())) - 1)
mean = lambda v: sum(v) / len(v)
assert mean(naive) > 0.07 and mean(two) < 0.03, (mean(naive), mean(two))
P

py "means and worst values, delta by its size, speed-up as a geometric mean" <<'P'
from figures import report, summary
def k(app, n, eps, delta, gain):
    return {"app": app, "N": n, "configs": 124, "chosen": "(1,1)", "best": "(2,1)", "tau_s": 1.0, "best_s": 1.0,
            "predicted_s": 1.0, "epsilon": eps, "delta": delta, "variation": 0.01 * n, "speedup": {"all": gain}}
v = [k("lu", 1, 0.0, -0.2, 1.0), k("lu", 2, 0.04, 0.1, 4.0), k("fem", 3, 0.2, 0.0, 0.5)]
s = summary(v[:2])
assert abs(s["epsilon_mean"] - 0.02) < 1e-12 and s["epsilon_worst"] == 0.04
assert abs(s["delta_mean"] - 0.15) < 1e-12 and s["delta_worst"] == 0.2
assert s["speedup"]["all"] == {"mean": 2.0, "worst": 1.0, "best": 4.0} and abs(s["variation"] - 0.015) < 1e-12
lines = report(v).split("\n")
row = [l.split() for l in lines if l.startswith("  all ")][0]
assert row[1:4] == ["3", "8.0", "%"] and "20.0" in row, row
assert len([l for l in lines if l.startswith("  fem ")]) == 2
P

py "predicted against measured: the fastest and the choice, with the model's rank" <<'P'
from figures import compared
survey = {"(1,1)": [1.0], "(1,2)": [2.0], "(2,1)": [3.0], "(2,2)": [4.0]}
rows = [l.split() for l in compared(survey, {"(2,2)": 1.0, "(1,1)": 1.5}, "(2,2)", 2).split("\n")]
assert [r[0] for r in rows[1:]] == ["(1,1)", "(1,2)", "(2,2)"]
assert "50.0" in rows[1] and rows[1][-1] == "2" and rows[2][-1] == "-" and rows[3][1] == "chosen" and rows[3][-1] == "1"
P

# The gate: quotas stand while an application runs and only then, also when it dies.
py "the gate holds back and lets pass" <<'P'
import os, subprocess, sys, time
from gate import Gate
calls = []
g = Gate(os.path.join(sys.argv[1], "gate"), calls.append)
assert calls == [False]
lu = os.environ["HRUN_BUILD"] + "/tests/apps/lu" if "HRUN_BUILD" in os.environ else "build/tests/apps/lu"
out = subprocess.run([lu, "50,60", "--gate=" + g.path], stdout=subprocess.PIPE, text=True, check=True).stdout
assert "N=60 run 1: " in out
end = time.time() + 10
while len(calls) < 3 and time.time() < end:
    time.sleep(0.01)
assert calls == [False, True, False] and g.passed == 1, calls
p = subprocess.Popen([lu, "4000", "--gate=" + g.path], stdout=subprocess.DEVNULL)
while len(calls) < 4 and time.time() < end:
    time.sleep(0.01)
assert calls[3] is True
p.kill()
p.wait()
while len(calls) < 5 and time.time() < end:
    time.sleep(0.01)
assert calls[4] is False
g.check()
g.close()
assert not os.path.exists(g.path)
P

py "quotas that cannot be set fail the program at the gate and the measurement" <<'P'
import os, subprocess, sys
from gate import Gate
def limit(on):
    if on:
        raise RuntimeError("no quota")
g = Gate(os.path.join(sys.argv[1], "gate"), limit)
lu = os.environ["HRUN_BUILD"] + "/tests/apps/lu" if "HRUN_BUILD" in os.environ else "build/tests/apps/lu"
p = subprocess.run([lu, "50", "--gate=" + g.path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
assert p.returncode == 2 and "time:" not in p.stdout and "nobody answers at --gate=" in p.stderr, p
try:
    g.check()
except RuntimeError:
    raise SystemExit(0)
raise SystemExit(1)
P
done_testing
