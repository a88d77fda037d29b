// The drawing of the model ([[draw]]), moved by a run: shapes in the colours of their contacts, arrows of reactions in one scale.

import { Picture, ticks } from "./canvas";
import type { Clock } from "./clock";
import { palette, statusColour, statusWord, theme, Theme } from "./colours";
import { column, lowerIndex, Phase, phases, Run, Shape, short, statusAt } from "./data";

interface Box {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

type Ctx = CanvasRenderingContext2D;

const nothing = (): Box => ({ x0: Infinity, x1: -Infinity, y0: Infinity, y1: -Infinity });

/** Makes the box larger. It is asked for every shape at a thousand times of every run, so nothing is made anew. */
function around(box: Box, x: number, y: number, r = 0): Box {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return box;
  box.x0 = Math.min(box.x0, x - r);
  box.x1 = Math.max(box.x1, x + r);
  box.y0 = Math.min(box.y0, y - r);
  box.y1 = Math.max(box.y1, y + r);
  return box;
}

/** Corners of a box or polygon in the plane of the model. */
function corners(shape: Shape, v: ArrayLike<number>): [number, number][] {
  const [x, y] = [v[0], v[1]];
  const turn = shape.shape === "box" ? v[4] : v[2];
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  const local: [number, number][] =
    shape.shape === "box"
      ? [
          [-v[2] / 2, -v[3] / 2],
          [v[2] / 2, -v[3] / 2],
          [v[2] / 2, v[3] / 2],
          [-v[2] / 2, v[3] / 2],
        ]
      : Array.from({ length: (shape.numbers - 3) / 2 }, (_, i) => [v[3 + 2 * i], v[4 + 2 * i]]);
  return local.map(([a, b]) => [x + c * a - s * b, y + s * a + c * b]);
}

function bounds(shape: Shape, v: ArrayLike<number>, box: Box): Box {
  switch (shape.shape) {
    case "circle":
      return around(box, v[0], v[1], Math.abs(v[2]));
    case "box": {
      const [c, s] = [Math.abs(Math.cos(v[4])), Math.abs(Math.sin(v[4]))];
      const [wide, high] = [(c * Math.abs(v[2]) + s * Math.abs(v[3])) / 2, (s * Math.abs(v[2]) + c * Math.abs(v[3])) / 2];
      return around(around(box, v[0] - wide, v[1] - high), v[0] + wide, v[1] + high);
    }
    case "polygon": {
      const [c, s] = [Math.cos(v[2]), Math.sin(v[2])];
      for (let i = 3; i + 1 < shape.numbers; i += 2) around(box, v[0] + c * v[i] - s * v[i + 1], v[1] + s * v[i] + c * v[i + 1]);
      return box;
    }
    case "arrow":
      return around(box, v[0], v[1]);
    default:
      return around(around(box, v[0], v[1]), v[2], v[3]);
  }
}

const strip = 18; // of the numbers below a drawing, in pixels
const edge = 24; // pixels around a drawing

export class Scene {
  private readonly picture: Picture;
  private status = new Map<string, Phase[]>();
  private all: Box = nothing();
  private size = { width: 1, height: 1 };
  private forceScale = 0;
  private shownStatus: string[] = [];
  private now = new Float64Array(0);
  follow = false;

  constructor(
    host: HTMLElement,
    private run: Run,
    private readonly clock: Clock,
    private readonly height = 320,
  ) {
    this.picture = new Picture(host, "drawing of the model at the present time");
    this.measure();
    // Where all is seen, so is what a body touches: the eye travels with it only where it would be a speck.
    const speck = 30;
    this.follow = this.all.x1 - this.all.x0 > speck * this.size.width || this.all.y1 - this.all.y0 > speck * this.size.height;
    clock.onTime(() => this.draw());
    this.draw();
  }

  /** Another run of the same model. */
  update(run: Run): void {
    this.run = run;
    this.measure();
    this.draw();
  }

  private measure(): void {
    this.status = phases(this.run);
    this.now = new Float64Array(this.run.scene?.numbers ?? 0);
    this.fixedShapes = undefined;
    this.all = this.allBounds();
    this.size = this.largestFrame();
    this.forceScale = this.largestForce();
    this.shownStatus = this.statusOfShapes();
  }

  get canFollow(): boolean {
    return this.all.x1 - this.all.x0 > 1.5 * this.size.width || this.all.y1 - this.all.y0 > 1.5 * this.size.height;
  }

  private value(shape: Shape, row: number): Float32Array {
    const scene = this.run.scene!;
    const begin = row * scene.numbers + shape.first;
    return scene.values.subarray(begin, begin + shape.numbers);
  }

