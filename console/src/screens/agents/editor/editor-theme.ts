import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The look of the editor, with the colors of the page, which its shadow root inherits. */
export const theme: Extension = EditorView.theme({
  "&": { fontSize: "13px", color: "var(--text)", backgroundColor: "var(--surface)" },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-scroller": { fontFamily: "var(--mono, ui-monospace, monospace)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", padding: "var(--s3) 0" },
  ".cm-gutters": {
    backgroundColor: "var(--surface)",
    color: "var(--muted)",
    borderInlineEnd: "1px solid var(--line)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--line)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent-soft)",
    color: "var(--text)",
  },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal" },
});

export const colors: Extension = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
    { tag: [tags.string, tags.content], color: "var(--text)" },
    { tag: [tags.comment, tags.meta, tags.punctuation], color: "var(--muted)" },
  ]),
);
