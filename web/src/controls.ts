// Sliders and fields for the values of a model: parameters, start values, engine, variant, end of the run.

import { short } from "./data";
import type { ModelAnswer, RunRequest } from "./solver";
import { element } from "./tables";

interface Row {
  name: string;
  field: HTMLInputElement;
  slider?: HTMLInputElement;
  host: HTMLElement;
  range: [number, number];
  /** As the model has it; what is not changed follows the others. */
  given: number;
}

const steps = 1000;
const mostRows = 200;

/** Where the model names no range: from nothing to twice the value. */
function rangeFor(value: number, range?: [number, number]): [number, number] {
  if (range && range[1] > range[0]) return range;
  if (value === 0) return [-1, 1];
  return value > 0 ? [0, 2 * value] : [2 * value, 0];
}

export class Controls {
  readonly changed: Record<string, number> = {};
  private readonly rows = new Map<string, Row>();
  private readonly engine = element("select");
  private readonly variant = element("select");
  private readonly until = element("input");
  private readonly reset = element("button", "", "as in the model");

  constructor(
    private readonly host: HTMLElement,
    private readonly tell: () => void,
  ) {
    this.engine.setAttribute("aria-label", "engine");
    this.variant.setAttribute("aria-label", "variant");
    this.until.type = "number";
    this.until.step = "any";
    this.until.setAttribute("aria-label", "until");
    for (const field of [this.engine, this.until]) field.addEventListener("change", () => this.tell());
    // A variant brings values of its own.
    this.variant.addEventListener("change", () => this.clear());
    this.reset.type = "button";
    this.reset.addEventListener("click", () => this.clear());
  }

  /** The fields of a model. What was changed and is still there stays changed. */
  build(model: ModelAnswer, keep: { set: Record<string, number>; engine?: string; variant?: string; until?: number }): void {
    this.rows.clear();
    for (const name of Object.keys(this.changed)) delete this.changed[name];
    const top = element("div", "choices");
    const choice = (words: string, field: HTMLElement) => {
      const label = element("label", "", `${words} `);
      label.append(field);
      top.append(label);
    };
    this.variant.replaceChildren(element("option", "", "as written"), ...model.variants.map((v) => element("option", "", v.title || v.name)));
    [...this.variant.options].forEach((option, i) => (option.value = i === 0 ? "" : model.variants[i - 1].name));
    this.variant.value = model.variants.some((v) => v.name === keep.variant) ? keep.variant! : "";
    if (model.variants.length > 0) choice("variant", this.variant);
    this.engine.replaceChildren(
      ...model.engines.map((e) => {
        const option = element("option", "", e.stands_for ? `${e.name} (${e.stands_for})` : e.name);
        option.value = e.name;
        option.disabled = e.problem !== undefined;
        if (e.problem) option.title = e.problem;
        return option;
      }),
    );
    this.given.engine = model.engine;
    this.engine.value = model.engines.some((e) => e.name === keep.engine && !e.problem) ? keep.engine! : model.engine;
    choice("engine", this.engine);
    this.given.until = model.until;
    this.until.value = String(keep.until ?? model.until ?? "");
    choice("until", this.until);
    top.append(this.reset);

    const parameters = element("div", "sliders");
    const more = element("details");
    more.append(element("summary", "", "Further parameters"));
    const ranged = model.parameters.some((p) => p.range);
    let others = 0;
    for (const p of model.parameters.slice(0, mostRows)) {
      const row = this.row(p.name, p.value, rangeFor(p.value, p.range), p.unit, p.formula);
      if (!ranged || p.range) parameters.append(row);
      else {
        more.append(row);
        ++others;
      }
    }
    const start = element("details");
    start.append(element("summary", "", "Start"));
    for (const s of model.start.slice(0, mostRows)) start.append(this.row(s.name, s.value, rangeFor(s.value)));
    this.host.replaceChildren(top);
    if (model.parameters.length > 0) this.host.append(element("h3", "", "Parameters"), parameters);
    if (others > 0) this.host.append(more);
    if (model.start.length > 0) this.host.append(start);
    for (const [name, value] of Object.entries(keep.set)) {
      const row = this.rows.get(name);
      if (!row) continue;
      this.changed[name] = value;
      this.put(row, value);
      if (row.host.parentElement instanceof HTMLDetailsElement) row.host.parentElement.open = true;
    }
    this.mark();
  }

