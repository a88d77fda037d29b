// What happened, along the time: a lane of marks for every kind of event, a band for the status of every contact and joint.

import { kindColour, statusColour, statusWord, theme } from "./colours";
import { Picture } from "./canvas";
import type { Clock } from "./clock";
import { lowerIndex, Phase, phases, Run, short, statusAt } from "./data";
import { axisWidth, rightMargin } from "./series";

const laneHeight = 14;
const bandHeight = 16;
const markWidth = 7;

export class Timeline {
  private readonly picture: Picture;
  private kinds: string[] = [];
  private bands: [string, Phase[]][] = [];
  private readonly times = new Map<string, { t: number[]; index: number[] }>();
  private readonly tip: HTMLElement;
  private readonly key: HTMLElement;

  constructor(
    host: HTMLElement,
    private run: Run,
    private readonly clock: Clock,
    private readonly most = 12,
  ) {
    this.picture = new Picture(host, "events and status of contacts along the time");
    this.tip = document.createElement("div");
    this.tip.className = "tip";
    this.key = document.createElement("div");
    this.key.className = "key";
    host.append(this.tip, this.key);
    this.take();
    clock.onRange(() => this.draw());
    clock.onTime(() => this.draw());
    this.picture.canvas.addEventListener("mousemove", (event) => this.hover(event));
    this.picture.canvas.addEventListener("mouseleave", () => (this.tip.style.display = "none"));
    this.picture.canvas.addEventListener("click", (event) => clock.setTime(this.time(event.offsetX)));
    this.draw();
  }

  /** Another run of the same model. */
  update(run: Run): void {
    this.run = run;
    this.take();
    this.draw();
  }

  private take(): void {
    const e = this.run.events;
    this.times.clear();
    for (let i = 0; i < e.kind.length; ++i) {
      const lane = this.times.get(e.kind[i]) ?? { t: [], index: [] };
      lane.t.push(e.time[i]);
      lane.index.push(i);
      this.times.set(e.kind[i], lane);
    }
    this.kinds = [...this.times.keys()];
    this.bands = [...phases(this.run)].slice(0, this.most);
    const seen = new Set(this.bands.flatMap(([, list]) => list.map((p) => p.status as string)));
    this.key.replaceChildren();
    for (const status of Object.keys(statusColour)) {
      if (!seen.has(status)) continue;
      const swatch = document.createElement("i");
      swatch.style.background = statusColour[status];
      if (status === "open" || status === "unknown") swatch.style.opacity = "0.25";
      this.key.append(swatch, `${statusWord[status] ?? status} `);
    }
  }

  private x(t: number): number {
    return axisWidth + ((t - this.clock.from) / (this.clock.to - this.clock.from)) * this.inner();
  }
  private inner(): number {
    return Math.max(1, this.picture.width - axisWidth - rightMargin);
  }
  private time(x: number): number {
    return this.clock.from + ((x - axisWidth) / this.inner()) * (this.clock.to - this.clock.from);
  }

  draw(): void {
    const height = this.kinds.length * laneHeight + this.bands.length * bandHeight + 6;
    this.picture.fit(height);
    const { ctx } = this.picture;
    const colours = theme();
    ctx.clearRect(0, 0, this.picture.width, height);
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    const label = (text: string, y: number) => {
      ctx.fillStyle = colours.ink;
      ctx.textAlign = "right";
      let shown = text;
      while (shown.length > 2 && ctx.measureText(shown).width > axisWidth - 8) shown = `${shown.slice(0, -2)}…`;
      ctx.fillText(shown, axisWidth - 6, y);
    };
    this.kinds.forEach((kind, k) => {
      const y = k * laneHeight + laneHeight / 2 + 1;
      label(kind, y);
      ctx.fillStyle = kindColour[kind] ?? colours.ink;
      const lane = this.times.get(kind);
      if (!lane) return;
      let last = -10;
      // More marks than fit side by side would be a bar in which nothing is seen: there they keep their distance.
      const inView = lowerIndex(lane.t, this.clock.to) - lowerIndex(lane.t, this.clock.from) + 1;
      const distance = inView > this.inner() / markWidth ? markWidth + 1 : 1;
      for (const t of lane.t) {
        if (t < this.clock.from || t > this.clock.to) continue;
        const x = this.x(t);
        if (x - last < distance) continue;
        last = x;
        ctx.beginPath();
        ctx.moveTo(x, y - 5);
        ctx.lineTo(x + 3.5, y);
        ctx.lineTo(x, y + 5);
        ctx.lineTo(x - 3.5, y);
        ctx.fill();
      }
    });
    this.bands.forEach(([name, list], b) => {
      const y = this.kinds.length * laneHeight + b * bandHeight + 3;
      label(name, y + bandHeight / 2 - 1);
      for (const phase of list) {
        const from = Math.max(axisWidth, this.x(phase.from));
        const to = Math.min(axisWidth + this.inner(), this.x(phase.to));
        if (to <= from) continue;
        ctx.globalAlpha = phase.status === "open" || phase.status === "unknown" ? 0.25 : 0.85;
        ctx.fillStyle = statusColour[phase.status] ?? colours.faint;
        ctx.fillRect(from, y, Math.max(0.7, to - from), bandHeight - 4);
      }
      ctx.globalAlpha = 1;
    });
    const x = this.x(this.clock.now);
    if (x >= axisWidth && x <= axisWidth + this.inner()) {
      ctx.strokeStyle = colours.ink;
      ctx.lineWidth = 1;
      ctx.beginPath();
      ctx.moveTo(x, 0);
      ctx.lineTo(x, height);
      ctx.stroke();
    }
  }

  private hover(event: MouseEvent): void {
    const text = this.under(event.offsetX, event.offsetY);
    this.tip.textContent = text;
    this.tip.style.display = text ? "block" : "none";
    this.tip.style.left = `${Math.min(event.offsetX + 12, this.picture.width - 180)}px`;
    this.tip.style.top = `${event.offsetY + 14}px`;
  }

  private under(x: number, y: number): string {
    const lane = Math.floor(y / laneHeight);
    const e = this.run.events;
    if (lane < this.kinds.length) {
      const list = this.times.get(this.kinds[lane]);
      if (!list) return "";
      let best = -1;
      let distance = 6;
      list.t.forEach((t, i) => {
        const d = Math.abs(this.x(t) - x);
        if (d < distance) [best, distance] = [list.index[i], d];
      });
      return best < 0 ? "" : `t = ${short(e.time[best], 9)}: ${e.kind[best]} ${e.where[best]} ${e.detail[best]}`;
    }
    const band = Math.floor((y - this.kinds.length * laneHeight - 3) / bandHeight);
    if (band < 0 || band >= this.bands.length) return "";
    return `${this.bands[band][0]}: ${statusAt(this.bands[band][1], this.time(x))}`;
  }
}
