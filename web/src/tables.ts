// Tables of the page. Every text of a model or a run goes in as text, never as markup.

import type { Clock } from "./clock";
import { lowerIndex, Run, short } from "./data";

export function element<K extends keyof HTMLElementTagNameMap>(tag: K, className = "", text = ""): HTMLElementTagNameMap[K] {
  const out = document.createElement(tag);
  if (className) out.className = className;
  if (text) out.textContent = text;
  return out;
}

export function table(heads: string[], rows: string[][], numbers = true): HTMLTableElement {
  const out = element("table", numbers ? "numbers" : "");
  const head = out.createTHead().insertRow();
  for (const text of heads) head.append(element("th", "", text));
  const body = out.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    row.forEach((text) => line.append(element("td", "", text)));
  }
  return out;
}

const page = 200;

/** The events of one run, with those of the present time marked; a click goes to the event. */
export class EventTable {
  private first = 0;
  private readonly body: HTMLTableSectionElement;
  private readonly place = element("span");
  private readonly rows: HTMLTableRowElement[] = [];
  private readonly kinds = element("select");
  private shown: number[] = [];
  private filter = "";
  private readonly hint = element("p", "hint");

  constructor(
    host: HTMLElement,
    private run: Run,
    private readonly clock: Clock,
  ) {
    const bar = element("div", "bar");
    const kinds = this.kinds;
    kinds.setAttribute("aria-label", "kinds of events");
    kinds.addEventListener("change", () => {
      this.filter = kinds.selectedIndex === 0 ? "" : kinds.value;
      this.first = 0;
      this.choose();
    });
    const back = this.button("◀", "earlier events", -page);
    const on = this.button("▶", "later events", page);
    bar.append(kinds, back, this.place, on);
    const box = element("div", "scroll");
    const list = table(["time", "event", "where", "detail", "normal impulse", "tangential", "energy lost"], []);
    this.body = list.tBodies[0];
    box.append(list);
    host.append(bar, box, this.hint);
    clock.onTime((t) => this.mark(t));
    this.listKinds();
    this.choose();
  }

  /** Another run of the same model. */
  update(run: Run): void {
    this.run = run;
    this.listKinds();
    this.choose();
  }

  /** What the heads of the table do not say. */
  private words(): void {
    const e = this.run.events;
    const out: string[] = [];
    if (e.kind.includes("accumulation")) out.push("Detail of an accumulation: how many events its end stands for, and the time they would have taken.");
    const most = e.lost.reduce((largest, lost) => Math.max(largest, Math.abs(lost)), 0);
    if (e.lost.some((lost) => lost < -1e-6 * most)) out.push("Energy lost below zero came in: from a wall that moves, or by an impact law that makes energy.");
    this.hint.textContent = out.join(" ");
  }

  private listKinds(): void {
    this.words();
    const known = ["all events", ...new Set(this.run.events.kind)];
    if (known.length === this.kinds.options.length && known.every((kind, i) => this.kinds.options[i].text === kind)) return;
    if (this.filter && !known.includes(this.filter)) this.filter = "";
    this.kinds.replaceChildren(...known.map((kind) => element("option", "", kind)));
    this.kinds.selectedIndex = Math.max(0, known.indexOf(this.filter));
  }

  private button(text: string, label: string, by: number): HTMLButtonElement {
    const out = element("button", "", text);
    out.type = "button";
    out.setAttribute("aria-label", label);
    out.addEventListener("click", () => {
      this.first = Math.min(Math.max(0, this.first + by), Math.max(0, this.shown.length - 1));
      this.fill();
    });
    return out;
  }

  private choose(): void {
    this.first = 0;
    this.shown = [];
    this.run.events.kind.forEach((kind, i) => {
      if (this.filter === "" || kind === this.filter) this.shown.push(i);
    });
    this.fill();
  }

  private fill(): void {
    const e = this.run.events;
    const last = Math.min(this.first + page, this.shown.length);
    this.body.replaceChildren();
    this.rows.length = 0;
    const number = (x: number) => (x === 0 ? "" : short(x));
    for (const i of this.shown.slice(this.first, last)) {
      const row = this.body.insertRow();
      row.tabIndex = 0;
      for (const text of [short(e.time[i], 10), e.kind[i], e.where[i], e.detail[i], number(e.normal[i]), number(e.tangential[i]), number(e.lost[i])])
        row.append(element("td", "", text));
      const go = () => this.clock.setTime(e.time[i]);
      row.addEventListener("click", go);
      row.addEventListener("keydown", (event) => {
        if (event.key === "Enter") go();
      });
      this.rows.push(row);
    }
    const cut = e.total > e.time.length ? ` (of ${e.total}; the others are in events.csv)` : "";
    this.place.textContent = this.shown.length === 0 ? "none" : `${this.first + 1} to ${last} of ${this.shown.length}${cut}`;
    this.mark(this.clock.now);
  }

  private mark(t: number): void {
    if (this.rows.length === 0) return;
    const times = this.shown.slice(this.first, this.first + page).map((i) => this.run.events.time[i]);
    const at = times[0] <= t ? lowerIndex(times, t) : -1;
    this.rows.forEach((row, i) => row.classList.toggle("now", i === at));
  }
}
