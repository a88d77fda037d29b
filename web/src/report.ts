// The page of a run, or of several: how it ended, what the referee says, the drawing in motion, plots, events, loads, equations.

import { Clock, steer } from "./clock";
import { run_colour } from "./colours";
import { comparison } from "./compare";
import { decode, label, PageJson, Run, short } from "./data";
import { Later } from "./later";
import { aboutTable, banner, details, equationLines, numberTables, openOnPaper, plotsOf, runName, section } from "./parts";
import { PhasePlot } from "./phase";
import { Player } from "./player";
import { Scene } from "./scene";
import { axisWidth, rightMargin, SeriesPanel } from "./series";
import { element, EventTable, table } from "./tables";
import { Timeline } from "./timeline";

class Page {
  private readonly panels: SeriesPanel[] = [];
  private readonly redraw: (() => void)[] = [];
  private readonly clock: Clock;
  /** What stands below the first screen. */
  private readonly later = new Later(() => (document.documentElement.dataset.complete = "yes"));

  constructor(
    private readonly root: HTMLElement,
    private readonly json: PageJson,
    private readonly runs: Run[],
  ) {
    const starts = runs.filter((r) => r.t.length > 0);
    const begin = Math.min(...starts.map((r) => r.t[0]), Infinity);
    const end = Math.max(...starts.map((r) => r.t[r.t.length - 1]), -Infinity);
    this.clock = new Clock(Number.isFinite(begin) ? begin : 0, Number.isFinite(end) ? end : 1);
    this.lightOnPaper();
    this.head();
    if (starts.length === 0) this.root.append(element("p", "note", "The run has no rows: there is nothing to draw."));
    else if (!(end > begin)) this.root.append(element("p", "note", `The run ends at its start, t = ${short(begin)}: there is nothing to draw over the time.`));
    else this.pictures();
    this.numbers();
    this.texts();
    this.keys();
    let timer = 0;
    new ResizeObserver(() => {
      clearTimeout(timer);
      timer = window.setTimeout(() => this.resize(), 60);
    }).observe(this.root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.rebuild());
    openOnPaper();
    this.later.start();
  }

  get time(): number {
    return this.clock.now;
  }

  goTo(time: number): void {
    this.clock.setTime(time);
  }

  whenComplete(then: () => void): void {
    this.later.add(then);
  }

  private head(): void {
    const header = element("header");
    header.append(element("h1", "", this.json.title));
    const dark = element("button", "dark", "◐");
    dark.type = "button";
    dark.title = "light or dark";
    dark.setAttribute("aria-label", "light or dark");
    dark.addEventListener("click", () => {
      const now = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
      document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
      this.rebuild();
    });
    header.append(dark);
    this.root.append(header);
    if (this.runs.length === 1) {
      banner(this.root, this.runs[0]);
      aboutTable(this.root, this.runs[0]);
      return;
    }
    const list = element("ol", "runs");
    this.runs.forEach((run, i) => {
      const line = element("li");
      const swatch = element("span", "swatch");
      swatch.style.background = run_colour(i);
      const name = runName(run, this.runs);
      line.append(swatch, element("strong", "", name), ` ${name === run.name ? run.title : run.name} `);
      banner(line, run);
      list.append(line);
    });
    this.root.append(list);
    const box = section(this.root, "Side by side", "compare");
    box.append(comparison(this.runs));
  }

  /** The name of a run, where there are several. */
  private nameOf(run: Run): string {
    return this.runs.length > 1 ? runName(run, this.runs) : "";
  }

