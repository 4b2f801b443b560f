"""The parts of perf/bench.py, one idea each:

samples       figures of repetitions, and rows that compare them with a ceiling and a target
process       runs one program to its end and reads the JSON object that it prints
session       commands of `tutti perf` and of the limit programs, repetitions side by side
rates, latencies, costs    the measurements
catalogue     their list, in the order of the targets
machine       what was measured: commit, processor, and what else it was doing
report        the table and the JSON file
"""