  /** Rows to look at for sizes: a thousand of them are enough for a frame. */
  private rows(): number[] {
    const count = this.run.scene?.rows ?? 0;
    const step = Math.max(1, Math.floor(count / 1000));
    const out: number[] = [];
    for (let i = 0; i < count; i += step) out.push(i);
    return out;
  }

  private allBounds(): Box {
    const box = nothing();
    for (const row of this.rows()) {
      for (const shape of this.run.scene!.shapes) bounds(shape, this.value(shape, row), box);
    }
    return box.x1 >= box.x0 ? box : { x0: -1, x1: 1, y0: -1, y1: 1 };
  }

  /** Of one moment: what moves, without the ground that it moves over. */
  private frame(values: (shape: Shape) => ArrayLike<number>): Box {
    const box = nothing();
    for (const shape of this.run.scene!.shapes) {
      if (shape.shape === "ground" || this.fixed.has(shape)) continue;
      bounds(shape, values(shape), box);
    }
    return box.x1 >= box.x0 ? box : this.all;
  }

  private fixedShapes?: Set<Shape>;
  private get fixed(): Set<Shape> {
    if (this.fixedShapes) return this.fixedShapes;
    const rows = this.rows();
    this.fixedShapes = new Set(
      (this.run.scene?.shapes ?? []).filter((shape) => {
        const { values, numbers } = this.run.scene!;
        for (let k = shape.first; k < shape.first + shape.numbers; ++k) {
          for (const row of rows) if (values[row * numbers + k] !== values[k]) return false;
        }
        return true;
      }),
    );
    return this.fixedShapes;
  }

  private largestFrame(): { width: number; height: number } {
    let [width, height] = [0, 0];
    for (const row of this.rows()) {
      const box = this.frame((shape) => this.value(shape, row));
      width = Math.max(width, box.x1 - box.x0);
      height = Math.max(height, box.y1 - box.y0);
    }
    const least = 1e-3 * Math.max(this.all.x1 - this.all.x0, this.all.y1 - this.all.y0) || 1;
    return { width: Math.max(width, least), height: Math.max(height, least) };
  }

  /** Of the contacts and joints that colour a shape: what they are in this run, in the order of the colours. */
  private statusOfShapes(): string[] {
    const seen = new Set<string>();
    for (const shape of this.run.scene?.shapes ?? []) for (const phase of (shape.relation && this.status.get(shape.relation)) || []) seen.add(phase.status);
    return Object.keys(statusColour).filter((status) => seen.has(status));
  }

  private largestForce(): number {
    let largest = 0;
    for (const shape of this.run.scene?.shapes ?? []) {
      for (const name of shape.force ?? []) {
        const extreme = this.run.extremes.find((e) => e.name === name);
        if (extreme) largest = Math.max(largest, Math.abs(extreme.least), Math.abs(extreme.most));
      }
    }
    return largest;
  }

  private interpolate(): void {
    const scene = this.run.scene!;
    const t = this.clock.now;
    const i = lowerIndex(scene.t, t);
    const j = Math.min(i + 1, scene.rows - 1);
    const share = j > i && t > scene.t[i] ? Math.min(1, (t - scene.t[i]) / (scene.t[j] - scene.t[i])) : 0;
    for (let k = 0; k < scene.numbers; ++k) {
      const a = scene.values[i * scene.numbers + k];
      this.now[k] = a + share * (scene.values[j * scene.numbers + k] - a);
    }
  }

  draw(): void {
    if (!this.run.scene || this.run.scene.rows === 0) return;
    this.interpolate();
    this.picture.fit(this.height);
    const colours = theme();
    const { ctx, width, height } = this.picture;
    ctx.clearRect(0, 0, width, height);
    const values = (shape: Shape) => this.now.subarray(shape.first, shape.first + shape.numbers);
    let view = this.all;
    if (this.follow) {
      const frame = this.frame(values);
      const [cx, cy] = [(frame.x0 + frame.x1) / 2, (frame.y0 + frame.y1) / 2];
      const [w, h] = [this.size.width * 1.5, this.size.height * 1.5];
      view = { x0: cx - w, x1: cx + w, y0: cy - h, y1: cy + h };
    }
    // Numbers have a strip of their own below, so that they do not stand in the hatching of a ground.
    const high = this.follow ? height - strip : height;
    // Belts and grounds reach beyond their line by some pixels, however small the picture is.
    const inside = (size: number) => Math.min(0.86 * size, size - 2 * edge);
    const scale = Math.min(inside(width) / (view.x1 - view.x0 || 1), inside(high) / (view.y1 - view.y0 || 1));
    const [cx, cy] = [(view.x0 + view.x1) / 2, (view.y0 + view.y1) / 2];
    const px = (x: number) => width / 2 + (x - cx) * scale;
    const py = (y: number) => high / 2 - (y - cy) * scale;
    if (this.follow) this.drawRuler(ctx, colours, px, cx, width / scale);
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, 0, width, high);
    ctx.clip();
    for (const shape of this.run.scene.shapes) this.drawShape(ctx, shape, values(shape), px, py, scale, colours);
    ctx.restore();
    this.drawLegend(ctx, colours);
  }

