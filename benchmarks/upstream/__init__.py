"""PyTorch's own tests on companions of the book, from a checkout that the reader has.

    make upstream CHECKOUT=path/to/pytorch                     run and print
    make upstream CHECKOUT=path/to/pytorch ONLY=dynamo         one part: dynamo, compile, module,
                                                               layers, index
    make upstream CHECKOUT=path/to/pytorch RECORD=1            also store what the sections show

No test is copied into this project. Of the checkout only `version.txt` and `test/` are read; the
torch that is tested stays the installed one. A tag of github.com/pytorch/pytorch near to it is best
(Debian's source package `pytorch` will do, too).

It takes hours, most of them for mini_dynamo and mini_compile. A run that was stopped goes on where
it was, if nothing has changed, and one that found something wrong keeps what it found
(`_build/upstream`).

Each test runs in a process of its own, with a limit of time: `isolated`. `checkout` says which
files, `loading` imports them though some names have left torch since. For mini_dynamo (`dynamo`) a
test runs under plain Python, under torch and under mini_dynamo (`stand_ins`); what it shows
(`recorder`, `values`) is compared with plain Python. For mini_compile (`inductor`, `opinfo`) each
call is compared with eager, forward and backward (`cases`). In the other tests mini_module,
mini_layers or mini_index stand where a test would meet torch (`adapters`), and what the test itself
asserts must hold (`replaced`); what the companion leaves out is counted apart. `differences` lists
what is known to differ and where the book says so; `table` counts.
"""

import sys

from book.pipeline.ground.paths import CODE

if str(CODE) not in sys.path:
    sys.path.insert(0, str(CODE))
