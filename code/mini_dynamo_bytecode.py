"""Bytecode as data: a code object decoded, its exception table, and a frame that holds the state.

The first part of mini_dynamo below the lesson. It knows neither torch nor tracing: a Frame is what
CPython keeps for a running function (locals, value stack, position), as plain Python data, so that
one interpreter can run it on real values as well as on traced ones, stop anywhere, and go on.
Source: torch/_dynamo/bytecode_transformation.py, CPython's Objects/exception_handling_notes.txt.
"""
import dis
import functools
import inspect
import types
from dataclasses import dataclass, field

CO_GENERATOR = inspect.CO_GENERATOR
CO_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE


class Null:
    """What PUSH_NULL pushes: an empty slot beside a callable."""

    def __repr__(self):
        return "NULL"


NULL = Null()


@dataclass(frozen=True)
class Handler:
    """A row of the exception table: errors at offsets start..end go to target."""

    start: int
    end: int
    target: int
    depth: int                       # the stack is cut to this depth
    lasti: bool                      # then the failing offset is pushed as well


@dataclass(frozen=True)
class Program:
    """A code object decoded: instructions, where each offset stands, handlers.

    Each instruction is dis.Instruction, without CACHE; a jump's argval is the offset it goes to.
    """

    code: types.CodeType
    instructions: tuple
    index: dict                      # offset -> position in instructions
    handlers: tuple

    def handler(self, offset):
        return next((h for h in self.handlers if h.start <= offset < h.end), None)

    def loops_around(self, position):
        """Whether a jump between here and the next return goes back before here.

        The same question in torch: InstructionTranslatorBase.maybe_has_backedge.
        """
        here = self.instructions[position].offset
        for inst in self.instructions[position:]:
            if inst.opname in ("RETURN_VALUE", "RETURN_CONST"):
                return False
            if "JUMP" in inst.opname and inst.argval < here:
                return True
        return False


@functools.cache
def decode(code):
    """The Program of a code object."""
    instructions = tuple(dis.get_instructions(code))
    index = {inst.offset: position for position, inst in enumerate(instructions)}
    return Program(code, instructions, index, tuple(exception_table(code.co_exceptiontable)))


def exception_table(table):
    """The Handlers in co_exceptiontable: each four numbers, in 6-bit digits, the last one without
    the bit 64; all count in code units of two bytes."""
    numbers, value = [], 0
    for byte in table:
        value = (value << 6) | (byte & 63)
        if not byte & 64:
            numbers.append(value)
            value = 0
    for start, length, target, depth in zip(*[iter(numbers)] * 4, strict=True):
        yield Handler(2 * start, 2 * (start + length), 2 * target, depth >> 1, bool(depth & 1))


def why_not(code, rules, inlined=False):
    """Why a frame of this code cannot be interpreted, in words, or None."""
    if code.co_flags & CO_ASYNC:
        return "a coroutine"
    if code.co_flags & CO_GENERATOR and not inlined:
        return "a generator"
    names = PEEKERS.intersection(code.co_names)
    if names:
        return f"calls {min(names)}(), which looks at its own frame"
    unknown = [i.opname for i in decode(code).instructions
               if i.opname not in rules or (i.opname, i.arg) in rules.get("NOT", ())]
    return f"no rule for the instruction {unknown[0]}" if unknown else None


PEEKERS = {"locals", "globals", "exec", "eval", "vars", "dir", "_getframe",
           "currentframe", "breakpoint"}


@dataclass
class Frame:
    """A call in progress. `locals` holds values by name, and a cell for a name that closures share.

    Source: Include/internal/pycore_frame.h (_PyInterpreterFrame).
    """

    program: Program
    globals: dict
    locals: dict
    stack: list = field(default_factory=list)
    at: int = 0                      # position of the next instruction
    kw_names: tuple = ()             # 3.11 and 3.12: set by KW_NAMES for the next CALL
    handling: object = None          # the exception that `except` blocks are busy with
    grad_blocks: frozenset = frozenset()   # handlers of `with torch.no_grad()` that we are inside
    function: object = None

    @property
    def code(self):
        return self.program.code

    @property
    def instruction(self):
        return self.program.instructions[self.at]

    def push(self, *values):
        self.stack.extend(values)

    def pop(self):
        return self.stack.pop()

    def popn(self, count):
        """The top `count` values, the deepest first."""
        if not count:
            return []
        values = self.stack[-count:]
        del self.stack[-count:]
        return values

    def jump(self, offset):
        self.at = self.program.index[offset]

    def goto_handler(self, position, error):
        """Continue at the handler of the instruction at `position`; False where there is none."""
        offset = self.program.instructions[position].offset
        found = self.program.handler(offset)
        if found is None:
            return False
        del self.stack[found.depth:]
        if found.lasti:
            self.push(offset)
        self.push(error)
        self.jump(found.target)
        return True

    def copy(self):
        return Frame(self.program, self.globals, dict(self.locals), list(self.stack), self.at,
                     self.kw_names, self.handling, self.grad_blocks, self.function)
