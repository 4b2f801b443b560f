"""What was measured, and where: commit, processor, and what else the machine was doing."""

import os
import platform
import resource
import subprocess
from datetime import datetime, timezone

BUSY_FIELDS = (1, 2, 3, 8)  # of the line "cpu" of /proc/stat: user, nice, system, steal


def describe(root):
    return {
        "commit": git(root, "rev-parse", "HEAD") or "unknown",
        "uncommitted_changes": bool(git(root, "status", "--porcelain")),
        "cpu_model": cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def git(root, *words):
    """What git prints, "" without git or outside a repository."""
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True,
                              check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.machine()


class OtherLoad:
    """The share of all cores that went to others than us and our children since it was made."""

    def __init__(self):
        self._begin = self._mark()

    def share(self):
        busy, ours, now = (end - begin for end, begin in zip(self._mark(), self._begin))
        return min(1, max(0, busy - ours) / max(now * os.cpu_count(), 1e-9))

    @staticmethod
    def _mark():
        with open("/proc/stat", encoding="utf-8") as file:
            ticks = file.readline().split()
        busy = sum(int(ticks[field]) for field in BUSY_FIELDS) / os.sysconf("SC_CLK_TCK")
        used = [resource.getrusage(who)
                for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        ours = sum(usage.ru_utime + usage.ru_stime for usage in used)
        return busy, ours, os.times().elapsed
