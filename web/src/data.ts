// What the program puts into the page (src/report/page_run.cpp writes it), decoded.
//
// Numbers come as base64 of little-endian bytes: times with 64 bits, everything else with 32. Two rows of one time are the limits before and after an
// instant with events; the later one is moved by the last bit of its time, so that every row has a time of its own and no curve gets a slope there.

export interface ColumnHead {
  name: string;
  /** Where the model gives a label or a unit: what stands at axes. */
  shown?: string;
  kind: "coordinate" | "velocity" | "state" | "output" | "mode";
  words?: string[];
}

export interface EventList {
  time: number[];
  kind: string[];
  where: string[];
  detail: string[];
  normal: number[];
  tangential: number[];
  lost: number[];
  total: number;
}

export type ShapeKind = "circle" | "box" | "polygon" | "line" | "spring" | "ground" | "belt" | "arrow";

export interface Shape {
  shape: ShapeKind;
  first: number;
  numbers: number;
  relation?: string;
  force?: [string, string];
  sign?: [number, number];
}

export interface RunJson {
  name: string;
  title: string;
  about: [string, string][];
  ok: boolean;
  end: string;
  referee: { words: string; ok: boolean; findings: string[] };
  columns: ColumnHead[];
  rows: number;
  allRows: number;
  time: string;
  data: string;
  extremes: { name: string; least: number; leastTime: number; most: number; mostTime: number }[];
  events: EventList;
  start: Record<string, string>;
  loads: { contact: string; from: number; to: number; peak: number; impulse: number }[];
  loadsTotal: number;
  work: { name: string; dissipated: number; supplied: number }[];
  energy: [string, number][];
  parameters: { name: string; value: string; unit?: string }[];
  reactions: { contact: string; normal: string; tangent: string; mu?: number }[];
  equations: { name: string; math: string }[];
  model: string;
  notes: string[];
  scene?: { shapes: Shape[]; numbers: number; rows: number; time: string; data: string };
}

export interface PageJson {
  title: string;
  program: string;
  plots: string[][];
  runs: RunJson[];
  /** Of `judder run --watch`: which page this is, and the file beside it that says which one it should be. */
  watch?: { stamp: string; note: string };
}

export interface Column extends ColumnHead {
  values: Float32Array;
}

export interface Run extends Omit<RunJson, "time" | "data" | "columns" | "scene"> {
  t: Float64Array;
  columns: Column[];
  /** Row i is the limit after an instant whose limit before is row i - 1. */
  jumps: number[];
  scene?: { shapes: Shape[]; numbers: number; rows: number; t: Float64Array; values: Float32Array };
}

export function bytes(text: string): ArrayBuffer {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) out[i] = raw.charCodeAt(i);
  return out.buffer;
}

const scratch = new DataView(new ArrayBuffer(8));

/** The next larger double. */
export function after(x: number): number {
  if (x === 0) return Number.MIN_VALUE;
  scratch.setFloat64(0, x);
  const bits = scratch.getBigInt64(0);
  scratch.setBigInt64(0, x > 0 ? bits + 1n : bits - 1n);
  return scratch.getFloat64(0);
}

function ascending(t: Float64Array): number[] {
  const jumps: number[] = [];
  for (let i = 1; i < t.length; ++i) {
    if (t[i] > t[i - 1]) continue;
    t[i] = after(t[i - 1]);
    jumps.push(i);
  }
  return jumps;
}

export interface Rows {
  times: Float64Array;
  columns: Float32Array;
  sceneTimes?: Float64Array;
  scene?: Float32Array;
}

export type RunHead = Omit<RunJson, "time" | "data" | "scene"> & { scene?: { shapes: Shape[]; numbers: number; rows: number } };

/** A run of its description and its numbers; the arrays are taken over. */
export function runOf(head: RunHead, rows: Rows): Run {
  const t = rows.times;
  const jumps = ascending(t);
  const columns = head.columns.map((column, i) => ({ ...column, values: rows.columns.subarray(i * head.rows, (i + 1) * head.rows) }));
  const { columns: _c, scene, ...rest } = head;
  const run: Run = { ...rest, t, columns, jumps };
  if (scene && rows.sceneTimes && rows.scene && scene.numbers > 0) {
    ascending(rows.sceneTimes);
    run.scene = { ...scene, t: rows.sceneTimes, values: rows.scene };
  }
  return run;
}

export function decode(json: RunJson): Run {
  const { time, data, scene, ...head } = json;
  const rows: Rows = { times: new Float64Array(bytes(time)), columns: new Float32Array(bytes(data)) };
  if (scene) {
    rows.sceneTimes = new Float64Array(bytes(scene.time));
    rows.scene = new Float32Array(bytes(scene.data));
  }
  return runOf({ ...head, scene }, rows);
}

