// One quantity over another: phase portraits, and the plane of a contact's reactions with its friction cone.

import { Picture, Sight, ticks } from "./canvas";
import type { Clock } from "./clock";
import { kindColour, run_colour, statusColour, theme } from "./colours";
import { column, label, lowerIndex, Phase, phases, Run, short, Slides, slides, statusAt } from "./data";

interface Path {
  run: Run;
  x: Float32Array;
  y: Float32Array;
  colour: string;
  slides?: Slides;
}

interface Window {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

export interface Cone {
  mu: number;
  contact: string;
}

const mostLinks = 500;

export class PhasePlot {
  private readonly picture: Picture;
  private paths: Path[] = [];
  private status?: Phase[];
  private box: Window = { x0: 0, x1: 1, y0: 0, y1: 1 };
  private readonly note: HTMLElement;
  private readonly still = document.createElement("canvas");
  /** What is being dragged around, in pixels. */
  private chosen?: Window;

  constructor(
    host: HTMLElement,
    runs: Run[],
    private readonly xName: string,
    private readonly yName: string,
    private readonly clock: Clock,
    private readonly cone?: Cone,
  ) {
    this.picture = new Picture(host, `${yName} over ${xName}`);
    this.note = document.createElement("div");
    this.note.className = "note";
    host.append(this.note);
    this.take(runs);
    this.showAll();
    this.mouse();
    const sight = new Sight(this.picture.canvas);
    let all = false; // what was put off, if anything was
    const put = (whole: boolean) => {
      all = all || whole;
      sight.do(() => {
        if (all) this.draw();
        else this.moment();
        all = false;
      });
    };
    clock.onTime(() => put(false));
    clock.onRange(() => put(true));
  }

  get empty(): boolean {
    return this.paths.length === 0;
  }

  /** Other runs of the same model. */
  update(runs: Run[]): void {
    this.take(runs);
    this.showAll();
  }

  private take(runs: Run[]): void {
    this.paths = [];
    runs.forEach((run, r) => {
      const x = column(run, this.xName);
      const y = column(run, this.yName);
      if (x && y && !x.words && !y.words) this.paths.push({ run, x: x.values, y: y.values, colour: run_colour(r), slides: this.cone ? undefined : slides(run) });
    });
    if (this.cone && runs.length === 1) this.status = phases(runs[0]).get(this.cone.contact);
  }

  private showAll(): void {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const p of this.paths) {
      for (let i = 0; i < p.x.length; ++i) {
        if (!Number.isFinite(p.x[i]) || !Number.isFinite(p.y[i])) continue;
        x0 = Math.min(x0, p.x[i]);
        x1 = Math.max(x1, p.x[i]);
        y0 = Math.min(y0, p.y[i]);
        y1 = Math.max(y1, p.y[i]);
      }
    }
    if (!(x1 >= x0)) [x0, x1, y0, y1] = [0, 1, 0, 1];
    if (this.cone) {
      y0 = Math.min(0, y0);
      const reach = Math.max(Math.abs(x0), Math.abs(x1), this.cone.mu * y1);
      [x0, x1] = [-reach, reach];
    }
    const room = (a: number, b: number) => (b > a ? 0.05 * (b - a) : Math.abs(a) * 0.1 || 1);
    const [rx, ry] = [room(x0, x1), room(y0, y1)];
    this.box = { x0: x0 - rx, x1: x1 + rx, y0: y0 - ry, y1: y1 + ry };
    this.draw();
  }

  private frame() {
    const top = this.paths.some((p) => p.slides) ? 18 : 10; // the key has its place above
    return { left: 68, top, width: Math.max(50, this.picture.width - 84), height: Math.max(50, this.picture.height - 42 - top) };
  }
  private px(x: number): number {
    const f = this.frame();
    return f.left + ((x - this.box.x0) / (this.box.x1 - this.box.x0)) * f.width;
  }
  private ux(pixel: number): number {
    const f = this.frame();
    return this.box.x0 + ((pixel - f.left) / f.width) * (this.box.x1 - this.box.x0);
  }
  private uy(pixel: number): number {
    const f = this.frame();
    return this.box.y1 - ((pixel - f.top) / f.height) * (this.box.y1 - this.box.y0);
  }
  private py(y: number): number {
    const f = this.frame();
    return f.top + f.height - ((y - this.box.y0) / (this.box.y1 - this.box.y0)) * f.height;
  }

