// Several runs beside one another, as a table: how they ended, the parameters in which they differ, their last values and extremes, events, loads
// of contacts.

import { label, Run, short } from "./data";
import { runName } from "./parts";
import { element } from "./tables";

type Cell = string | undefined;

const mostRows = 60; // of one part of the table

/** Names in the order in which they come first. */
function names(runs: Run[], of: (run: Run) => string[]): string[] {
  return [...new Set(runs.flatMap(of))];
}

function loadsOf(run: Run): Map<string, { peak: number; impulse: number }> {
  const out = new Map<string, { peak: number; impulse: number }>();
  for (const load of run.loads) {
    const sum = out.get(load.contact) ?? { peak: 0, impulse: 0 };
    // What is no number stays none.
    sum.peak = load.peak > sum.peak || !Number.isFinite(load.peak) ? load.peak : sum.peak;
    sum.impulse += load.impulse;
    out.set(load.contact, sum);
  }
  return out;
}

function last(run: Run, name: string): Cell {
  const column = run.columns.find((c) => c.name === name);
  if (!column || column.values.length === 0) return undefined;
  const value = column.values[column.values.length - 1];
  return column.words ? column.words[value] : short(value);
}

/** The parts of the table: a title, and lines of a name and a cell for each run. */
function parts(runs: Run[]): [string, [string, Cell[]][]][] {
  const each = (of: (run: Run) => Cell): Cell[] => runs.map(of);
  const parameters = names(runs, (run) => run.parameters.map((p) => p.name))
    .map((name): [string, Cell[]] => {
      const unit = runs.map((run) => run.parameters.find((p) => p.name === name)?.unit).find((u) => u);
      return [unit ? `${name} [${unit}]` : name, each((run) => run.parameters.find((p) => p.name === name)?.value)];
    })
    .filter(([, cells]) => cells.some((cell) => cell !== cells[0]));
  const columns = names(runs, (run) => run.columns.map((c) => c.name));
  const shown = (name: string) => label(runs.find((run) => run.columns.some((c) => c.name === name)) ?? runs[0], name);
  const extreme = (run: Run, name: string) => run.extremes.find((e) => e.name === name);
  const kinds = names(runs, (run) => run.events.kind);
  const loads = runs.map(loadsOf);
  const contacts = names(runs, (run) => run.loads.map((l) => l.contact));
  return [
    ["End", [["how", each((run) => run.end)], ["referee", each((run) => run.referee.words.replace(/^referee: /, ""))]]],
    ["Parameters that differ", parameters],
    ["Last values", columns.map((name): [string, Cell[]] => [shown(name), each((run) => last(run, name))])],
    [
      "Extremes",
      columns
        .filter((name) => runs.some((run) => extreme(run, name)))
        .map((name): [string, Cell[]] => [
          shown(name),
          each((run) => {
            const e = extreme(run, name);
            return e && `${short(e.least)} … ${short(e.most)}`;
          }),
        ]),
    ],
    [
      "Events",
      [
        ["all", each((run) => String(run.events.total))],
        ...kinds.map((kind): [string, Cell[]] => [
          kind,
          each((run) => {
            const count = run.events.kind.filter((k) => k === kind).length;
            return run.events.total > run.events.kind.length ? `${count} of the first ${run.events.kind.length}` : String(count);
          }),
        ]),
      ],
    ],
    [
      "Loads of contacts",
      contacts.flatMap((contact): [string, Cell[]][] => [
        [`${contact}, largest force`, loads.map((of) => (of.has(contact) ? short(of.get(contact)!.peak) : undefined))],
        [`${contact}, impulse in all`, loads.map((of) => (of.has(contact) ? short(of.get(contact)!.impulse) : undefined))],
      ]),
    ],
  ];
}

export function comparison(runs: Run[]): HTMLTableElement {
  const out = element("table", "compare");
  const head = out.createTHead().insertRow();
  head.append(element("th"));
  for (const run of runs) head.append(element("th", "", runName(run, runs)));
  for (const [title, lines] of parts(runs)) {
    if (lines.length === 0) continue;
    const body = out.createTBody();
    const top = element("th", "", lines.length > mostRows ? `${title} (the first ${mostRows} of ${lines.length})` : title);
    top.colSpan = runs.length + 1;
    top.scope = "rowgroup";
    body.insertRow().append(top);
    for (const [name, cells] of lines.slice(0, mostRows)) {
      const row = body.insertRow();
      const left = element("th", "", name);
      left.scope = "row";
      row.append(left, ...cells.map((cell) => element("td", "", cell ?? "–")));
    }
  }
  return out;
}
