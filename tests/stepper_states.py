"""What a stepper's graph holds after each step, replayed from its attribute alone."""


def states(graph):
    """(value, grad) of every node, as text, after every step."""
    values, grads = (["–"] * len(graph["nodes"]) for _ in range(2))
    for step in graph["steps"]:
        if step["kind"] == "forward":
            values[step["node"]] = graph["nodes"][step["node"]]["value"]
        elif step["kind"] == "start":
            grads = ["0"] * len(grads)
            grads[step["node"]] = step["grad"]
        elif step["kind"] == "flow":
            operand = graph["nodes"][step["node"]]["operands"][step["operand"]]
            grads[operand["node"]] = step["after"]
        yield list(zip(values, grads, strict=True))
