// Time series: one panel of curves over t, by uPlot. All panels of a page show the same stretch of time.
//
// A jump is a gap in the curve with a thin dashed link, never a slope.

import uPlot from "uplot";
import { Sight } from "./canvas";
import { palette, run_colour, theme } from "./colours";
import { after, column, label, Run, short } from "./data";
import type { Clock } from "./clock";
import { decades } from "./decades";
import { runName } from "./parts";

export const axisWidth = 68;
export const rightMargin = 14;

interface Link {
  t: number;
  from: number;
  to: number;
}

interface Curve {
  label: string;
  colour: string;
  dash: number[];
  t: Float64Array;
  y: (number | null)[];
  links: Link[];
}

const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

function curve(run: Run, name: string): Omit<Curve, "label" | "colour" | "dash"> | undefined {
  const found = column(run, name);
  if (!found || found.words) return undefined;
  const values = found.values;
  const t = new Float64Array(run.t.length + run.jumps.length);
  const y: (number | null)[] = new Array(t.length);
  const links: Link[] = [];
  let out = 0;
  let jump = 0;
  for (let i = 0; i < run.t.length; ++i) {
    let shift = 0;
    if (jump < run.jumps.length && run.jumps[jump] === i) {
      ++jump;
      t[out] = run.t[i];
      y[out++] = null;
      shift = 1;
      if (values[i] !== values[i - 1]) links.push({ t: run.t[i], from: values[i - 1], to: values[i] });
    }
    t[out] = shift ? after(run.t[i]) : run.t[i];
    y[out++] = Number.isFinite(values[i]) ? values[i] : null;
  }
  // A value that does not jump needs no gap.
  for (let i = 1; i + 1 < out; ++i) {
    if (y[i] === null && y[i - 1] === y[i + 1]) y[i] = y[i - 1];
  }
  return { t, y, links };
}

function sameTimes(a: Float64Array, b: Float64Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; ++i) if (a[i] !== b[i]) return false;
  return true;
}

const crowded = 3; // jumps in one column of pixels, beyond which they are a band and no links
const apart = 4; // pixels between two links, at the least
const tall = 20; // pixels of a column that are more than a piece of a line
const few = 4; // points in one column that are drawn as they are

/**
 * The line of a curve, broken where it jumps. Of a column of pixels that holds much of it stay the first, the least, the largest and the last point.
 * uPlot's own lines would draw what lies in one column as one stroke, and so each jump as a slope.
 */
const broken: uPlot.Series.PathBuilder = (u, number, first, last) => {
  const stroke = new Path2D();
  const t = u.data[0];
  const y = u.data[number] as (number | null | undefined)[];
  const { bbox } = u;
  const [x0, x1] = [u.scales.x.min!, u.scales.x.max!];
  const scale = u.scales[u.series[number].scale ?? "y"];
  const log = scale.distr === 3;
  const height = (v: number) => (log ? Math.log10(v) : v);
  const [y0, y1] = [height(scale.min!), height(scale.max!)];
  const [sx, sy] = [bbox.width / (x1 - x0), bbox.height / (y1 - y0)];
  const bottom = bbox.top + bbox.height;
  const px = (i: number) => bbox.left + (t[i] - x0) * sx;
  const py = (i: number) => bottom - (height(y[i] as number) - y0) * sy;
  // Of the column at hand, behind its first point.
  let pixel = NaN;
  let begin = 0;
  let [count, breaks, least, most, end] = [0, 0, 0, 0, 0];
  const points = [0, 0, 0, 0];
  let pen = false;
  const flush = () => {
    if (count > few) {
      const [a, b] = [Math.min(least, most), Math.max(least, most)];
      const [all, way] = [Math.abs(py(a) - py(b)), Math.abs(py(begin) - py(end))];
      if (all > tall * devicePixelRatio && way < 0.5 * all) {
        // Up and down: a line of its own, as one long line of thousands of sharp turns takes long to be drawn.
        stroke.moveTo(pixel, py(a));
        stroke.lineTo(pixel, py(b));
        stroke.moveTo(px(end), py(end));
        count = 0;
      } else {
        [points[0], points[1], points[2]] = [a, b, end];
        count = 3;
      }
    }
    for (let k = 0; k < count; ++k) stroke.lineTo(px(points[k]), py(points[k]));
    count = 0;
  };
  for (let i = first; i <= last; ++i) {
    const v = y[i];
    if (v === undefined) continue;
    const x = px(i);
    if (v === null || !Number.isFinite(height(v))) {
      // In a crowd of jumps the links are drawn as the band that they would be.
      if (v === null && pen && Math.round(x) === pixel && ++breaks > crowded) continue;
      flush();
      pen = false;
      continue;
    }
    const column = Math.round(x);
    if (pen && column === pixel) {
      if (count === 0) least = most = begin;
      if (v < (y[least] as number)) least = i;
      if (v > (y[most] as number)) most = i;
      if (count < few) points[count] = i;
      end = i;
      ++count;
      continue;
    }
    flush();
    if (column !== pixel) breaks = 0;
    pixel = column;
    begin = i;
    if (pen) stroke.lineTo(x, py(i));
    else stroke.moveTo(x, py(i));
    pen = true;
  }
  flush();
  return { stroke, fill: null, clip: null, band: null, gaps: null, flags: 3 } as unknown as uPlot.Series.Paths;
};

export class SeriesPanel {
  private plot?: uPlot;
  private curves: Curve[] = [];
  private logarithmic = false;
  private following = false;

