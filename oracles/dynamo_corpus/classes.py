"""Objects of classes of one's own: made inside, handed in, changed, compared, called."""

from oracles.dynamo_cases import built, case, t


class Point:
    made = 0

    def __init__(self, x, y=0):
        self.x, self.y = x, y

    def moved(self, n):
        return Point(self.x + n, self.y)

    @property
    def double(self):
        return self.x * 2

    @double.setter
    def double(self, value):
        self.x = value / 2

    @classmethod
    def origin(cls, x):
        return cls(x * 0)

    @staticmethod
    def grown(x):
        return x + 10

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __eq__(self, other):
        return isinstance(other, Point) and self.y == other.y

    __hash__ = None

    def __len__(self):
        return 5

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __call__(self, z):
        return z + self.x

    def __contains__(self, n):
        return n == self.y

    def __repr__(self):
        return f"Point({self.y})"


class Child(Point):
    def moved(self, n):
        found = super().moved(n * 2)
        found.y = "child"
        return found

    def __getattr__(self, name):
        if name.startswith("got_"):
            return len(name)
        raise AttributeError(f"no {name} here")


class Slotted:
    __slots__ = ("n", "x")

    def __init__(self, x):
        self.x, self.n = x, 1


@case()
def an_object_is_made(x):
    return Point(x + 1, 3)


@case()
def an_object_lives_inside(x):
    p = Point(x, 2)
    p.y += 1
    return p.moved(1).x * p.y


@case(lambda: Point(t(3)))
def an_attribute_of_the_caller_is_set(p):
    p.x = p.x + 1
    p.y += 2
    p.new = [p.x]
    return p.x * 2


@case(lambda: Point(t(3)))
def a_property_is_read_and_set(p):
    a = p.double
    p.double = a * 4
    return p.x


@case()
def class_and_static_methods(x):
    return Point.origin(x).x, Point.grown(x), Child.origin(x)


@case(lambda: (Point(t(3), 1), Point(t(3), 2)))
def operators_of_a_class(p, q):
    r = p + q
    return r, p == q, p != q, len(p), r[1], r(p.x), 3 in r, p == 3


@case(lambda: Child(t(3)))
def super_and_getattr(p):
    return p.moved(1), p.got_it, getattr(p, "nothing", 4), hasattr(p, "x"), hasattr(p, "z")


@case(lambda: Child(t(3)))
def a_missing_attribute(p):
    y = p.x + 1
    return y, p.nothing


@case(lambda: Slotted(t(3)))
def slots(s):
    s.n += 1
    s.x = s.x * s.n
    return Slotted(s.x)


@case(lambda: (Point(t(3), 1), Child(t(3), 1)), lambda: (Child(t(3), 2), Point(t(3), 1)))
def by_the_class(p, q):
    if type(p) is Child:
        return p.x + 1
    return q.x + (2 if isinstance(q, Point) else 3), issubclass(Child, Point)


@built
def a_class_attribute_is_counted():
    Point.made = 0

    def run(x):
        Point.made += 1
        return x + Point.made
    return run, [lambda: t(3)] * 2, [Point]


@built
def a_bound_method_is_compiled():
    p = Point(t(3), 4)
    return p.moved, [lambda: 2, lambda: 3], p


@built
def the_state_of_an_object_decides():
    p = Point(t(3), 1)

    def run(x):
        if p.y == 1:
            p.y = 2
            return x + 1
        return x - p.x
    return run, [lambda: t(3)] * 3, p


@case()
def a_class_made_inside(x):
    class Local:
        n = 3

        def scaled(self, z):
            return z * self.n
    return Local().scaled(x)


@case(lambda: Point(t(3)))
def the_text_of_an_object(p):
    return f"{p}", repr(p), p.__class__.__name__


@case(lambda: Point(t(2)))
def an_object_around_a_break(p):
    p.x = p.x + 1
    print(p)
    p.y = p.x * 2
    return p


@case(lambda: Point(t(3)))
def attributes_by_name(p):
    setattr(p, "z", p.x * 3)
    delattr(p, "y")
    return getattr(p, "z"), sorted(vars(p))


@case(lambda: (lambda p: [p, p])(Point(t(2))))
def one_object_twice(ps):
    ps[0].x = ps[1].x + 1
    return ps[0] is ps[1], ps[1].x


@case()
def methods_kept_in_names(x):
    f = x.add
    p = Point(x, 1)
    g = p.moved
    return f(1), g(2)