  draw(): void {
    this.picture.fit((width) => Math.min(360, Math.max(220, width * 0.7)));
    const { ctx } = this.picture;
    const colours = theme();
    const f = this.frame();
    ctx.clearRect(0, 0, this.picture.width, this.picture.height);
    this.axes(f, colours);
    ctx.save();
    ctx.beginPath();
    ctx.rect(f.left, f.top, f.width, f.height);
    ctx.clip();
    if (this.cone) this.drawCone(colours.faint);
    for (const p of this.paths) this.drawPath(p);
    if (this.chosen) {
      const { x0, y0, x1, y1 } = this.chosen;
      ctx.fillStyle = colours.ink;
      ctx.globalAlpha = 0.1;
      ctx.fillRect(x0, y0, x1 - x0, y1 - y0);
      ctx.globalAlpha = 1;
    }
    ctx.restore();
    this.drawKey(f, colours.ink);
    this.keep();
    this.drawMoment(f, colours.paper);
  }

  /** All but the moving point: it is drawn once for a thousand moments. */
  private keep(): void {
    const { canvas } = this.picture;
    if (this.still.width !== canvas.width || this.still.height !== canvas.height) [this.still.width, this.still.height] = [canvas.width, canvas.height];
    const ctx = this.still.getContext("2d");
    ctx?.clearRect(0, 0, canvas.width, canvas.height);
    ctx?.drawImage(canvas, 0, 0);
  }

