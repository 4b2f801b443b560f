"""The parts of perf/bench.py and perf/pairs.py, one idea each:

arguments     what the scripts ask for on the command line, and how a signal ends them
samples       figures of repetitions, and rows that compare them with a ceiling and a target
process       runs one program to its end and reads the JSON object that it prints
session       commands of `tutti perf` and of the limit programs, repetitions side by side
rates, latencies, costs    the measurements
catalogue     their list, in the order of the targets
machine       what was measured: commit, processor, and what else it was doing
report        the table and the JSON file
orders        points of `tutti perf multicast`, each measured in several orders in turn
"""
