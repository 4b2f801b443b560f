"""Runs one round in a folder of its own, which stays if the round fails."""

import os
import shutil
import tempfile
import time

from fire.failures import Failure
from fire.nemesis import Round
from fire.network import Network


def run_round(options, label, over=lambda fire: None):
    """Returns one line about the round; raises Failure with all that is known. Calls `over` with
    the Round when the round is over, however it ended, while its folder is still there."""
    folder = tempfile.mkdtemp(prefix=f"fire-{label}-{options.seed}-")
    network = None
    begin = time.monotonic()
    try:
        names = [chr(ord("a") + i) for i in range(options.members)]
        network = Network(names) if options.partitions else None
        fire = Round(options, folder, network)
        try:
            views, deliveries = fire.run()
        except Failure as failure:
            what = "\n".join([str(options), *fire.log, str(failure), ""])
            with open(os.path.join(folder, "what-happened"), "w", encoding="utf-8") as file:
                file.write(what)
            raise type(failure)(what + folder) from None
        finally:
            over(fire)
    finally:
        if network:
            network.close()
    shutil.rmtree(folder)
    return (f"seed {options.seed}, {label}: {views} views, {deliveries} deliveries, "
            f"{time.monotonic() - begin:.1f} s")
