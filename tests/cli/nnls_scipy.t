#!/usr/bin/python3
"""Peer test: hrun's NNLS against SciPy's on the same random problems (residual norms; coefficients where unique).

TAP on standard output. HRUN_BUILD (default "build") is the folder of built files. Without SciPy the test is skipped;
in continuous integration (CI=true), where bootstrap has installed it, that is a failure."""
import os
import subprocess
import sys

try:
    import numpy as np
    from scipy.optimize import nnls
except ImportError:
    # SciPy is the other one to compare with, for this test alone; bootstrap installs it.
    if os.environ.get("CI") == "true":
        print("1..1\nnot ok 1 - python3-scipy is not installed")
        sys.exit(1)
    print("1..0 # SKIP python3-scipy is not installed")
    sys.exit(0)

binary = os.path.join(os.environ.get("HRUN_BUILD", "build"), "tests/unit/test_fit_nnls")
rng = np.random.default_rng(20110)


def problems():
    for t in range(300):
        p = int(rng.integers(1, 13))
        n = int(rng.integers(max(1, p - 3), 60))
        kind = t % 5
        a = rng.standard_normal((n, p)) if kind < 2 else rng.random((n, p))
        b = rng.standard_normal(n) if kind != 3 else a @ np.maximum(rng.standard_normal(p), 0.01)
        if kind == 1 and p > 2:
            a[:, p - 1] = a[:, 0] + a[:, 1]
        if kind == 4:                       # the ten terms of paper 000, Table V (HPL), relative weights
            N = np.tile([400, 800, 1600, 2400, 3200, 4800, 6400, 8000, 9600], 7).astype(float)
            P = np.repeat(np.arange(2, 9), 9).astype(float)
            a = np.stack([N**3 / P, N**2 / P, N / P, 1 / P, P * N**2, P * N, P, N**2, N, N**0], axis=1)
            T = (1e-9 * N**3 / P + 1e-7 * N**2 + 0.05) * (1 + 0.02 * rng.standard_normal(63))
            a, b = a / T[:, None], T / T
            scale = np.linalg.norm(a, axis=0)   # SciPy does not scale columns by itself
            a = a / scale
        yield kind, a, b


cases = list(problems())
text = "".join("%d %d\n" % a.shape + "".join(" ".join("%.17g" % v for v in (*row, y)) + "\n" for row, y in zip(a, b))
               for _, a, b in cases)
run = subprocess.run([binary, "solve"], input=text, capture_output=True, text=True)
print("1..4")


def ok(number, good, what):
    print("%s %d - %s" % ("ok" if good else "not ok", number, what))
    return good


lines = run.stdout.splitlines()
good = ok(1, run.returncode == 0 and len(lines) == len(cases), "all %d problems are solved %s" % (len(cases), run.stderr))
norms, coefs, kkts, compared = 0.0, 0.0, 0.0, 0
for (kind, a, b), line in zip(cases, lines):
    *k, norm, kkt = map(float, line.split())
    want, wnorm = nnls(a, b)
    size = np.linalg.norm(b)
    norms = max(norms, abs(norm - wnorm) / size)
    kkts = max(kkts, kkt)
    if kind in (0, 2) and a.shape[0] >= a.shape[1]:
        coefs = max(coefs, np.max(np.abs(want - k)) / (1 + np.max(want)))
        compared += 1
good &= ok(2, norms < 1e-9, "residual norms agree within %.1e of the right side" % norms)
good &= ok(3, compared > 80 and coefs < 1e-7, "coefficients of %d well-posed problems agree within %.1e" % (compared, coefs))
good &= ok(4, kkts < 1e-10, "Kuhn-Tucker conditions hold within %.1e" % kkts)
sys.exit(0 if good else 1)