  constructor(
    private readonly host: HTMLElement,
    runs: Run[],
    private readonly names: string[],
    private readonly clock: Clock,
  ) {
    this.curves = this.curvesOf(runs);
    this.build();
    const sight = new Sight(host);
    let moved = false; // the stretch of time, since it was drawn
    const put = (range: boolean) => {
      moved = moved || range;
      sight.do(() => {
        if (moved) this.range(clock.from, clock.to);
        moved = false;
        this.cursor(clock.now);
      });
    };
    clock.onRange(() => put(true));
    clock.onTime(() => put(false));
  }

  private curvesOf(runs: Run[]): Curve[] {
    const several = runs.length > 1;
    const out: Curve[] = [];
    runs.forEach((run, r) => {
      this.names.forEach((name, n) => {
        const made = curve(run, name);
        if (!made) return;
        out.push({
          ...made,
          label: several ? `${label(run, name)}, ${runName(run, runs)}` : label(run, name),
          colour: several ? run_colour(r) : palette[n % palette.length],
          dash: several ? dashes[n % dashes.length] : [],
        });
      });
    });
    return out;
  }

  /** Other runs of the same model. */
  update(runs: Run[]): void {
    const curves = this.curvesOf(runs);
    const same = this.plot !== undefined && curves.length === this.curves.length && curves.every((c, i) => c.label === this.curves[i].label);
    this.curves = curves;
    if (!same) return this.build();
    const plot = this.plot!;
    plot.batch(() => {
      plot.setData(this.data(), false);
      this.range(this.clock.from, this.clock.to);
    });
  }

  private data(): uPlot.AlignedData {
    const tables = this.curves.map((c) => [c.t, c.y] as unknown as uPlot.AlignedData);
    return tables.length === 1 || this.curves.every((c) => sameTimes(c.t, this.curves[0].t)) ? ([this.curves[0].t, ...this.curves.map((c) => c.y)] as uPlot.AlignedData) : uPlot.join(tables);
  }

  get empty(): boolean {
    return this.curves.length === 0;
  }

  resize(): void {
    this.plot?.setSize({ width: this.host.clientWidth, height: 230 });
  }

  build(): void {
    this.plot?.destroy();
    if (this.empty) return;
    const colours = theme();
    const axis = { stroke: colours.ink, grid: { stroke: colours.grid, width: 1 }, ticks: { stroke: colours.grid, width: 1 }, font: "12px system-ui, sans-serif" };
    const value = (_u: uPlot, v: number | null) => (v === null || v === undefined ? "" : short(v));
    const options: uPlot.Options = {
      width: Math.max(240, this.host.clientWidth),
      height: 230,
      padding: [8, rightMargin, 0, 0],
      cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 7 }, bind: this.mouse() },
      scales: { x: { time: false, range: (_u, min, max) => [min, max] }, y: this.logarithmic ? { distr: 3, range: () => this.decades() } : {} },
      axes: [
        { ...axis, values: (_u, splits) => splits.map((v) => short(v)) },
        { ...axis, size: axisWidth, values: (_u, splits) => splits.map((v) => (v === null ? "" : short(v, 4))) },
      ],
      series: [
        { label: "t", value },
        ...this.curves.map((c) => ({ label: c.label, stroke: c.colour, width: 1.5, dash: c.dash, value, points: { show: false }, paths: broken })),
      ],
      hooks: {
        draw: [(u) => this.drawLinks(u)],
        setCursor: [
          (u) => {
            if (this.following || u.cursor.left === undefined || u.cursor.left === null || u.cursor.left < 0) return;
            this.clock.setTime(u.posToVal(u.cursor.left, "x"), this);
          },
        ],
        setSelect: [
          (u) => {
            if (u.select.width < 4) return;
            this.clock.setRange(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    };
    this.plot = new uPlot(options, this.data(), this.host);
    this.range(this.clock.from, this.clock.to);
  }

  private decades(): [number, number] {
    const values: number[] = [];
    this.curves.forEach((c, i) => {
      if (this.plot && !this.plot.series[i + 1].show) return;
      const step = Math.max(1, Math.floor(c.t.length / 4000));
      for (let k = 0; k < c.t.length; k += step) {
        const v = c.y[k];
        if (typeof v === "number" && c.t[k] >= this.clock.from && c.t[k] <= this.clock.to) values.push(v);
      }
    });
    return decades(values);
  }

  setLogarithmic(on: boolean): void {
    this.logarithmic = on;
    this.build();
  }

  /** Dragging with the shift key or the middle button moves the stretch of time, the wheel makes it longer or shorter, two clicks show all. */
  private mouse(): uPlot.Cursor.Bind {
    return {
      dblclick: () => () => {
        this.clock.showAll();
        return null;
      },
    };
  }

  private range(from: number, to: number): void {
    if (this.plot && to > from) this.plot.setScale("x", { min: from, max: to });
  }

  private cursor(t: number): void {
    if (!this.plot) return;
    this.following = true;
    const left = this.plot.valToPos(t, "x");
    this.plot.setCursor({ left, top: this.plot.over.clientHeight / 2 }, false);
    this.following = false;
  }

  private drawLinks(u: uPlot): void {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    this.curves.forEach((c, i) => {
      if (!u.series[i + 1].show) return;
      ctx.strokeStyle = c.colour;
      ctx.globalAlpha = 0.6;
      ctx.beginPath();
      // Links side by side would be a band, where the curve is one already.
      const inView = c.links.filter((link) => link.t >= this.clock.from && link.t <= this.clock.to);
      for (const link of inView.length * apart * devicePixelRatio > bbox.width ? [] : inView) {
        const x = Math.round(u.valToPos(link.t, "x", true));
        ctx.moveTo(x, u.valToPos(link.from, "y", true));
        ctx.lineTo(x, u.valToPos(link.to, "y", true));
      }
      ctx.stroke();
    });
    ctx.restore();
  }
}
