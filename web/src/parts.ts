// What the pages of runs are put together from: sections, how a run ended, tables of its numbers.

import type { Run, RunJson } from "./data";
import { short } from "./data";
import { element, table } from "./tables";

const mostPanels = 12;

export function section(parent: HTMLElement, title: string, id: string): HTMLElement {
  const out = element("section");
  out.id = id;
  out.append(element("h2", "", title));
  parent.append(out);
  return out;
}

export function details(parent: HTMLElement, title: string, open: boolean): HTMLElement {
  const out = element("details");
  out.open = open;
  out.append(element("summary", "", title));
  parent.append(out);
  return out;
}

/** Variants are known by their titles, if these tell them apart; other runs by their folders. */
export function runName(run: Run, runs: Run[]): string {
  const titles = new Set(runs.map((r) => r.title));
  return runs.length > 1 && titles.size === runs.length && !titles.has("") ? run.title : run.name;
}

/** What is folded is not seen on paper: everything is open while it is printed. */
export function openOnPaper(): void {
  let folded: HTMLDetailsElement[] = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of folded) one.open = false;
  });
}

export type Told = Pick<RunJson, "ok" | "end" | "referee" | "notes" | "about">;

export function banner(parent: HTMLElement, run: Told): void {
  const line = element("p", "banner");
  line.append(element("span", run.ok ? "badge good" : "badge bad", run.end));
  line.append(" ");
  line.append(element("span", run.referee.ok ? "badge good" : "badge bad", run.referee.words));
  parent.append(line);
  for (const finding of run.referee.findings) parent.append(element("p", "finding", finding));
  for (const note of run.notes) parent.append(element("p", "note", note));
}

export function aboutTable(parent: HTMLElement, run: Told): void {
  const list = element("dl", "about");
  for (const [key, value] of run.about) list.append(element("dt", "", key), element("dd", "", value));
  parent.append(list);
}

/** Which curves: what the model asks for; without that every coordinate and velocity over t and the output columns. */
export function plotsOf(wanted: string[][], first: Run): string[][] {
  if (wanted.length > 0) return wanted;
  const out: string[][] = [];
  const coordinates = first.columns.filter((c) => c.kind === "coordinate").map((c) => c.name);
  for (const name of coordinates) out.push(["t", name], ["t", `${name}'`]);
  for (const c of first.columns) if (c.kind === "state" || c.kind === "output") out.push(["t", c.name]);
  if (coordinates.length > 0) out.push([coordinates[0], `${coordinates[0]}'`]);
  return out.slice(0, mostPanels);
}

/** Extremes, loads of contacts, works, energies. */
export function numberTables(box: HTMLElement, run: Run): void {
  if (run.extremes.length > 0) {
    const part = details(box, "Extremes", true);
    part.append(
      table(
        ["", "least", "at t", "largest", "at t"],
        run.extremes.map((e) => [e.name, short(e.least), short(e.leastTime), short(e.most), short(e.mostTime)]),
      ),
    );
  }
  if (run.loads.length > 0) {
    const cut = run.loadsTotal > run.loads.length ? ` (the first ${run.loads.length} of ${run.loadsTotal})` : "";
    details(box, `Loads of contacts${cut}`, run.loads.length <= 20).append(
      table(
        ["contact", "from", "to", "largest force", "impulse"],
        run.loads.map((l) => [l.contact, short(l.from, 9), short(l.to, 9), short(l.peak), short(l.impulse)]),
      ),
    );
  }
  if (run.work.length > 0)
    details(box, "Work by element", true).append(
      table(
        ["element", "dissipated", "supplied"],
        run.work.map((w) => [w.name, short(w.dissipated), short(w.supplied)]),
      ),
    );
  if (run.energy.length > 0) details(box, "Energy", false).append(table(["", ""], run.energy.map(([name, value]) => [name, short(value)])));
}

/** MathML made by the program from formulas that it has parsed; names in it are escaped there. */
export function equationLines(part: HTMLElement, equations: RunJson["equations"]): void {
  for (const e of equations) {
    const line = element("div", "equation");
    line.append(element("span", "name", e.name));
    const math = new DOMParser().parseFromString(e.math, "text/html").body.firstElementChild;
    if (math) line.append(math);
    part.append(line);
  }
}