  private readonly given: { engine: string; until?: number } = { engine: "" };

  private row(name: string, value: number, range: [number, number], unit = "", formula = ""): HTMLElement {
    const host = element("div", "slider");
    const label = element("span", "name", name);
    if (formula) label.title = `= ${formula}`;
    const slider = element("input");
    slider.type = "range";
    slider.min = "0";
    slider.max = String(steps);
    slider.step = "1";
    slider.setAttribute("aria-label", name);
    const field = element("input");
    field.type = "text";
    field.inputMode = "decimal";
    field.setAttribute("aria-label", `${name}, number`);
    const row: Row = { name, field, slider, host, range, given: value };
    slider.addEventListener("input", () => {
      const [a, b] = row.range;
      // Round figures, as the slider has no more than its steps.
      const at = Number((a + (Number(slider.value) / steps) * (b - a)).toPrecision(4));
      this.set(row, at, false);
    });
    field.addEventListener("change", () => {
      const at = Number(field.value.replace(",", "."));
      if (field.value.trim() !== "" && Number.isFinite(at)) this.set(row, at, true);
      else this.put(row, this.changed[name] ?? row.given);
    });
    slider.addEventListener("dblclick", () => this.unset(row));
    slider.title = "two clicks: as in the model";
    host.append(label, slider, field, element("span", "unit", unit));
    this.rows.set(name, row);
    this.put(row, value);
    return host;
  }

  private put(row: Row, value: number, field = true): void {
    let [a, b] = row.range;
    if (value < a || value > b) [a, b] = row.range = [Math.min(a, value), Math.max(b, value)];
    if (row.slider && document.activeElement !== row.slider) row.slider.value = String(Math.round(((value - a) / (b - a)) * steps));
    if (field && document.activeElement !== row.field) row.field.value = short(value);
  }

  private set(row: Row, value: number, typed: boolean): void {
    this.changed[row.name] = value;
    if (typed && row.slider) row.slider.blur();
    row.field.value = short(value, 9);
    this.put(row, value, false);
    this.mark();
    this.tell();
  }

  private unset(row: Row): void {
    if (!(row.name in this.changed)) return;
    delete this.changed[row.name];
    row.slider?.blur();
    this.put(row, row.given);
    this.mark();
    this.tell();
  }

  private clear(): void {
    for (const name of Object.keys(this.changed)) delete this.changed[name];
    this.engine.value = this.given.engine;
    this.until.value = String(this.given.until ?? "");
    for (const row of this.rows.values()) this.put(row, row.given);
    this.mark();
    this.tell();
  }

  private mark(): void {
    for (const row of this.rows.values()) row.host.classList.toggle("changed", row.name in this.changed);
  }

  /** What a run has used: values that were not set follow those that were. */
  follow(values: { name: string; value: number }[]): void {
    for (const { name, value } of values) {
      const row = this.rows.get(name);
      if (!row || name in this.changed || !Number.isFinite(value)) continue;
      row.given = value;
      this.put(row, value);
    }
  }

  /** The end of the run that the file computes: what was not set follows it. */
  followUntil(value: number | undefined): void {
    if (value === undefined) return;
    const set = this.chosen.until !== undefined;
    if (!set && document.activeElement === this.until) return;
    this.given.until = value;
    if (!set) this.until.value = String(value);
  }

  get chosen(): { variant?: string; engine?: string; until?: number } {
    const out: { variant?: string; engine?: string; until?: number } = {};
    if (this.variant.value) out.variant = this.variant.value;
    if (this.engine.value !== this.given.engine) out.engine = this.engine.value;
    const until = Number(this.until.value);
    if (this.until.value !== "" && Number.isFinite(until) && until !== this.given.until) out.until = until;
    return out;
  }

  get request(): RunRequest {
    return { set: Object.entries(this.changed), ...this.chosen };
  }
}
