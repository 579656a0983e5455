"""A struct may be read for the first time by several threads at once."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

# What a struct is made of is worked out by Python, which may change threads in between.
PROGRAM: Final = """
import sys, threading
import msgspec
from broker_core.structs import decoded

sys.setswitchinterval(1e-6)

def make(number):
    inner = msgspec.defstruct(f"Inner{number}", [("n", "int"), ("of", "list[int] | None", None)], module="__main__")
    globals()[f"Inner{number}"] = inner
    outer = msgspec.defstruct(f"Outer{number}", [("a", f"Inner{number}"), ("b", "int")], module="__main__")
    return decoded(outer)

for number in range(300):
    kind, all_there = make(number), threading.Barrier(4)
    def read():
        all_there.wait()
        assert msgspec.json.decode(b'{"b": 1, "a": {"n": 1}}', type=kind).a.n == 1
    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_a_decoded_struct_is_read_by_threads_at_once() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