export function label(run: Run, name: string): string {
  return column(run, name)?.shown ?? name;
}

export function column(run: Run, name: string): Column | undefined {
  return run.columns.find((c) => c.name === name);
}

/** The last i with t[i] <= at; 0 where there is none. */
export function lowerIndex(t: ArrayLike<number>, at: number): number {
  let low = 0;
  let high = t.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (t[middle] <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** From when to when an element had a status. */
export interface Phase {
  from: number;
  to: number;
  status: "open" | "stick" | "slip+" | "slip-" | "slip" | "closed" | "held" | "unknown";
}

function slipOf(detail: string): Phase["status"] | undefined {
  return detail.split(" ").find((w) => w === "stick" || w.startsWith("slip")) as Phase["status"] | undefined;
}

/** `struck`: what the last impact of the element has left of its slip. An accumulation does not say it, and goes on as its impacts did. */
function next(status: Phase["status"], kind: string, detail: string, struck: Phase["status"] | undefined): Phase["status"] {
  const words = detail.split(" ");
  const slip = slipOf(detail);
  switch (kind) {
    case "lift-off":
      return "open";
    case "impact":
    case "contact":
    case "tangential-impact":
      if (words.includes("rebound")) return "open";
      return slip ?? "closed";
    case "stick":
      return "stick";
    case "slip":
    case "reversal":
      return detail.startsWith("+") ? "slip+" : detail.startsWith("-") ? "slip-" : "slip";
    case "accumulation":
      return status === "open" ? (struck ?? "closed") : status;
    default:
      return status;
  }
}

/** The status of every contact, joint and constraint over the run, from the start and the events. */
export function phases(run: Run): Map<string, Phase[]> {
  const out = new Map<string, Phase[]>();
  const begin = run.t.length > 0 ? run.t[0] : 0;
  const end = run.t.length > 0 ? run.t[run.t.length - 1] : 0;
  for (const [name, status] of Object.entries(run.start)) out.set(name, [{ from: begin, to: end, status: status as Phase["status"] }]);
  const struck = new Map<string, Phase["status"] | undefined>();
  const e = run.events;
  for (let i = 0; i < e.time.length; ++i) {
    const list = out.get(e.where[i]);
    if (!list) continue;
    const last = list[list.length - 1];
    if (e.kind[i] === "impact") struck.set(e.where[i], slipOf(e.detail[i]));
    const status = next(last.status, e.kind[i], e.detail[i], struck.get(e.where[i]));
    if (status === last.status) continue;
    last.to = e.time[i];
    if (last.to === last.from) list.pop();
    list.push({ from: e.time[i], to: end, status });
  }
  // A page has the first events of a long run: what they leave may have changed behind them.
  if (e.total > e.time.length && e.time.length > 0) {
    const known = e.time[e.time.length - 1];
    for (const list of out.values()) {
      list[list.length - 1].to = known;
      list.push({ from: known, to: end, status: "unknown" });
    }
  }
  return out;
}

/** When a motion does not cross where its law jumps but goes along there: slides on the surface of a switch, or sticks where one contact or joint alone does. */
export interface Slides {
  word: "slides" | "sticks";
  times: [number, number][];
}

export function slides(run: Run): Slides | undefined {
  const end = run.t.length > 0 ? run.t[run.t.length - 1] : 0;
  const e = run.events;
  const open = new Map<string, number>();
  const times: [number, number][] = [];
  for (let i = 0; i < e.time.length; ++i) {
    if (e.kind[i] === "slide-begin" && !open.has(e.where[i])) open.set(e.where[i], e.time[i]);
    else if (e.kind[i] === "slide-end") {
      // What slides from the start has an end alone.
      times.push([open.get(e.where[i]) ?? run.t[0], e.time[i]]);
      open.delete(e.where[i]);
    }
  }
  for (const begin of open.values()) times.push([begin, end]);
  if (times.length > 0) return { word: "slides", times };
  const sticking = [...phases(run).values()].map((list) => list.filter((p) => p.status === "stick")).filter((list) => list.length > 0);
  if (sticking.length !== 1) return undefined;
  return { word: "sticks", times: sticking[0].map((p) => [p.from, p.to]) };
}

export function statusAt(list: Phase[] | undefined, t: number): Phase["status"] {
  if (!list || list.length === 0) return "open";
  return list[lowerIndex(list.map((p) => p.from), t)].status;
}

/** Six figures, and no more digits than needed. */
export function short(x: number, digits = 6): string {
  if (!Number.isFinite(x)) return String(x);
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e6 || size < 1e-4 ? x.toExponential(digits - 1) : x.toPrecision(digits);
  return text.includes(".") ? text.replace(/\.?0+(e|$)/, "$1") : text;
}
