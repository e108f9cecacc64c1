import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useLayoutEffect, useRef } from "react";
import type { SpecProblem } from "../spec-text.ts";
import { colors, theme } from "./editor-theme.ts";
import type { KnownNames } from "./spec-completion.ts";
import { completeSpec } from "./spec-completion.ts";

export interface CodeEditorProps {
  readonly text: string;
  /** Changes when something else than this editor has changed the text: only then is its text replaced. */
  readonly version: number;
  readonly violations: readonly SpecProblem[];
  readonly names: KnownNames;
  readonly onChange: (text: string) => void;
}

/** The text of a spec, with what fits at the cursor, and the violations in their lines. */
export function CodeEditor({ text, version, violations, names, onChange }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(undefined);
  // The editor is made once; it calls what the last rendering passed.
  const applied = useRef(version);
  const last = useRef({ text, names, onChange });
  useLayoutEffect(() => {
    last.current = { text, names, onChange };
  });
  useEffect(() => {
    const { current: element } = host;
    if (element === null) return undefined;
    // In a shadow root, the editor adopts its style sheets; in the page, the policy refuses the style elements that it would add.
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: last.current.text,
        extensions: [
          lineNumbers(),
          history(),
          yaml(),
          lintGutter(),
          autocompletion({
            override: [
              ({ state, pos, explicit }) => {
                const before = state.sliceDoc(0, pos);
                const found = completeSpec(before, last.current.names);
                if (found === undefined || (found.replaced === 0 && !explicit)) return null;
                const options = found.options.map(({ label, detail, text: apply }) => ({
                  label,
                  detail,
                  apply,
                }));
                return { from: pos - found.replaced, options, validFor: /^[\w:./-]*$/ };
              },
            ],
          }),
          keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
          EditorView.contentAttributes.of({ "aria-label": "Spec", spellcheck: "false" }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) last.current.onChange(state.doc.toString());
          }),
          theme,
          colors,
        ],
      }),
    });
    editor.current = view;
    return () => {
      editor.current = undefined;
      view.destroy();
    };
  }, []);
  // With the rendering, not after it: what is typed between the two is not in `text` yet, and would be replaced.
  useLayoutEffect(() => {
    const view = editor.current;
    if (view === undefined || applied.current === version) return;
    applied.current = version;
    // A text that the editor has passed on may be rendered after the person has written more, which must stay.
    const { text: insert } = last.current;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } });
  }, [version]);
  useEffect(() => {
    const view = editor.current;
    if (view === undefined) return;
    const { doc } = view.state;
    const diagnostics = violations.flatMap(({ line, field, message }) => {
      if (line === undefined || line > doc.lines) return [];
      const { from, to } = doc.line(line);
      return [{ from, to, severity: "error" as const, message: `${field} ${message}`.trim() }];
    });
    view.dispatch(setDiagnostics(view.state, diagnostics));
  }, [violations]);
  return <div ref={host} className="code-editor" data-invalid={violations.length > 0} />;
}
