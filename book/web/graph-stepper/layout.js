// Where the boxes stand: lanes and layers, an operand above its results, edges bent around the
// boxes between.
//
// A node stands one layer above the highest of its users. An edge that passes layers gets a bend in
// each. Sweeps put every layer in the order of its neighbours' means; then all layers move as near
// to their neighbours as the boxes allow, and chains that lean a little are made upright. Ties keep
// their order, so equal graphs look equal.

const SWEEPS = 12, ROUNDS = 40; // to order the layers, then to bring the lanes to rest
export const BEND = 0.4; // lanes that an edge takes where it passes a layer
const SNAP = 0.6; // lanes: a chain that leans less is made upright where there is room

const mean = (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
const steady = (x) => Math.round(x * 1e9) / 1e9; // so that no last digit breaks a tie

/** The layer of each node by number, 0 at the top, the root first and lowest. */
function layersBelow(nodes) {
  const above = new Map([[nodes.length - 1, 0]]);
  for (const { number, operands } of [...nodes].reverse()) { // newest first: users come before
    for (const { node } of operands) {
      if (node === undefined) continue;
      above.set(node, Math.max(above.get(node) ?? 0, above.get(number) + 1));
    }
  }
  const highest = Math.max(...above.values());
  return new Map([...above].map(([number, layer]) => [number, highest - layer]));
}

/** An item of a layer is a node or the bend of an edge; `up` and `down` are its neighbours. */
class Layout {
  constructor(nodes) {
    const layers = layersBelow(nodes);
    this.items = new Map([...layers].map(([number, layer]) => (
      [number, { layer, width: 1, x: 0, up: [], down: [] }])));
    this.bends = new Map();
    for (const { number, operands } of nodes) {
      operands.forEach(({ node }, place) => {
        if (node !== undefined) this.bends.set(`${number}/${place}`, this.connect(node, number));
      });
    }
    this.all = [...this.items.values(), ...[...this.bends.values()].flat()];
    this.rows = Array.from({ length: layers.get(nodes.length - 1) + 1 }, () => []);
    for (const item of this.all) this.rows[item.layer].push(item);
    for (const row of this.rows) settle(row, () => 0);
    this.run();
  }

  /** A chain of neighbours from operand to result; the bends of its middle. */
  connect(operand, result) {
    const first = this.items.get(operand), last = this.items.get(result), between = [];
    for (let layer = first.layer + 1; layer < last.layer; layer++) {
      between.push({ layer, width: BEND, x: 0, up: [], down: [] });
    }
    [first, ...between].forEach((one, n) => {
      const other = between[n] ?? last;
      one.down.push(other);
      other.up.push(one);
    });
    return between;
  }

  /** Sweep, go on from the order with the fewest crossings, bring the lanes to rest. */
  run() {
    let best;
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      this.sweep(sweep % 2 === 1);
      const score = [this.crossings(), this.length()];
      if (best && (score[0] - best.score[0] || score[1] - best.score[1]) >= 0) continue;
      best = { score, x: this.all.map(({ x }) => x), rows: this.rows.map((row) => [...row]) };
    }
    this.rows = best.rows;
    this.all.forEach((item, n) => { item.x = best.x[n]; });
    for (let round = 0; round < ROUNDS; round++) {
      for (const row of this.rows) settle(row, (item) => lane(item, [...item.up, ...item.down]));
    }
    for (const row of [...this.rows].reverse()) settle(row, upright);
  }

  /** Order each layer by its neighbours above, or, going up, by those below. */
  sweep(up) {
    for (const row of up ? [...this.rows].reverse() : this.rows) {
      const key = new Map(row.map((item) => [item, lane(item, up ? item.down : item.up)]));
      row.sort((a, b) => key.get(a) - key.get(b));
      settle(row, (item) => lane(item, [...item.up, ...item.down]));
    }
  }

  /** Every straight piece of an edge, from the upper item to the lower. */
  pieces() { return this.all.flatMap((one) => one.down.map((other) => [one, other])); }

  crossings() {
    const pieces = this.pieces();
    return pieces.flatMap(([a, b], n) => pieces.slice(0, n).filter(([c, d]) => (
      a.layer === c.layer && (a.x - c.x) * (b.x - d.x) < 0))).length;
  }

  /** How far the edges lean. */
  length() { return steady(this.pieces().reduce((sum, [a, b]) => sum + Math.abs(a.x - b.x), 0)); }
}

/** Mean lane of these neighbours; an item without any stays. */
const lane = (item, others) => (others.length ? steady(mean(others.map(({ x }) => x))) : item.x);

/** The lane of the nearest neighbour below that has no other one above; else its own. */
function upright(item) {
  const { x } = item;
  const lanes = item.down.filter(({ up }) => up.length === 1).map((other) => other.x)
    .sort((a, b) => Math.abs(a - x) - Math.abs(b - x) || a - b);
  return lanes.length && Math.abs(lanes[0] - x) < SNAP ? lanes[0] : x;
}

/** Put a row as near to the wanted lanes as its boxes allow, by least squares.
 *
 * Pooling adjacent violators: blocks that would overlap are joined at their mean.
 */
function settle(row, wanted) {
  const shifts = [], blocks = [];
  row.forEach((item, n) => {
    shifts.push(n ? shifts[n - 1] + (row[n - 1].width + item.width) / 2 : 0);
    blocks.push([wanted(item) - shifts[n]]);
    while (blocks.length > 1 && mean(blocks.at(-2)) > mean(blocks.at(-1))) {
      const last = blocks.pop();
      blocks.at(-1).push(...last);
    }
  });
  blocks.flatMap((block) => block.map(() => mean(block))).forEach((x, n) => {
    row[n].x = x + shifts[n];
  });
}

export const crossingsOf = (nodes) => new Layout(nodes).crossings();

/** The nodes with their places: `x` in lanes from the left, `y` the layer, `via` the bends. */
export function arrange(nodes) {
  const { items, bends, all } = new Layout(nodes);
  const left = Math.min(...all.map(({ x, width }) => x - width / 2));
  const place = ({ x, layer }) => [Math.round((x - left) * 100) / 100, layer];
  return nodes.map((node) => {
    const [x, y] = place(items.get(node.number));
    const operands = node.operands.map((o, n) => {
      const via = bends.get(`${node.number}/${n}`);
      return via ? { ...o, via: via.map(place) } : o;
    });
    return { ...node, x, y, operands };
  });
}