  private pictures(): void {
    const play = section(this.root, "Motion", "motion");
    const withScene = this.runs.filter((run) => run.scene && run.scene.rows > 0);
    const stages = element("div", "stages");
    for (const run of withScene.slice(0, 4)) {
      const stage = element("figure", "stage");
      stages.append(stage);
      play.append(stages);
      const scene = new Scene(stage, run, this.clock, withScene.length > 1 ? 240 : 320);
      this.redraw.push(() => scene.draw());
      if (this.runs.length > 1) stage.append(element("figcaption", "", this.nameOf(run)));
      if (scene.canFollow) stage.append(this.followSwitch(scene));
    }
    const playing = element("div", "bar player");
    play.append(playing);
    const player = new Player(playing, this.runs[0], this.clock);
    addEventListener("keydown", (event) => {
      if (event.key === " " && !(event.target instanceof HTMLButtonElement) && !(event.target instanceof HTMLInputElement)) {
        event.preventDefault();
        player.toggle();
      }
    });
    const plots = section(this.root, "Over the time", "series");
    plots.append(element("p", "hint", "Drag to zoom, shift and drag to move, ctrl and wheel to zoom, two clicks for all. Space plays, arrows step."));
    steer(plots, this.clock, axisWidth, rightMargin);
    for (const run of this.runs) {
      if (run.events.time.length === 0 && Object.keys(run.start).length === 0) continue;
      const host = element("div", "timeline");
      plots.append(host);
      if (this.runs.length > 1) host.append(element("h3", "", this.nameOf(run)));
      const timeline = new Timeline(host, run, this.clock);
      this.redraw.push(() => timeline.draw());
    }
    const wanted = plotsOf(this.json.plots, this.runs[0]);
    const overTime = wanted.filter((p) => p[0] === "t");
    const bar = this.chooser(plots);
    // The first is seen at once; the others have their place until they are drawn.
    overTime.forEach((names, i) => {
      const host = this.place(plots, bar);
      if (i === 0) this.series(host, names.slice(1));
      else this.later.add(() => this.series(host, names.slice(1)));
    });
    const phasePlots = wanted.filter((p) => p[0] !== "t").flatMap((p) => p.slice(1).map((y) => [p[0], y]));
    this.planes(phasePlots);
  }

  private followSwitch(scene: Scene): HTMLElement {
    const label = element("label");
    const box = element("input");
    box.type = "checkbox";
    box.checked = scene.follow;
    box.addEventListener("change", () => {
      scene.follow = box.checked;
      scene.draw();
    });
    label.append(box, " follow");
    return label;
  }

  private place(parent: HTMLElement, before: HTMLElement): HTMLElement {
    const host = element("div", "panel");
    parent.insertBefore(host, before);
    return host;
  }

  private series(host: HTMLElement, names: string[]): void {
    const panel = new SeriesPanel(host, this.runs, names, this.clock);
    if (panel.empty) return host.remove();
    this.panels.push(panel);
    const log = element("button", "log", "log");
    log.type = "button";
    log.title = "logarithmic axis";
    log.addEventListener("click", () => {
      log.classList.toggle("on");
      panel.setLogarithmic(log.classList.contains("on"));
    });
    host.append(log);
  }

  /** Any other column as a further panel. */
  private chooser(parent: HTMLElement): HTMLElement {
    const bar = element("div", "bar");
    const choice = element("select");
    choice.setAttribute("aria-label", "column to plot");
    choice.append(element("option", "", "another column …"));
    for (const c of this.runs[0].columns) if (!c.words) choice.append(element("option", "", c.name));
    choice.addEventListener("change", () => {
      if (choice.selectedIndex > 0) this.series(this.place(parent, bar), [choice.value]);
      choice.selectedIndex = 0;
    });
    bar.append(choice);
    parent.append(bar);
    return bar;
  }

  private planes(plots: string[][]): void {
    const made: HTMLElement[] = [];
    const add = (x: string, y: string, title: string, cone?: { mu: number; contact: string }) => {
      const host = element("figure", "plane");
      host.append(element("figcaption", "", title));
      made.push(host);
      return () => {
        const plot = new PhasePlot(host, this.runs, x, y, this.clock, cone);
        if (plot.empty) host.remove();
        else this.redraw.push(() => plot.draw());
      };
    };
    const build: (() => void)[] = plots.map(([x, y]) => add(x, y, `${label(this.runs[0], y)} over ${label(this.runs[0], x)}`));
    for (const r of this.runs[0].reactions) {
      build.push(add(r.tangent, r.normal, `reactions of ${r.contact}${r.mu === undefined ? "" : `, cone of friction ${short(r.mu)}`}`, r.mu === undefined ? undefined : { mu: r.mu, contact: r.contact }));
    }
    if (made.length === 0) return;
    const where = section(this.root, "One over the other", "planes");
    const grid = element("div", "grid");
    where.append(grid);
    grid.append(...made);
    for (const make of build) this.later.add(make);
  }

  private numbers(): void {
    for (const run of this.runs) {
      const title = this.runs.length > 1 ? `, ${this.nameOf(run)}` : "";
      if (run.events.time.length > 0) {
        const events = section(this.root, `Events${title}`, "events");
        this.later.add(() => new EventTable(events, run, this.clock));
      }
      const numbers = section(this.root, `Loads, extremes, work${title}`, "numbers");
      this.later.add(() => numberTables(numbers, run));
    }
  }

