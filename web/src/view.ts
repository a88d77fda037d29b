// What is shown of the present run of a live page. Pictures stay from run to run and get other numbers; those that are out of sight wait.

import { Clock, steer } from "./clock";
import { column, label, Run, short } from "./data";
import { aboutTable, banner, numberTables, plotsOf, section } from "./parts";
import { PhasePlot } from "./phase";
import { Player } from "./player";
import { Scene } from "./scene";
import { axisWidth, rightMargin, SeriesPanel } from "./series";
import { element, EventTable } from "./tables";
import { Timeline } from "./timeline";

interface Part {
  host: HTMLElement;
  update: (run: Run) => void;
  stale: boolean;
  seen: boolean;
}

export class View {
  private readonly clock: Clock;
  private readonly parts: Part[] = [];
  private readonly panels: SeriesPanel[] = [];
  private readonly redraw: (() => void)[] = [];
  private readonly told = element("div", "told");
  private readonly about = element("div");
  private readonly observer: IntersectionObserver;
  private readonly abort = new AbortController();
  private player?: Player;
  private timer = 0;
  private complete = 0;

  constructor(
    private readonly root: HTMLElement,
    stage: HTMLElement,
    private run: Run,
    plots: string[][],
  ) {
    this.observer = new IntersectionObserver((entries) => this.sighted(entries), { rootMargin: "120px" });
    this.clock = new Clock(0, 1);
    this.span();
    stage.replaceChildren();
    root.replaceChildren();
    this.pictures(stage, plotsOf(plots, run));
    stage.append(this.told);
    const events = section(root, "Events", "events");
    const list = new EventTable(events, run, this.clock);
    this.part(events, (now) => list.update(now));
    const numbers = section(root, "Loads, extremes, work", "numbers");
    const tables = element("div");
    numbers.append(tables);
    this.part(numbers, (now) => {
      const open = [...tables.querySelectorAll("details")].map((d) => d.open);
      tables.replaceChildren();
      numberTables(tables, now);
      tables.querySelectorAll("details").forEach((d, i) => (d.open = open[i] ?? d.open));
    }, true);
    numbers.append(this.about);
    this.part(numbers, (now) => {
      this.about.replaceChildren();
      aboutTable(this.about, now);
    }, true);
    this.words();
    this.keys();
    this.later();
    addEventListener("beforeprint", () => this.refreshAll(), { signal: this.abort.signal });
  }

  /** Plots and drawing are of the same kind: the same columns and shapes. */
  static key(run: Run, plots: string[][]): string {
    return JSON.stringify([plots, run.columns.map((c) => [c.name, c.kind]), run.scene?.shapes ?? [], run.reactions.map((r) => r.contact)]);
  }

  remove(): void {
    this.abort.abort();
    clearTimeout(this.timer);
    this.observer.disconnect();
  }

  /** What is seen is drawn at once, the rest when there is time. */
  show(run: Run): void {
    this.run = run;
    this.span();
    for (const part of this.parts) {
      part.stale = true;
      if (part.seen) this.refresh(part);
    }
    this.later();
    this.player?.update(run);
    this.words();
  }

  get time(): number {
    return this.clock.now;
  }

  resize(): void {
    for (const panel of this.panels) panel.resize();
    for (const draw of this.redraw) draw();
  }

  rebuild(): void {
    for (const panel of this.panels) panel.build();
    for (const draw of this.redraw) draw();
  }

  private span(): void {
    const { t } = this.run;
    if (t.length > 0) this.clock.setSpan(t[0], t[t.length - 1]);
  }

  private later(): void {
    clearTimeout(this.timer);
    delete document.documentElement.dataset.complete;
    this.timer = window.setTimeout(() => this.refreshAll(), 150);
  }

  private refreshAll(): void {
    for (const part of this.parts) if (part.stale) this.refresh(part);
    document.documentElement.dataset.complete = String(++this.complete);
  }

  private refresh(part: Part): void {
    part.stale = false;
    part.update(this.run);
  }

  private sighted(entries: IntersectionObserverEntry[]): void {
    for (const entry of entries) {
      for (const part of this.parts) {
        if (part.host !== entry.target) continue;
        part.seen = entry.isIntersecting;
        if (part.seen && part.stale) this.refresh(part);
      }
    }
  }

  private part(host: HTMLElement, update: (run: Run) => void, stale = false): void {
    this.parts.push({ host, update, stale, seen: false });
    this.observer.observe(host);
  }

  private words(): void {
    this.told.replaceChildren();
    banner(this.told, this.run);
  }

