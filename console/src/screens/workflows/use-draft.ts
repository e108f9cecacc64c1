import { create } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { useCallback, useState } from "react";
import type { History } from "../../workflow/graph/history.ts";
import { changed, newHistory, redone, undone } from "../../workflow/graph/history.ts";
import { readSpec, specAsYaml } from "../agents/spec-text.ts";

/** A spec that is being edited, as a graph and as text. */
interface Draft {
  readonly history: History<AgentSpec>;
  readonly text: string;
  /** Changes when something else than the editor of the text has changed it. */
  readonly version: number;
}

export interface DraftActions {
  readonly change: (edit: (graph: Workflow) => Workflow, subject?: string) => void;
  readonly changeSpec: (edit: (spec: AgentSpec) => AgentSpec, subject?: string) => void;
  readonly write: (text: string) => void;
  readonly undo: () => void;
  readonly redo: () => void;
}

/** Keeps a spec, its text, and the way back. A text that cannot be read leaves the graph as it is. */
export function useDraft(stored: AgentSpec): readonly [Draft, DraftActions] {
  const [draft, setDraft] = useState<Draft>(() => ({
    history: newHistory(stored),
    text: specAsYaml(stored),
    version: 0,
  }));
  const changeSpec = useCallback<DraftActions["changeSpec"]>((edit, subject = "") => {
    setDraft((before) => {
      const next = edit(before.history.present);
      return shown(before, changed(before.history, next, subject));
    });
  }, []);
  const change = useCallback<DraftActions["change"]>(
    (edit, subject) =>
      changeSpec((spec) => {
        const { workflow } = spec;
        if (workflow === undefined) return spec;
        return create(AgentSpecSchema, { ...spec, workflow: edit(workflow) });
      }, subject),
    [changeSpec],
  );
  const write = useCallback((text: string) => {
    setDraft((before) => {
      const { spec } = readSpec(text);
      const history =
        spec === undefined ? before.history : changed(before.history, spec, "the text");
      return { ...before, history, text };
    });
  }, []);
  const undo = useCallback(() => setDraft((before) => shown(before, undone(before.history))), []);
  const redo = useCallback(() => setDraft((before) => shown(before, redone(before.history))), []);
  return [draft, { change, changeSpec, write, undo, redo }];
}

function shown({ version }: Draft, history: History<AgentSpec>): Draft {
  return { history, text: specAsYaml(history.present), version: version + 1 };
}
