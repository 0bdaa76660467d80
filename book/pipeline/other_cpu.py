"""Run all notebooks and proofs as a CPU without AVX-512 and with two threads computes them.

    python -m book.pipeline.other_cpu                both at once: everywhere else it is neither
    python -m book.pipeline.other_cpu --threads 1    which of the two is it?

A reader's CPU may round differently, and so may a sum that threads share, so neither texts nor
pictures may depend on the last bits. torch's own kernels, MKL and oneDNN are each told of the CPU
by a variable of their own; BOOK_THREADS holds for the kernels of notebooks and for proofs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from book.pipeline.other_torch import run_notebooks, run_proofs

AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2"}
ASK = "import torch; print(torch.backends.cpu.get_cpu_capability())"


def main(argv: list[str] | None = None) -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="notebooks and proofs under another CPU")
    parser.add_argument("--threads", type=int, default=2, choices=(1, 2), help="(default: 2)")
    threads = parser.parse_args(argv).threads
    os.environ.update(AVX2, BOOK_THREADS=str(threads))
    taken = subprocess.run([sys.executable, "-c", ASK], check=True, capture_output=True, text=True)
    if taken.stdout.strip() != "AVX2":
        sys.exit(f"test-cpu: torch takes {taken.stdout.strip()} here, not AVX2; nothing was run")
    started, python = time.perf_counter(), Path(sys.executable)
    notebooks, cards = run_notebooks(python), run_proofs(python)
    failed = notebooks["failed"] + cards["failed"]
    print(*failed, sep="\n")
    print(f"AVX2, {threads} threads: {notebooks['cells']} cells, {cards['proved']} cards proved, "
          f"{len(failed)} failures, {time.perf_counter() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
