// The text of a model, edited in place: TOML in colours, and what is wrong under the line that it is about.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { EditorState, StateEffect, StateField, Text } from "@codemirror/state";
import { Decoration, DecorationSet, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, WidgetType } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Problem } from "./solver";
import { element } from "./tables";

const setProblems = StateEffect.define<Problem[]>();

class Message extends WidgetType {
  constructor(private readonly problem: Problem) {
    super();
  }
  eq(other: Message): boolean {
    return JSON.stringify(other.problem) === JSON.stringify(this.problem);
  }
  toDOM(): HTMLElement {
    const out = element("div", `problem ${this.problem.severity}`);
    out.append(element("strong", "", `${this.problem.severity}: `), this.problem.message);
    if (this.problem.help) out.append(element("div", "help", this.problem.help));
    return out;
  }
}

/** Columns count characters; so does the editor, in units of UTF-16. */
function offset(doc: Text, line: number, column: number): number {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return found.from + [...found.text].slice(0, Math.max(0, column - 1)).join("").length;
}

function decorations(doc: Text, problems: Problem[]): DecorationSet {
  const marks = [];
  for (const problem of problems) {
    if (problem.line === undefined || problem.file) continue;
    const from = offset(doc, problem.line, problem.column ?? 1);
    const to = problem.end_line === undefined ? from : Math.min(offset(doc, problem.end_line, problem.end_column ?? 1), doc.length);
    const end = doc.lineAt(from).to;
    if (Math.min(to, end) > from) marks.push(Decoration.mark({ class: `at-${problem.severity}` }).range(from, Math.min(to, end)));
    marks.push(Decoration.widget({ widget: new Message(problem), block: true, side: 1 }).range(end));
  }
  return Decoration.set(marks, true);
}

const problemField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(old, transaction) {
    let out = old.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(setProblems)) out = decorations(transaction.state.doc, effect.value);
    return out;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const colours = HighlightStyle.define([
  { tag: tags.comment, class: "toml-comment" },
  { tag: [tags.string, tags.special(tags.string)], class: "toml-string" },
  { tag: [tags.number, tags.atom, tags.bool], class: "toml-number" },
  { tag: [tags.propertyName, tags.keyword, tags.bracket], class: "toml-name" },
]);

export class Editor {
  private readonly view: EditorView;
  private quiet = false;

  constructor(host: HTMLElement, changed: (text: string) => void) {
    this.view = new EditorView({
      parent: host,
      state: EditorState.create({
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          EditorView.lineWrapping,
          StreamLanguage.define(toml),
          syntaxHighlighting(colours),
          problemField,
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorView.contentAttributes.of({ "aria-label": "model file", spellcheck: "false" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !this.quiet) changed(update.state.doc.toString());
          }),
        ],
      }),
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Another text, of which nobody is told. */
  setText(text: string): void {
    this.quiet = true;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    this.quiet = false;
  }

  show(problems: Problem[]): void {
    this.view.dispatch({ effects: setProblems.of(problems) });
  }
}
