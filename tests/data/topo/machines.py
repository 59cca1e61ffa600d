#!/usr/bin/env python3
"""Machines that nobody of us has captured, as tables of facts (README says where each fact is from).

machines.py          print their names
machines.py NAME     print one as hwloc XML, as hwloc 2.9 would see it
machines.py golden   print what the hrun in PATH makes of these and of the captured ones: the table in GOLDEN
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile


def cores(n, l1, l2, share=1, threads=1, **kind):
    """n cores with l1 KiB of L1d cache, l2 KiB of L2 cache (0: none) for each `share` of them; kind: infos of hwloc."""
    return [(l1, l2, share, threads, kind)] * n


# name: (CPU model, GiB, L3 groups in the order of their CPUs: (KiB of L3 cache, 0: none; cores)). core: CoreType;
# mhz, base: maximal and base frequency; cap: Linux's cpu_capacity
MACHINES = {
    "alder-lake": ("12th Gen Intel(R) Core(TM) i9-12900K", 32, [
        (30720, cores(8, 48, 1280, threads=2, core="IntelCore", mhz=5100, base=3200) +
         cores(8, 32, 2048, share=4, core="IntelAtom", mhz=3900, base=2400))]),
    "raptor-lake": ("13th Gen Intel(R) Core(TM) i7-1370P", 32, [
        (24576, cores(6, 48, 1280, threads=2, core="IntelCore", mhz=5000, base=1900) +
         cores(8, 32, 2048, share=4, core="IntelAtom", mhz=3900, base=1400))]),
    "meteor-lake": ("Intel(R) Core(TM) Ultra 7 155H", 32, [
        (24576, cores(2, 48, 2048, threads=2, core="IntelCore", mhz=4800) +
         cores(4, 48, 2048, threads=2, core="IntelCore", mhz=4500) +
         cores(8, 32, 2048, share=4, core="IntelAtom", mhz=3800)),
        (0, cores(2, 32, 2048, share=2, core="IntelAtom", mhz=2500))]),
    "arrow-lake": ("Intel(R) Core(TM) Ultra 5 225U", 16, [      # CoreType alone: CPUID without Linux
        (12288, cores(2, 48, 2048, threads=2, core="IntelCore") + cores(8, 32, 2048, share=4, core="IntelAtom")),
        (0, cores(2, 32, 2048, share=2, core="IntelAtom"))]),
    "strix-point": ("AMD Ryzen AI 9 HX 370", 32, [
        (16384, cores(4, 48, 1024, threads=2, mhz=5100)), (8192, cores(8, 48, 1024, threads=2, mhz=3300))]),
    "threadripper": ("AMD Ryzen Threadripper PRO 7975WX 32-Cores", 128, [
        (32768, cores(8, 32, 1024, threads=2, mhz=5352)), (32768, cores(8, 32, 1024, threads=2, mhz=5352)),
        (32768, sum((cores(1, 32, 1024, threads=2, mhz=m)
                     for m in (5837, 6321, 6001, 6161, 6482, 6642, 5677, 5517)), [])),
        (32768, cores(8, 32, 1024, threads=2, mhz=5837))]),
    "i9-10920x": ("Intel(R) Core(TM) i9-10920X CPU @ 3.50GHz", 64, [
        (19712, cores(8, 32, 1024, threads=2, mhz=4600) + cores(2, 32, 1024, threads=2, mhz=4700) +
         cores(2, 32, 1024, threads=2, mhz=4800))]),
    "rk3588": ("Rockchip RK3588", 16, [
        (3072, cores(4, 32, 128, mhz=1800, cap=397) + cores(4, 64, 512, mhz=2400, cap=1024))]),
    "cix-p1": ("CIX P1 CD8180", 16, [
        (12288, cores(1, 64, 512, mhz=2600) + cores(4, 32, 0, mhz=1800) + cores(2, 64, 512, mhz=2300) +
         cores(2, 64, 512, mhz=2200) + cores(3, 64, 512, mhz=2500))]),
    "gb10": ("NVIDIA GB10", 120, [
        (8192, cores(5, 64, 512, mhz=2808, cap=718) + cores(5, 64, 2048, mhz=3900, cap=997)),
        (16384, cores(5, 64, 512, mhz=2860, cap=731) + cores(4, 64, 2048, mhz=3978, cap=1017) +
         cores(1, 64, 2048, mhz=4004, cap=1024))]),
    "grace": ("NVIDIA Grace", 480, [
        (116736, sum((cores(1, 64, 1024, mhz=m, cap=m * 1024 // 3423)
                      for m in [3366 + 9 * (i * 5 % 7) for i in range(71)] + [3423]), []))]),
    "snapdragon-x": ("Snapdragon X Elite X1E001DE", 32, [
        (0, cores(4, 96, 12288, share=4, mhz=3790) + cores(8, 96, 12288, share=4, mhz=4130))]),
}
INFOS = {"core": "CoreType", "mhz": "FrequencyMaxMHz", "base": "FrequencyBaseMHz", "cap": "LinuxCapacity"}


def bitmap(first, n):
    """PUs first..first+n-1 as hwloc writes a set."""
    bits = ((1 << n) - 1) << first
    words = [bits >> 32 * i & 0xffffffff for i in range((first + n + 31) // 32)]
    return ",".join("0x%08x" % w for w in reversed(words))


class Writer:
    """Objects from the PUs up; each function gives the XML of one and how many PUs it has."""

    def __init__(self):
        self.ids = 1

    def obj(self, kind, first, npus, inner="", **attrs):
        self.ids += 1
        sets = " ".join('%s="%s"' % (a, v) for a, v in attrs.items())
        return ('<object type="%s" cpuset="%s" complete_cpuset="%s" nodeset="0x1" complete_nodeset="0x1" gp_index="%d" '
                '%s>%s</object>\n' % (kind, bitmap(first, npus), bitmap(first, npus), self.ids, sets, inner))

    def cache(self, level, kib, first, npus, inner):
        return self.obj("L%dCache" % level, first, npus, inner, cache_size=kib << 10, depth=level, cache_linesize=64,
                        cache_associativity=-1, cache_type=1 if level == 1 else 0) if kib else inner


def kinds_of(all_cores):
    """The kinds of hwloc 2.9: one for each set of infos."""
    sets = {}
    for first, core in all_cores:
        if core[4]:
            sets.setdefault(json.dumps(core[4]), []).append((first, core[3]))
    text = ""
    for infos, pus in sets.items():
        bits = sum(((1 << n) - 1) << first for first, n in pus)
        words = [bits >> 32 * i & 0xffffffff for i in range((bits.bit_length() + 31) // 32)]
        kind = json.loads(infos)
        forced = ' forced_efficiency="%d"' % kind["cap"] if "cap" in kind else ""
        text += '<cpukind cpuset="%s"%s>' % (",".join("0x%08x" % w for w in reversed(words)), forced)
        text += "".join('<info name="%s" value="%s"/>' % (INFOS[k], v) for k, v in kind.items()) + "</cpukind>\n"
    return text


def machine(name):
    model, gib, groups = MACHINES[name]
    w, pu, number, inside, all_cores = Writer(), 0, 0, "", []
    for l3, group in groups:
        group_first, in_group, i = pu, "", 0
        while i < len(group):
            l2_first, in_l2 = pu, ""
            for l1, l2, share, threads, kind in group[i:i + group[i][2]]:
                pus = "".join(w.obj("PU", pu + t, 1, os_index=pu + t) for t in range(threads))
                in_l2 += w.cache(1, l1, pu, threads, w.obj("Core", pu, threads, pus, os_index=number))
                all_cores.append((pu, (l1, l2, share, threads, kind)))
                pu, number = pu + threads, number + 1
            in_group += w.cache(2, group[i][1], l2_first, pu - l2_first, in_l2)
            i += group[i][2]
        inside += w.cache(3, l3, group_first, pu - group_first, in_group)
    node = w.obj("NUMANode", 0, pu, os_index=0, local_memory=gib << 30)
    package = w.obj("Package", 0, pu, '<info name="CPUModel" value="%s"/>' % model + node + inside, os_index=0)
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
            '<topology version="2.0">\n' +
            w.obj("Machine", 0, pu, package, os_index=0, allowed_cpuset=bitmap(0, pu), allowed_nodeset="0x1") +
            kinds_of(all_cores) + "</topology>\n")


def folded(numbers):
    """0, 1, 2, 8 as "0-2,8"."""
    runs = []
    for k in sorted(numbers):
        if runs and runs[-1][1] == k - 1:
            runs[-1][1] = k
        else:
            runs.append([k, k])
    return ",".join("%d" % a if a == b else "%d-%d" % (a, b) for a, b in runs)


def hrun(xml, *words):
    return subprocess.run(["hrun", *words], env={**os.environ, "HWLOC_XMLFILE": xml}, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def rows(name, xml):
    """Of each core kind: name, cores, threads of each, where hrun starts processes without a profile, and where 4."""
    plan = json.loads(hrun(xml, "--dry-run", "--json", "true"))
    ncores = sum(sub["pes"] for sub in plan["subclusters"])
    four = json.loads(hrun(xml, "--dry-run", "--json", "-n", str(min(4, ncores)), "true"))
    shown = hrun(xml, "--show-cluster").splitlines()[3:]
    for sub, line in zip(plan["subclusters"], shown):
        kind = re.search(r"\(((?:Intel|kind)[\w-]*)\)  +core ", line)
        ranks = [r for r in plan["ranks"] if r["subcluster"] == sub["name"]]
        pus = ranks[0]["pus"] if ranks else ""
        threads = sum(int(b or a) - int(a) + 1 for a, b in re.findall(r"(\d+)(?:-(\d+))?", pus))
        yield (name, kind.group(1) if kind else "-", sub["pes"], threads, len(ranks),
               folded(int(r["cores"]) for r in ranks),
               folded(int(r["cores"]) for r in four["ranks"] if r["subcluster"] == sub["name"]))


def golden():
    here = os.path.dirname(os.path.abspath(__file__))
    table = [("machine", "core kind", "cores", "threads", "started", "on cores", "four on cores")]
    with tempfile.TemporaryDirectory() as tmp:
        for name in MACHINES:
            with open(tmp + "/" + name, "w") as f:
                f.write(machine(name))
            table += rows(name, tmp + "/" + name)
    for xml in sorted(glob.glob(here + "/*.xml")):
        table += rows(os.path.basename(xml)[:-4], xml)
    for r in table:
        print(("%-15s %-12s %5s %7s %7s  %-12s  %s" % r).rstrip())


if len(sys.argv) < 2:
    print("\n".join(MACHINES))
elif sys.argv[1] == "golden":
    golden()
else:
    sys.stdout.write(machine(sys.argv[1]))