  /** Where the eye travels with the body, lines and numbers below show that it moves. */
  private drawRuler(ctx: Ctx, colours: Theme, px: (x: number) => number, cx: number, span: number): void {
    ctx.lineWidth = 1;
    ctx.strokeStyle = colours.grid;
    ctx.fillStyle = colours.faint;
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "center";
    ctx.textBaseline = "alphabetic";
    for (const x of ticks(cx - span / 2, cx + span / 2, 6)) {
      drawLine(ctx, px(x), 0, px(x), this.picture.height - strip);
      ctx.fillText(short(x, 4), px(x), this.picture.height - 5);
    }
  }

  private drawShape(ctx: Ctx, shape: Shape, v: ArrayLike<number>, px: (x: number) => number, py: (y: number) => number, scale: number, colours: Theme): void {
    for (let i = 0; i < v.length; ++i) if (!Number.isFinite(v[i])) return;
    const status = shape.relation ? statusAt(this.status.get(shape.relation), this.clock.now) : undefined;
    const colour = status ? statusColour[status] : colours.ink;
    ctx.strokeStyle = colour;
    ctx.fillStyle = colour;
    ctx.lineWidth = 1.6;
    ctx.lineJoin = "round";
    switch (shape.shape) {
      case "circle":
        return drawCircle(ctx, v, px, py, scale);
      case "box":
      case "polygon":
        return drawPolygon(ctx, corners(shape, v), px, py);
      case "line":
        return drawLine(ctx, px(v[0]), py(v[1]), px(v[2]), py(v[3]));
      case "spring":
        return drawSpring(ctx, px(v[0]), py(v[1]), px(v[2]), py(v[3]));
      case "ground":
        return drawGround(ctx, px(v[0]), py(v[1]), px(v[2]), py(v[3]), colours);
      case "belt":
        return drawBelt(ctx, px(v[0]), py(v[1]), px(v[2]), py(v[3]), v[4] * scale);
      case "arrow":
        return this.drawArrow(ctx, shape, px(v[0]), py(v[1]), status ? colour : palette[1]);
    }
  }

  private force(shape: Shape, k: 0 | 1): number {
    const name = shape.force?.[k];
    const found = name ? column(this.run, name) : undefined;
    if (!found) return 0;
    return (shape.sign?.[k] ?? 1) * found.values[lowerIndex(this.run.t, this.clock.now)];
  }

  private drawArrow(ctx: Ctx, shape: Shape, x: number, y: number, colour: string): void {
    if (!(this.forceScale > 0)) return;
    const unit = (0.3 * this.height) / this.forceScale;
    const [dx, dy] = [this.force(shape, 0) * unit, -this.force(shape, 1) * unit];
    const length = Math.hypot(dx, dy);
    if (!(length > 1)) return;
    const [ux, uy] = [dx / length, dy / length];
    const head = Math.min(9, length);
    ctx.strokeStyle = colour;
    ctx.fillStyle = colour;
    ctx.lineWidth = 2.4;
    drawLine(ctx, x, y, x + dx - ux * head * 0.8, y + dy - uy * head * 0.8);
    ctx.beginPath();
    ctx.moveTo(x + dx, y + dy);
    ctx.lineTo(x + dx - head * (ux - 0.45 * uy), y + dy - head * (uy + 0.45 * ux));
    ctx.lineTo(x + dx - head * (ux + 0.45 * uy), y + dy - head * (uy - 0.45 * ux));
    ctx.fill();
  }