  /** Another time, nothing else. */
  private moment(): void {
    const { canvas, ctx } = this.picture;
    if (this.still.width !== canvas.width || this.still.height !== canvas.height) return this.draw();
    ctx.save();
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, canvas.width, canvas.height);
    ctx.drawImage(this.still, 0, 0);
    ctx.restore();
    this.drawMoment(this.frame(), theme().paper);
  }

  private drawMoment(f: { left: number; top: number; width: number; height: number }, paper: string): void {
    const { ctx } = this.picture;
    ctx.save();
    ctx.beginPath();
    ctx.rect(f.left, f.top, f.width, f.height);
    ctx.clip();
    for (const p of this.paths) this.drawNow(p, paper);
    ctx.restore();
  }

  private axes(f: { left: number; top: number; width: number; height: number }, colours: ReturnType<typeof theme>): void {
    const { ctx } = this.picture;
    ctx.strokeStyle = colours.grid;
    ctx.fillStyle = colours.ink;
    ctx.lineWidth = 1;
    ctx.font = "12px system-ui, sans-serif";
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    for (const x of ticks(this.box.x0, this.box.x1, f.width / 90)) {
      const at = Math.round(this.px(x)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(at, f.top);
      ctx.lineTo(at, f.top + f.height);
      ctx.stroke();
      ctx.fillText(short(x, 4), at, f.top + f.height + 6);
    }
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const y of ticks(this.box.y0, this.box.y1, f.height / 50)) {
      const at = Math.round(this.py(y)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(f.left, at);
      ctx.lineTo(f.left + f.width, at);
      ctx.stroke();
      ctx.fillText(short(y, 4), f.left - 6, at);
    }
    ctx.textAlign = "center";
    ctx.fillText(this.shown(this.xName), f.left + f.width / 2, f.top + f.height + 32);
    ctx.save();
    ctx.translate(12, f.top + f.height / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(this.shown(this.yName), 0, 0);
    ctx.restore();
  }

  private shown(name: string): string {
    return this.paths.length > 0 ? label(this.paths[0].run, name) : name;
  }

  private drawCone(colour: string): void {
    if (!this.cone) return;
    const { ctx } = this.picture;
    const top = Math.max(this.box.y1, 0);
    ctx.beginPath();
    ctx.moveTo(this.px(-this.cone.mu * top), this.py(top));
    ctx.lineTo(this.px(0), this.py(0));
    ctx.lineTo(this.px(this.cone.mu * top), this.py(top));
    ctx.globalAlpha = 0.2;
    ctx.fillStyle = colour;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.strokeStyle = colour;
    ctx.stroke();
  }

  private drawPath(p: Path): void {
    const { ctx } = this.picture;
    const { t } = p.run;
    const first = Math.max(0, lowerIndex(t, this.clock.from));
    const last = Math.min(t.length - 1, lowerIndex(t, this.clock.to) + 1);
    const jumps = new Set(p.run.jumps);
    const f = this.frame();
    const [sx, sy] = [f.width / (this.box.x1 - this.box.x0), -f.height / (this.box.y1 - this.box.y0)];
    const [x0, y0] = [f.left - this.box.x0 * sx, f.top + f.height - this.box.y0 * sy];
    this.drawSlides(p, (x) => x0 + sx * x, (y) => y0 + sy * y);
    ctx.strokeStyle = p.colour;
    ctx.lineWidth = 1.4;
    ctx.beginPath();
    let pen = false;
    for (let i = first; i <= last; ++i) {
      const x = x0 + sx * p.x[i];
      const y = y0 + sy * p.y[i];
      if (!Number.isFinite(x) || !Number.isFinite(y)) {
        pen = false;
        continue;
      }
      if (!pen || jumps.has(i)) ctx.moveTo(x, y);
      else ctx.lineTo(x, y);
      pen = true;
    }
    ctx.stroke();
    ctx.globalAlpha = 0.5;
    ctx.setLineDash([3, 3]);
    ctx.lineWidth = 1;
    ctx.beginPath();
    // Where jumps are a crowd, their links would be a grey field.
    const inView = p.run.jumps.filter((i) => i >= first && i <= last);
    for (const i of inView.length > mostLinks ? [] : inView) {
      ctx.moveTo(this.px(p.x[i - 1]), this.py(p.y[i - 1]));
      ctx.lineTo(this.px(p.x[i]), this.py(p.y[i]));
    }
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
    this.drawEvents(p);
  }

  /** Wide, under the curve: where the motion goes along a jump of its law. */
  private drawSlides(p: Path, px: (x: number) => number, py: (y: number) => number): void {
    const { ctx } = this.picture;
    const { t } = p.run;
    ctx.strokeStyle = statusColour.stick;
    ctx.lineCap = "round";
    ctx.lineWidth = 6;
    ctx.globalAlpha = 0.45;
    ctx.beginPath();
    for (const [from, to] of p.slides?.times ?? []) {
      if (to < this.clock.from || from > this.clock.to) continue;
      // Rows at the instant itself are the limits before and after it: the first with a later time is behind.
      let i = lowerIndex(t, Math.max(from, this.clock.from));
      while (i + 1 < t.length && t[i + 1] - from <= 1e-12 * Math.abs(from)) ++i;
      ctx.moveTo(px(p.x[i]), py(p.y[i]));
      for (++i; i < t.length && t[i] <= Math.min(to, this.clock.to); ++i) ctx.lineTo(px(p.x[i]), py(p.y[i]));
    }
    ctx.stroke();
    ctx.lineCap = "butt";
    ctx.globalAlpha = 1;
  }

  /** What the wide lines are. */
  private drawKey(f: { left: number; width: number }, ink: string): void {
    const word = this.paths.find((p) => p.slides)?.slides?.word;
    if (!word) return;
    const { ctx } = this.picture;
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    const right = f.left + f.width - 6;
    const begin = right - ctx.measureText(word).width - 26;
    ctx.strokeStyle = statusColour.stick;
    ctx.globalAlpha = 0.45;
    ctx.lineWidth = 6;
    ctx.beginPath();
    ctx.moveTo(begin, 8);
    ctx.lineTo(begin + 20, 8);
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.fillStyle = ink;
    ctx.fillText(word, right, 9);
  }

  private drawEvents(p: Path): void {
    const e = p.run.events;
    if (e.time.length > 500) return;
    const { ctx } = this.picture;
    for (let k = 0; k < e.time.length; ++k) {
      if (e.time[k] < this.clock.from || e.time[k] > this.clock.to || e.kind[k] === "switch" || e.kind[k] === "watch") continue;
      const i = lowerIndex(p.run.t, e.time[k]);
      ctx.fillStyle = kindColour[e.kind[k]] ?? p.colour;
      ctx.beginPath();
      ctx.arc(this.px(p.x[i]), this.py(p.y[i]), 2.2, 0, 2 * Math.PI);
      ctx.fill();
    }
  }

  private drawNow(p: Path, paper: string): void {
    const i = lowerIndex(p.run.t, this.clock.now);
    const j = Math.min(i + 1, p.run.t.length - 1);
    const share = j > i && this.clock.now > p.run.t[i] ? (this.clock.now - p.run.t[i]) / (p.run.t[j] - p.run.t[i]) : 0;
    const x = p.x[i] + share * (p.x[j] - p.x[i]);
    const y = p.y[i] + share * (p.y[j] - p.y[i]);
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    const { ctx } = this.picture;
    ctx.fillStyle = this.status ? statusColour[statusAt(this.status, this.clock.now)] : p.colour;
    ctx.strokeStyle = paper;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(this.px(x), this.py(y), 5, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
    this.note.textContent = `t = ${short(this.clock.now)}: ${this.xName} = ${short(x)}, ${this.yName} = ${short(y)}`;
  }

  /** As in the plots over the time: drag zooms, shift and drag moves, ctrl and wheel zoom, two clicks show all. One click goes to the time of the nearest point. */
  private mouse(): void {
    const canvas = this.picture.canvas;
    let start: { x: number; y: number; box: Window; moves: boolean } | undefined;
    let moved = false;
    canvas.addEventListener("mousedown", (event) => {
      start = { x: event.offsetX, y: event.offsetY, box: { ...this.box }, moves: event.shiftKey || event.button === 1 };
      if (start.moves) event.preventDefault();
      moved = false;
    });
    canvas.addEventListener("mousemove", (event) => {
      if (!start) return;
      moved = moved || Math.hypot(event.offsetX - start.x, event.offsetY - start.y) > 3;
      if (start.moves) {
        const f = this.frame();
        const dx = ((event.offsetX - start.x) / f.width) * (start.box.x1 - start.box.x0);
        const dy = ((event.offsetY - start.y) / f.height) * (start.box.y1 - start.box.y0);
        this.box = { x0: start.box.x0 - dx, x1: start.box.x1 - dx, y0: start.box.y0 + dy, y1: start.box.y1 + dy };
      } else {
        this.chosen = moved ? { x0: start.x, y0: start.y, x1: event.offsetX, y1: event.offsetY } : undefined;
      }
      this.draw();
    });
    addEventListener("mouseup", () => {
      const chosen = this.chosen;
      start = undefined;
      this.chosen = undefined;
      if (!chosen) return;
      const [left, right] = [Math.min(chosen.x0, chosen.x1), Math.max(chosen.x0, chosen.x1)];
      const [top, bottom] = [Math.min(chosen.y0, chosen.y1), Math.max(chosen.y0, chosen.y1)];
      // What is only wide or only high is meant for that axis.
      const { box } = this;
      if (right - left > 6) [box.x0, box.x1] = [this.ux(left), this.ux(right)];
      if (bottom - top > 6) [box.y0, box.y1] = [this.uy(bottom), this.uy(top)];
      this.draw();
    });
    canvas.addEventListener("click", (event) => {
      if (!moved) this.goTo(event.offsetX, event.offsetY);
    });
    canvas.addEventListener("dblclick", () => this.showAll());
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!(event.ctrlKey || event.altKey || event.metaKey)) return;
        event.preventDefault();
        const f = this.frame();
        const factor = Math.exp(event.deltaY * 0.002);
        const cx = this.box.x0 + ((event.offsetX - f.left) / f.width) * (this.box.x1 - this.box.x0);
        const cy = this.box.y1 - ((event.offsetY - f.top) / f.height) * (this.box.y1 - this.box.y0);
        this.box = {
          x0: cx + (this.box.x0 - cx) * factor,
          x1: cx + (this.box.x1 - cx) * factor,
          y0: cy + (this.box.y0 - cy) * factor,
          y1: cy + (this.box.y1 - cy) * factor,
        };
        this.draw();
      },
      { passive: false },
    );
  }

  private goTo(x: number, y: number): void {
    let best = Infinity;
    let time = this.clock.now;
    for (const p of this.paths) {
      for (let i = 0; i < p.x.length; ++i) {
        const d = Math.hypot(this.px(p.x[i]) - x, this.py(p.y[i]) - y);
        if (d < best) [best, time] = [d, p.run.t[i]];
      }
    }
    if (best < 30) this.clock.setTime(time);
  }
}
