"""figures.py - what an accuracy measurement says: epsilon, delta, speed-up, and how far noise explains them

Purpose: from measured times and predictions to the figures of tests/lab/accuracy; no measuring, no files.

    epsilon = (tau' - T') / T'      actual time of the configuration that hrun chose against the best one's
    delta   = (tau - tau') / tau'   predicted against actual time of the chosen configuration

(paper 000, sections 4.1 and 6.2; tau' and T' are written with a hat there.) All times are medians, in seconds.

Which configuration is best is decided in two steps, for the least of 124 noisy times is less than the time of the
best: every configuration is measured a few times (the survey), then the few best of the survey, the chosen one and
mpirun's defaults are measured again, in turn (the final), and only the final counts. What is left of that effect
makes epsilon too large, never too small: T' is still the least of several medians.

Invariants: a configuration is a string such as "(2,1,0,0,1,2)"; times are kept as {config: [seconds, ...]}.
"""

import math
import re


def median(values):
    v = sorted(values)
    if not v:
        raise ValueError("no values")
    half = len(v) // 2
    return v[half] if len(v) % 2 else 0.5 * (v[half - 1] + v[half])


def mean(values):
    return sum(values) / len(values) if values else None


def variation(values):
    """Relative standard deviation of single runs; None of fewer than two."""
    n = len(values)
    if n < 2:
        return None
    mean = sum(values) / n
    return math.sqrt(sum((x - mean) ** 2 for x in values) / (n - 1)) / mean


def configurations(pes, procs):
    """All configurations of sub-clusters with pes[i] PEs and 1..procs processes on each PE but the empty one."""
    ways = [[(0, 0)] + [(p, m) for p in range(1, n + 1) for m in range(1, procs + 1)] for n in pes]
    out = [()]
    for w in ways:
        out = [c + pair for c in out for pair in w]
    return ["(%s)" % ",".join(map(str, c)) for c in out if any(c)]


def processes(config):
    v = [int(x) for x in config.strip("()").split(",")]
    return sum(p * m for p, m in zip(v[::2], v[1::2]))


def finalists(survey, chosen, defaults, best):
    """What is to be measured again: the chosen one, the defaults, the `best` best of the survey."""
    ranked = sorted(survey, key=lambda c: (median(survey[c]), c))
    out = []
    for c in [chosen] + list(defaults) + ranked[:best]:
        if c not in out:
            out.append(c)
    return out


def case(app, size, survey, final, predicted, chosen, defaults):
    """The figures of one application at one size.

    survey, final: {config: [seconds]}; predicted: {config: seconds}; chosen: config; defaults: {name: config}.
    """
    if chosen not in final:
        raise ValueError("%s N=%d: the chosen configuration %s was not measured" % (app, size, chosen))
    time = {c: median(t) for c, t in final.items()}
    best = min(time, key=lambda c: (time[c], c))
    tau = time[chosen]
    spread = [v for v in (variation(t) for t in final.values()) if v is not None]
    return {
        "app": app, "N": size, "configs": len(survey), "chosen": chosen, "best": best,
        "tau_s": tau, "best_s": time[best], "predicted_s": predicted[chosen],
        "epsilon": tau / time[best] - 1, "delta": predicted[chosen] / tau - 1,
        "variation": median(spread) if spread else None,
        "speedup": {name: time[c] / tau for name, c in defaults.items() if c in time},
    }


def summary(cases):
    """Means and worst values over cases; delta by its absolute value."""
    def worst(v):
        return max(v) if v else None

    eps = [c["epsilon"] for c in cases]
    delta = [abs(c["delta"]) for c in cases]
    noise = [c["variation"] for c in cases if c["variation"] is not None]
    names = sorted({n for c in cases for n in c["speedup"]})
    gain = {n: [c["speedup"][n] for c in cases if n in c["speedup"]] for n in names}
    return {
        "cases": len(cases), "epsilon_mean": mean(eps), "epsilon_worst": worst(eps),
        "delta_mean": mean(delta), "delta_worst": worst(delta),
        "variation": median(noise) if noise else None,
        "speedup": {n: {"mean": math.exp(mean([math.log(g) for g in v])), "worst": min(v), "best": max(v)}
                    for n, v in gain.items()},
    }


def percent(x):
    return "-" if x is None else "%.1f %%" % (100 * x)


def table(rows):
    """Rows of words as text: the first two columns to the left, the others to the right."""
    width = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    return "\n".join("  " + "  ".join(w.ljust(n) if i < 2 else w.rjust(n) for i, (w, n) in enumerate(zip(r, width)))
                     for r in rows).replace(" \n", "\n")