  private drawLegend(ctx: Ctx, colours: Theme): void {
    const shapes = this.run.scene!.shapes;
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    let x = 8;
    let y = 12;
    // The switch for the moving view stands in the corner.
    const right = this.picture.width - (this.canFollow ? 84 : 8);
    const room = (width: number) => {
      if (x > 8 && x + width > right) [x, y] = [8, y + 16];
    };
    if (shapes.some((s) => s.relation)) {
      for (const status of this.shownStatus) {
        const word = statusWord[status] ?? status;
        const colour = statusColour[status];
        room(14 + ctx.measureText(word).width);
        ctx.fillStyle = colour;
        ctx.fillRect(x, y - 5, 10, 10);
        ctx.fillStyle = colours.ink;
        ctx.fillText(word, x + 14, y);
        x += 24 + ctx.measureText(word).width;
      }
    }
    if (this.forceScale > 0 && shapes.some((s) => s.shape === "arrow")) {
      const words = `force ${short(this.forceScale / 3, 3)}`;
      room(0.1 * this.height + 6 + ctx.measureText(words).width);
      ctx.strokeStyle = palette[1];
      ctx.lineWidth = 2.4;
      drawLine(ctx, x, y, x + 0.1 * this.height, y);
      ctx.fillStyle = colours.ink;
      ctx.fillText(words, x + 0.1 * this.height + 6, y);
    }
  }
}

function drawLine(ctx: Ctx, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

function fillAndStroke(ctx: Ctx): void {
  ctx.globalAlpha = 0.15;
  ctx.fill();
  ctx.globalAlpha = 1;
  ctx.stroke();
}

function drawCircle(ctx: Ctx, v: ArrayLike<number>, px: (x: number) => number, py: (y: number) => number, scale: number): void {
  const r = Math.abs(v[2]) * scale;
  ctx.beginPath();
  ctx.arc(px(v[0]), py(v[1]), Math.max(r, 1.5), 0, 2 * Math.PI);
  fillAndStroke(ctx);
  if (r > 6) drawLine(ctx, px(v[0]), py(v[1]), px(v[0] + v[2] * Math.cos(v[3])), py(v[1] + v[2] * Math.sin(v[3])));
}

function drawPolygon(ctx: Ctx, points: [number, number][], px: (x: number) => number, py: (y: number) => number): void {
  ctx.beginPath();
  points.forEach(([x, y], i) => (i === 0 ? ctx.moveTo(px(x), py(y)) : ctx.lineTo(px(x), py(y))));
  ctx.closePath();
  fillAndStroke(ctx);
}

function drawSpring(ctx: Ctx, x0: number, y0: number, x1: number, y1: number): void {
  const length = Math.hypot(x1 - x0, y1 - y0);
  const turns = 9;
  const amplitude = 6;
  if (length < 2) return;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  ctx.lineWidth = 1.2;
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  for (let i = 0; i < 2 * turns; ++i) {
    const along = 0.12 + (0.76 * (i + 0.5)) / (2 * turns);
    const side = i % 2 === 0 ? amplitude : -amplitude;
    ctx.lineTo(x0 + along * (x1 - x0) - uy * side, y0 + along * (y1 - y0) + ux * side);
  }
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

function drawGround(ctx: Ctx, x0: number, y0: number, x1: number, y1: number, colours: Theme): void {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 1) return;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  drawLine(ctx, x0, y0, x1, y1);
  ctx.strokeStyle = colours.faint;
  ctx.lineWidth = 1;
  ctx.beginPath();
  // On the right of the way, which on a screen, where y points down, is the direction (-uy, ux).
  const step = Math.max(9, length / 400);
  for (let s = 0; s <= length; s += step) {
    ctx.moveTo(x0 + s * ux, y0 + s * uy);
    ctx.lineTo(x0 + (s - 6) * ux - uy * 8, y0 + (s - 6) * uy + ux * 8);
  }
  ctx.stroke();
}

function drawBelt(ctx: Ctx, x0: number, y0: number, x1: number, y1: number, shift: number): void {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 1) return;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const r = 9;
  // Below the running side; on a screen (-uy, ux) points to the right of the way.
  const [nx, ny] = [-uy * 2 * r, ux * 2 * r];
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.arc(x1 + nx / 2, y1 + ny / 2, r, Math.atan2(-ny, -nx), Math.atan2(ny, nx));
  ctx.lineTo(x0 + nx, y0 + ny);
  ctx.arc(x0 + nx / 2, y0 + ny / 2, r, Math.atan2(ny, nx), Math.atan2(-ny, -nx));
  ctx.stroke();
  const gap = 26;
  const first = ((shift % gap) + gap) % gap;
  ctx.beginPath();
  for (let s = first; s <= length; s += gap) {
    ctx.moveTo(x0 + s * ux, y0 + s * uy);
    ctx.lineTo(x0 + s * ux - uy * 4, y0 + s * uy + ux * 4);
  }
  ctx.stroke();
}
