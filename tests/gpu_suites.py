# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
"""gpu_suites.py [--jobs N] [--seconds S] PROGRAM: runs the tests of a GoogleTest program so that none hides another.

Each suite is a process, several at a time. After an error of a device nothing more works in that process, and a crash ends
it: what did not pass is then run again, each test alone, and that result counts. Status: 0, 1, or 77 where all was skipped.
"""
import argparse
import concurrent.futures
import re
import subprocess
import sys
import time


def list_tests(program):
    tests, suite = [], ""
    for line in subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout.splitlines():
        name = line.split("#")[0].rstrip()
        if line.startswith("  "):
            tests.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return tests


class Runner:
    def __init__(self, program, seconds):
        self.program, self.end, self.nothing = program, time.monotonic() + seconds, None
        self.outputs = {}

    def run(self, names, limit):
        """The tests of `names` that passed or were skipped; None where no time was left."""
        left = min(limit, self.end - time.monotonic())
        if left < 1:
            return None
        command = [self.program, "--gtest_color=no", "--gtest_filter=" + ":".join(names)]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=left)
            output, status = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            output, status = late.stdout or b"", "out of time"
        text = output.decode(errors="replace")
        if status == 77:
            self.nothing = text.strip().splitlines()[-1]
        self.outputs.update({name: (status, text) for name in names})
        good = re.findall(r"^\[\s+(OK|SKIPPED) \] ([^ ,]+?)(?: \(\d+ ms\))?$", text, re.M)
        return {name: word for word, name in good}


def failure(status, text):
    """What went wrong in one test's own process, in a few lines."""
    lines = [line for line in text.splitlines() if line.strip() and not re.match(r"\[[= -]+\]|Note:|\[ RUN", line)]
    how = f"ended with {status}" if status != 1 else "failed"
    return "\n".join([f"    {how}"] + ["      " + line[:200] for line in lines[:8]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=80)
    parser.add_argument("program")
    options = parser.parse_args()
    begin = time.monotonic()
    tests = list_tests(options.program)
    suites = {}
    for test in tests:
        suites.setdefault(test.split(".")[0], []).append(test)
    runner, passed, failed = Runner(options.program, options.seconds), {}, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for suite, good in zip(suites, pool.map(lambda names: runner.run(names, 60), suites.values())):
            passed.update(good or {})
            if not runner.nothing:
                print(f"{suite}: {len(good or {})} of {len(suites[suite])} passed or skipped", flush=True)
        if runner.nothing:
            print(runner.nothing)
            return 77
        again = [test for test in tests if test not in passed]
        for test, good in zip(again, pool.map(lambda test: runner.run([test], 30), again)):
            passed.update(good or {})
            if good is None:
                continue
            print(f"{test}: " + ("passed alone" if test in good else "FAILED"), flush=True)
            if test not in good:
                failed += 1
                print(failure(*runner.outputs[test]), flush=True)
    skipped = sum(word == "SKIPPED" for word in passed.values())
    late = len(tests) - len(passed) - failed
    print(f"{len(passed) - skipped} passed, {skipped} skipped, {failed} failed, {late} not run of {len(tests)} "
          f"in {time.monotonic() - begin:.0f} s")
    return 0 if len(passed) == len(tests) and tests else 1


sys.exit(main())
