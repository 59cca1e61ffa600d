#!/usr/bin/python3
"""Two that fit one profile at the same time: whoever stores last has read all measurements.

Another process holds the profile's lock while hrun-calibrate fit starts, adds measurements, and lets go: the models must
be of all of them. TAP on standard output. HRUN_BUILD (default "build") is the folder of built files."""
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

build = os.path.abspath(os.environ.get("HRUN_BUILD", "build"))
top = tempfile.mkdtemp(prefix="hrun-refit.")
APP, SIG = "lu", "cpu-a.4c-1f2e3d4c"
folder = os.path.join(top, "profiles", APP)
log, lock, models = (os.path.join(folder, SIG + end) for end in (".log", ".lock", ".yaml"))
env = dict(os.environ, HRUN_DATA=top, HRUN_PROFILE_PATH=os.path.abspath("tests/apps"))
count = failed = 0


def ok(good, what):
    global count, failed
    count += 1
    failed += not good
    print("%s %d - %s" % ("ok" if good else "not ok", count, what), flush=True)
    return good


def record(n, pes):
    seconds = 1e-9 * n ** 3 / pes + 1e-6 * n + 0.01
    text = json.dumps(dict(M=1, N=n, P=pes, app=APP, cluster="a", config="(%d,1)" % pes, consts="", engine="local",
                           date="2026-11-20T10:36:00Z", host="head", mixed=False, mpi="ompi-4.1.4", ok=True,
                           origin="calibration", pes=pes, program="/opt/lu", signature=SIG, status="ok",
                           time_s=seconds, v=1, version="0.1.0", wall_s=seconds), sort_keys=True, separators=(",", ":"))
    return "%s\t%08x\n" % (text, zlib.crc32(text.encode()))


def add(sizes):
    with open(log, "a") as f:
        f.write("".join(record(n, pes) for n in sizes for pes in (1, 2, 3, 4)))


def fitted():
    with open(models) as f:
        return [int(line.split()[1]) for line in f if line.startswith("samples:")][0]


def has_open(pid, path):
    try:
        return any(os.path.realpath("/proc/%d/fd/%s" % (pid, fd)) == path for fd in os.listdir("/proc/%d/fd" % pid))
    except OSError:
        return False


fit = [os.path.join(build, "bin/hrun-calibrate"), "fit", APP]
try:
    os.makedirs(folder)
    add([200, 400, 600])
    run = subprocess.run(fit, env=env, capture_output=True, text=True)
    ok(run.returncode == 0 and fitted() == 12, "12 measurements are fitted %s" % run.stderr)
    with open(lock, "r+") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        late = subprocess.Popen(fit, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        limit = time.monotonic() + 20
        while not has_open(late.pid, os.path.realpath(lock)) and late.poll() is None and time.monotonic() < limit:
            time.sleep(0.01)
        time.sleep(0.2)
        ok(late.poll() is None, "a fit waits for who holds the profile")
        add([800, 1000])
        fcntl.lockf(held, fcntl.LOCK_UN)
    err = late.communicate(timeout=60)[1]
    ok(late.returncode == 0, "and goes on then %s" % err)
    ok(fitted() == 20, "its models are of all 20 measurements (%d)" % fitted())

    # Models of a newer hrun are not replaced.
    with open(models) as f:
        text = f.read().replace("\nversion: 1\n", "\nversion: 2\n").rsplit("# crc32", 1)[0]
    with open(models, "w") as f:
        f.write("%s# crc32 %08x\n" % (text, zlib.crc32(text.encode())))
    run = subprocess.run(fit, env=env, capture_output=True, text=True)
    ok(run.returncode == 125 and "a newer hrun wrote the models (version 2" in run.stderr and run.stderr.count("\n") == 1,
       "a newer hrun's models are told %s" % run.stderr.strip())
    with open(models) as f:
        ok(f.read().startswith(text), "and kept")
finally:
    shutil.rmtree(top)
print("1..%d" % count)
sys.exit(1 if failed else 0)
