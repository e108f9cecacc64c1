import type { DescMethod } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { useEffect } from "react";
import { Permitted } from "../../access/permitted.tsx";
import type { DraftActions } from "./use-draft.ts";

interface EditorBarProps {
  readonly spec: AgentSpec;
  readonly revision: number;
  readonly method: DescMethod;
  /** Whether the draft is valid, in words. */
  readonly state: string;
  readonly mayUndo: boolean;
  readonly mayRedo: boolean;
  readonly maySave: boolean;
  readonly isReadOnly: boolean;
  readonly actions: DraftActions;
  readonly onTidy: () => void;
  readonly onSave: () => void;
}

/** What is done with the whole workflow. Ctrl+Z undoes, Ctrl+Shift+Z or Ctrl+Y does it again, and Ctrl+S saves. */
export function EditorBar(props: EditorBarProps) {
  const { spec, revision, method, state, isReadOnly, actions } = props;
  const isNew = revision === 0;
  const { undo, redo, changeSpec } = actions;
  const { onSave, maySave, mayUndo, mayRedo, onTidy } = props;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || isReadOnly) return;
      const key = event.key.toLowerCase();
      if (key === "s") {
        event.preventDefault();
        if (maySave) onSave();
      } else if (isWriting(event)) {
        // A field undoes what is written in it.
      } else if (key === "y" || (key === "z" && event.shiftKey)) {
        event.preventDefault();
        redo();
      } else if (key === "z") {
        event.preventDefault();
        undo();
      }
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [undo, redo, onSave, maySave, isReadOnly]);
  const rename = (part: { readonly id: string } | { readonly name: string }) =>
    changeSpec((before) => create(AgentSpecSchema, { ...before, ...part }), Object.keys(part)[0]);
  return (
    <div className="row editor-bar">
      {isNew && (
        <label className="row">
          <span className="muted">Id</span>
          <input
            className="input mono"
            aria-label="Id of the workflow"
            value={spec.id}
            onChange={({ target }) => rename({ id: target.value })}
          />
        </label>
      )}
      <label className="row">
        <span className="muted">Name</span>
        <input
          className="input"
          aria-label="Name of the workflow"
          disabled={isReadOnly}
          value={spec.name}
          onChange={({ target }) => rename({ name: target.value })}
        />
      </label>
      {!isReadOnly && (
        <>
          <button type="button" className="button" disabled={!mayUndo} onClick={undo}>
            Undo
          </button>
          <button type="button" className="button" disabled={!mayRedo} onClick={redo}>
            Redo
          </button>
        </>
      )}
      <button type="button" className="button" onClick={onTidy}>
        Tidy up
      </button>
      <span className="muted" role="status">
        {state}
      </span>
      <div className="push">
        <Permitted method={method} action={isNew ? "Creating a workflow" : "Changing the workflow"}>
          <button type="button" className="button primary" disabled={!maySave} onClick={onSave}>
            {isNew ? "Create the workflow" : `Save as revision ${revision + 1}`}
          </button>
        </Permitted>
      </div>
    </div>
  );
}

/** In a shadow root, as that of the editor of texts, the event names only its host. */
function isWriting(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("input, textarea, select");
}