  private pictures(stage: HTMLElement, wanted: string[][]): void {
    if (this.run.scene) {
      const host = element("figure", "stage");
      stage.append(host);
      const scene = new Scene(host, this.run, this.clock, 300);
      this.redraw.push(() => scene.draw());
      this.part(host, (run) => scene.update(run));
      if (scene.canFollow) {
        const label = element("label");
        const box = element("input");
        box.type = "checkbox";
        box.checked = scene.follow;
        box.addEventListener("change", () => {
          scene.follow = box.checked;
          scene.draw();
        });
        label.append(box, " follow");
        host.append(label);
      }
    } else if (wanted.length > 0) {
      // Without a drawing the first phase portrait is the picture, with the moving point.
      const [x, y] = wanted.find((p) => p[0] !== "t") ?? [];
      if (x && y) this.plane(stage, x, y, `${label(this.run, y)} over ${label(this.run, x)}`);
    }
    const bar = element("div", "bar player");
    stage.append(bar);
    this.player = new Player(bar, this.run, this.clock);
    const plots = section(this.root, "Over the time", "series");
    plots.append(element("p", "hint", "Drag to zoom, shift and drag to move, ctrl and wheel to zoom, two clicks for all. Space plays, arrows step."));
    steer(plots, this.clock, axisWidth, rightMargin);
    const host = element("div", "timeline");
    plots.append(host);
    const timeline = new Timeline(host, this.run, this.clock);
    this.redraw.push(() => timeline.draw());
    this.part(host, (run) => timeline.update(run));
    for (const names of wanted.filter((p) => p[0] === "t")) this.series(plots, names.slice(1));
    this.chooser(plots);
    const planes = wanted.filter((p) => p[0] !== "t").flatMap((p) => p.slice(1).map((y) => [p[0], y]));
    if (planes.length === 0 && this.run.reactions.length === 0) return;
    const where = section(this.root, "One over the other", "planes");
    const grid = element("div", "grid");
    where.append(grid);
    for (const [x, y] of planes) this.plane(grid, x, y, `${label(this.run, y)} over ${label(this.run, x)}`);
    for (const r of this.run.reactions)
      this.plane(grid, r.tangent, r.normal, `reactions of ${r.contact}${r.mu === undefined ? "" : `, cone of friction ${short(r.mu)}`}`, r.mu === undefined ? undefined : { mu: r.mu, contact: r.contact });
  }

  private plane(parent: HTMLElement, x: string, y: string, title: string, cone?: { mu: number; contact: string }): void {
    if (!column(this.run, x) || !column(this.run, y)) return;
    const host = element("figure", "plane");
    host.append(element("figcaption", "", title));
    parent.append(host);
    const plot = new PhasePlot(host, [this.run], x, y, this.clock, cone);
    this.redraw.push(() => plot.draw());
    this.part(host, (run) => plot.update([run]));
  }

  private series(parent: HTMLElement, names: string[], before?: HTMLElement): void {
    const host = element("div", "panel");
    if (before) parent.insertBefore(host, before);
    else parent.append(host);
    const panel = new SeriesPanel(host, [this.run], names, this.clock);
    if (panel.empty) return host.remove();
    this.panels.push(panel);
    this.part(host, (run) => panel.update([run]));
    const log = element("button", "log", "log");
    log.type = "button";
    log.title = "logarithmic axis";
    log.addEventListener("click", () => {
      log.classList.toggle("on");
      panel.setLogarithmic(log.classList.contains("on"));
    });
    host.append(log);
  }

  private chooser(parent: HTMLElement): void {
    const bar = element("div", "bar");
    const choice = element("select");
    choice.setAttribute("aria-label", "column to plot");
    choice.append(element("option", "", "another column …"));
    for (const c of this.run.columns) if (!c.words) choice.append(element("option", "", c.name));
    choice.addEventListener("change", () => {
      if (choice.selectedIndex > 0) this.series(parent, [choice.value], bar);
      choice.selectedIndex = 0;
    });
    bar.append(choice);
    parent.append(bar);
  }

  private keys(): void {
    const { signal } = this.abort;
    const free = (event: KeyboardEvent) => !(event.ctrlKey || event.metaKey || event.altKey) && !(event.target as HTMLElement).closest("input, select, button, .cm-editor");
    addEventListener(
      "keydown",
      (event) => {
        if (!free(event)) return;
        const { clock } = this;
        const step = ((clock.to - clock.from) / 200) * (event.shiftKey ? 10 : 1);
        if (event.key === " ") this.player?.toggle();
        else if (event.key === "ArrowRight") clock.setTime(clock.now + step);
        else if (event.key === "ArrowLeft") clock.setTime(clock.now - step);
        else if (event.key === "+") clock.zoom(0.5, clock.now);
        else if (event.key === "-") clock.zoom(2, clock.now);
        else if (event.key === "0") clock.showAll();
        else if (event.key === "Home") clock.setTime(clock.begin);
        else if (event.key === "End") clock.setTime(clock.end);
        else return;
        event.preventDefault();
      },
      { signal },
    );
  }
}