  private texts(): void {
    for (const run of this.runs) {
      const title = this.runs.length > 1 ? `, ${this.nameOf(run)}` : "";
      const box = section(this.root, `Model${title}`, "model");
      this.later.add(() => this.model(box, run));
    }
    this.root.append(element("footer", "", `Made by ${this.json.program}.`));
  }

  private model(box: HTMLElement, run: Run): void {
    if (run.parameters.length > 0)
      details(box, "Parameters", true).append(
        table(
          ["", "value", run.parameters.some((p) => p.unit) ? "unit" : ""],
          run.parameters.map((p) => [p.name, p.value, p.unit ?? ""]),
        ),
      );
    if (run.equations.length > 0) equationLines(details(box, "Equations", true), run.equations);
    if (run.model) details(box, "Model file", false).append(element("pre", "", run.model));
  }

  private keys(): void {
    addEventListener("keydown", (event) => {
      if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement || event.ctrlKey || event.metaKey || event.altKey) return;
      const step = (this.clock.to - this.clock.from) / 200;
      if (event.key === "ArrowRight") this.clock.setTime(this.clock.now + step * (event.shiftKey ? 10 : 1));
      else if (event.key === "ArrowLeft") this.clock.setTime(this.clock.now - step * (event.shiftKey ? 10 : 1));
      else if (event.key === "+") this.clock.zoom(0.5, this.clock.now);
      else if (event.key === "-") this.clock.zoom(2, this.clock.now);
      else if (event.key === "0") this.clock.showAll();
      else if (event.key === "Home") this.clock.setTime(this.clock.begin);
      else if (event.key === "End") this.clock.setTime(this.clock.end);
      else return;
      event.preventDefault();
    });
  }

  private resize(): void {
    for (const panel of this.panels) panel.resize();
    for (const draw of this.redraw) draw();
  }

  /** Paper is light. Registered before the plots, which draw behind it what had been waiting to be seen. */
  private lightOnPaper(): void {
    const root = document.documentElement.dataset;
    let before: string | undefined;
    let changed = false;
    addEventListener("beforeprint", () => {
      before = root.theme;
      changed = (before ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
      if (!changed) return;
      root.theme = "light";
      this.rebuild();
    });
    addEventListener("afterprint", () => {
      if (!changed) return;
      if (before === undefined) delete root.theme;
      else root.theme = before;
      this.rebuild();
    });
  }

  private rebuild(): void {
    for (const panel of this.panels) panel.build();
    for (const draw of this.redraw) draw();
  }
}

/** Looks at the file beside the page: another page has been written, or the model has errors now. What was looked at is kept. */
function watch(page: Page, root: HTMLElement, { stamp, note }: { stamp: string; note: string }): void {
  const trouble = element("pre", "trouble");
  trouble.hidden = true;
  root.prepend(trouble);
  const kept = `judder ${location.pathname}`;
  try {
    const before = JSON.parse(sessionStorage.getItem(kept) ?? "null") as { time?: unknown; scroll?: unknown } | null;
    if (typeof before?.time === "number") page.goTo(before.time);
    const scroll = before?.scroll;
    if (typeof scroll === "number") page.whenComplete(() => scrollTo(0, scroll));
    sessionStorage.removeItem(kept);
  } catch {
    // Without a memory of the page the place is lost, and nothing else.
  }
  Object.assign(window, {
    judder_note: (said: { stamp: string; problems: string }) => {
      trouble.hidden = said.problems === "";
      trouble.textContent = said.problems;
      if (said.problems !== "" || said.stamp === stamp) return;
      try {
        sessionStorage.setItem(kept, JSON.stringify({ time: page.time, scroll: scrollY }));
      } catch {
        // As above.
      }
      location.reload();
    },
  });
  setInterval(() => {
    const script = element("script");
    script.src = `${encodeURIComponent(note)}?${Date.now()}`;
    script.onload = script.onerror = () => script.remove();
    document.head.append(script);
  }, 600);
}

function start(): void {
  const source = document.getElementById("data");
  const root = document.getElementById("page");
  if (!source || !root) return;
  const json = JSON.parse(source.textContent ?? "") as PageJson;
  const page = new Page(root, json, json.runs.map(decode));
  if (json.watch) watch(page, root, json.watch);
  document.documentElement.dataset.ready = "yes";
}

start();
