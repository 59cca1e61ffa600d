"""madelog.py SHOWN SERIAL <LINES - made-up measurements of lu, into the logs below $HRUN_DATA

SHOWN: what `hrun --show-cluster --json` printed of a cluster of sub-clusters "new" and "old", or "s1", "s2", ..., which
are so quick. SERIAL: seconds from 10 o'clock to the first one's date. A line is one of
    alone NAME PES                   a sub-cluster alone, on 1 to PES of its PEs, at six N
    run (1,1,4,1) N FACTOR           a calibration's run of a configuration, which took FACTOR times its true time
    night (1,1,4,1) N FACTOR         the same of a user's run
    crash (1,1,4,1) N                a user's run that failed
"""
import datetime, json, os, sys, zlib

SPEED = {"new": 4.0, "old": 1.0}


def seconds(name, n, p, m):
    speed = SPEED[name] if name in SPEED else float(name[1:])
    return 2e-9 * n ** 3 / p * m / speed + (p > m) * (1e-8 * n * n + 1e-3 * p) + 0.01


class Logs:
    def __init__(self, shown, serial):
        self.subs = [(s["name"], s["signature"]) for s in json.load(open(shown))["subclusters"]]
        self.folder = os.path.join(os.environ["HRUN_DATA"], "profiles/lu")
        self.serial = serial
        os.makedirs(self.folder, exist_ok=True)

    def true_time(self, config, n):
        used = [i for i in range(len(self.subs)) if config[2 * i]]
        p = sum(config[2 * i] * config[2 * i + 1] for i in used)
        return max(seconds(self.subs[i][0], n, p, config[2 * i + 1]) for i in used)

    def put(self, config, n, factor=1, origin="calibration", status="ok"):
        self.serial += 1
        date = datetime.datetime(2026, 11, 20, 10) + datetime.timedelta(seconds=self.serial)
        used = [i for i in range(len(self.subs)) if config[2 * i]]
        t = factor * self.true_time(config, n) if status == "ok" else 0
        for i in used:
            r = dict(M=config[2 * i + 1], N=n, P=sum(config[2 * k] * config[2 * k + 1] for k in used), app="lu",
                     cluster=",".join(s[0] for s in self.subs), compute_s=0, config="(%s)" % ",".join(map(str, config)),
                     consts="", date=date.strftime("%Y-%m-%dT%H:%M:%SZ"), engine="mpirun", host="head", limits="",
                     mixed=len(used) > 1, mpi="ompi-4.1.4", mpi_s=0, ok=status == "ok", origin=origin,
                     pes=config[2 * i], program="/opt/lu", signature=self.subs[i][1],
                     signatures=",".join(s[1] for s in self.subs), status=status, time_s=t, trace="", v=2,
                     version="0.1.0", wall_s=t)
            text = json.dumps(r, sort_keys=True, separators=(",", ":"))
            with open(os.path.join(self.folder, self.subs[i][1] + ".log"), "a") as f:
                f.write("%s\t%08x\n" % (text, zlib.crc32(text.encode())))

    def alone(self, name, most):
        i = [s[0] for s in self.subs].index(name)
        for pes in range(1, most + 1):
            for n in (400, 800, 1200, 1600, 2400, 3200):
                config = [0] * (2 * len(self.subs))
                config[2 * i:2 * i + 2] = [pes, 1]
                self.put(config, n)


def numbers(config):
    return [int(x) for x in config[1:-1].split(",")]


def main():
    logs = Logs(sys.argv[1], int(sys.argv[2]))
    for line in sys.stdin.read().splitlines():
        w = line.split()
        if w[0] == "alone":
            logs.alone(w[1], int(w[2]))
        elif w[0] == "run":
            logs.put(numbers(w[1]), int(w[2]), float(w[3]))
        elif w[0] == "night":
            logs.put(numbers(w[1]), int(w[2]), float(w[3]), origin="run")
        elif w[0] == "crash":
            logs.put(numbers(w[1]), int(w[2]), origin="run", status="exit 1")
        else:
            sys.exit("madelog.py: " + line)


if __name__ == "__main__":
    main()