def report(cases):
    """The tables that are printed at the end."""
    names = sorted({n for c in cases for n in c["speedup"]})
    rows = [["app", "N", "hrun's choice", "the best", "predicted", "actual", "delta", "epsilon", "variation"] +
            ["against %s" % n for n in names]]
    for c in cases:
        rows.append([c["app"], str(c["N"]), c["chosen"], c["best"], "%.3f s" % c["predicted_s"], "%.3f s" % c["tau_s"],
                     percent(c["delta"]), percent(c["epsilon"]), percent(c["variation"])] +
                    ["%.2f x" % c["speedup"][n] if n in c["speedup"] else "-" for n in names])
    out = [table(rows), ""]
    apps = []
    for c in cases:
        if c["app"] not in apps:
            apps.append(c["app"])
    rows = [["", "cases", "mean epsilon", "worst", "mean |delta|", "worst", "variation"] +
            ["against %s" % n for n in names]]
    for app in apps + ["all"]:
        s = summary([c for c in cases if app in (c["app"], "all")])
        rows.append([app, str(s["cases"]), percent(s["epsilon_mean"]), percent(s["epsilon_worst"]),
                     percent(s["delta_mean"]), percent(s["delta_worst"]), percent(s["variation"])] +
                    ["%.2f x (%.2f .. %.2f)" % (s["speedup"][n]["mean"], s["speedup"][n]["worst"],
                                                s["speedup"][n]["best"]) if n in s["speedup"] else "-"
                     for n in names])
    out.append(table(rows))
    return "\n".join(out)


def compared(survey, predicted, chosen, count):
    """Predicted against measured: the `count` fastest and the chosen one, to see why a choice was wrong."""
    ranked = sorted(survey, key=lambda c: (median(survey[c]), c))
    rank = {c: i + 1 for i, c in enumerate(sorted(predicted, key=lambda c: (predicted[c], c)))}
    shown = ranked[:count] + ([chosen] if chosen not in ranked[:count] and chosen in survey else [])
    rows = [["configuration", "", "P", "measured", "predicted", "delta", "rank by the model"]]
    for c in shown:
        t, p = median(survey[c]), predicted.get(c)
        rows.append([c, "chosen" if c == chosen else "", str(processes(c)), "%.3f s" % t,
                     "-" if p is None else "%.3f s" % p, "-" if p is None else percent(p / t - 1),
                     str(rank.get(c, "-"))])
    return table(rows)


# ---------------------------------------------------------------- real programs

def seconds(text):
    """Of "actual 1 min 3.2 s" and the like."""
    unit = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
    return sum(float(v) * unit[u] for v, u in re.findall(r"([0-9.]+) (us|ms|s|min|h)\b", text))


def real_case(app, size, d, chosen, times, simple, cost_s):
    """One size: d is the document of the dry run, times {config: [seconds]}, simple {what users type: config}.
    epsilon_beyond is what is left of epsilon when both medians are off by their standard error, which is that of the
    runs of all configurations (the median's is 1.25 times that of the mean)."""
    middle = {c: median(t) for c, t in times.items() if t}
    best = min(middle, key=lambda c: middle[c])
    noise = [variation(t) for t in times.values() if len(t) > 1]
    noise = math.sqrt(sum(v * v for v in noise) / len(noise)) if noise else 0
    off = 1.25 * noise / math.sqrt(max(1, min(len(times[c]) for c in (chosen, best))))
    low, high = d["predicted_low_s"] or math.nan, d["predicted_high_s"] or math.nan
    tried = {n: middle[c] for n, c in simple.items() if c in middle}
    return {"app": app, "N": size, "chosen": chosen, "best": best, "predicted_s": d["predicted_s"], "low_s": low,
            "high_s": high, "tau_s": middle[chosen], "epsilon": middle[chosen] / middle[best] - 1,
            "epsilon_beyond": max(0, middle[chosen] * (1 - off) / (middle[best] * (1 + off)) - 1), "noise": noise,
            "inside": sum(low <= t <= high for t in times[chosen]), "runs": len(times[chosen]), "cost_s": cost_s,
            "simple": min(tried, key=lambda n: tried[n]), "gain": min(tried.values()) / middle[chosen],
            "yielding": d["yielding"] or "", "times": times}


REAL_HEAD = ["app", "N", "chosen", "best", "predicted", "interval", "actual", "inside", "epsilon", "beyond noise",
             "noise", "best simple way", "calibration", "set"]


def real_words(c):
    return [c["app"], str(c["N"]), c["chosen"], c["best"], "%.3g s" % c["predicted_s"],
            "%.3g .. %.3g" % (c["low_s"], c["high_s"]), "%.3g s" % c["tau_s"], "%d of %d" % (c["inside"], c["runs"]),
            percent(c["epsilon"]), percent(c["epsilon_beyond"]), percent(c["noise"]),
            "%.2f x (%s)" % (c["gain"], c["simple"]), "%.0f s" % c["cost_s"], "yields" if c["yielding"] else "-"]


def real_row(case):
    return "  ".join(real_words(case))


def real_report(cases):
    if not cases:
        return "nothing was measured"
    runs, inside = sum(c["runs"] for c in cases), sum(c["inside"] for c in cases)
    every = "".join("%s N=%d  %s\n" % (c["app"], c["N"], "  ".join(
        "%s %s" % (k, "/".join("%.3g" % x for x in v)) for k, v in c["times"].items())) for c in cases)
    return "%s\n%s\nmean epsilon %s, beyond the noise %s (worst %s); %d of %d runs inside the interval (%s)\n" % (
        every, table([REAL_HEAD] + [real_words(c) for c in cases]), percent(mean([c["epsilon"] for c in cases])),
        percent(mean([c["epsilon_beyond"] for c in cases])), percent(max(c["epsilon_beyond"] for c in cases)), inside,
        runs, percent(inside / runs))
