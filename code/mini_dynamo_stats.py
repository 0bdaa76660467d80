"""What a compiled function tells about itself: graphs, guards, and every reason in words.

Source: torch/_dynamo/utils.py (counters), the logs graph_breaks and recompiles.
"""
from dataclasses import dataclass, field


@dataclass(repr=False)
class Stats:
    """What happened so far. Reasons are in words; a graph is a torch.fx.GraphModule."""

    graph_modules: list = field(default_factory=list)      # with at least one operation
    guards: list = field(default_factory=list)             # one list of Guards for each capture
    break_reasons: list = field(default_factory=list)
    recompile_reasons: list = field(default_factory=list)
    skipped: list = field(default_factory=list)            # (function, why)

    graphs = property(lambda self: len(self.graph_modules))
    breaks = property(lambda self: len(self.break_reasons))
    recompiles = property(lambda self: len(self.recompile_reasons))

    def __repr__(self):
        lines = [f"graphs {self.graphs}, breaks {self.breaks}, recompiles {self.recompiles}"]
        lines += [f"break: {why}" for why in self.break_reasons]
        lines += [f"recompiled: {why}" for why in self.recompile_reasons]
        return "\n".join(lines + [f"skipped: {name}: {why}" for name, why in self.skipped])
