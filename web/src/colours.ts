// Colours that those who do not tell red from green can tell apart (Okabe and Ito), the same as in the SVG figures.

export const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7d7d7d"];

export function run_colour(i: number): string {
  return palette[i % palette.length];
}

/** What the two directions of slip are called beside their colours. */
export const statusWord: Record<string, string> = { "slip+": "slip +", "slip-": "slip −", unknown: "behind the events listed" };

/** Status of a contact or joint. */
export const statusColour: Record<string, string> = {
  open: "#8c8c8c",
  stick: "#d55e00",
  "slip+": "#0072b2",
  "slip-": "#56b4e9",
  slip: "#0072b2",
  closed: "#009e73",
  held: "#009e73",
  unknown: "#b8b8b8",
};

export const kindColour: Record<string, string> = {
  impact: "#d55e00",
  contact: "#e69f00",
  "lift-off": "#009e73",
  stick: "#cc79a7",
  slip: "#0072b2",
  reversal: "#56b4e9",
  accumulation: "#d55e00",
  painleve: "#d55e00",
};

export interface Theme {
  paper: string;
  ink: string;
  faint: string;
  grid: string;
}

const night = matchMedia("(prefers-color-scheme: dark)");
let known: { of: string; theme: Theme } | undefined;

/** As the style sheet has it at the moment. Asking the style sheet makes the browser look at the whole page, so it is asked once for each theme. */
export function theme(): Theme {
  const of = `${document.documentElement.dataset.theme ?? ""}${night.matches}`;
  if (known?.of === of) return known.theme;
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(name).trim();
  known = { of, theme: { paper: value("--paper"), ink: value("--ink"), faint: value("--faint"), grid: value("--grid") } };
  return known.theme;
}
