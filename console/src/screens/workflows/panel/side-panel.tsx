import type { AgentSpec } from "@reeve/contracts/agent";
import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { removeParts } from "../../../workflow/graph/edit-graph.ts";
import type { NodePorts } from "../../../workflow/graph/node-ports.ts";
import type { SortedProblems } from "../../../workflow/graph/sort-problems.ts";
import { SpecEditor } from "../../agents/editor/spec-editor.tsx";
import type { SpecProblem } from "../../agents/spec-text.ts";
import type { Chosen } from "../canvas/canvas.tsx";
import type { DraftActions } from "../use-draft.ts";
import type { useNodeTypes } from "../use-node-types.ts";
import { EdgePanel } from "./edge-panel.tsx";
import { NodePanel } from "./node-panel.tsx";
import { Palette } from "./palette.tsx";
import { SettingsPanel } from "./settings-panel.tsx";

export type PanelPart = "nodes" | "chosen" | "settings" | "yaml";

interface SidePanelProps {
  readonly part: PanelPart;
  readonly onPart: (part: PanelPart) => void;
  readonly chosen: Chosen;
  readonly onChoose: (chosen: Chosen) => void;
  readonly spec: AgentSpec;
  readonly graph: Workflow;
  readonly types: ReturnType<typeof useNodeTypes>;
  readonly ports: ReadonlyMap<string, NodePorts>;
  readonly sorted: SortedProblems;
  readonly problems: readonly SpecProblem[];
  readonly draft: { readonly text: string; readonly version: number };
  readonly actions: DraftActions;
  readonly isReadOnly: boolean;
  readonly onAdd: (type: string) => void;
  readonly onRename: (from: string, to: string) => void;
}

const names = {
  nodes: "Nodes",
  chosen: "Chosen",
  settings: "Settings",
  yaml: "YAML",
} as const;

/** Beside the canvas: the types of nodes, what is chosen, or the text of the spec. */
export function SidePanel(props: SidePanelProps) {
  const { part, onPart, isReadOnly } = props;
  const parts = (["nodes", "chosen", "settings", "yaml"] as const).filter(
    (each) => !isReadOnly || each !== "nodes",
  );
  const shown = isReadOnly && part === "nodes" ? "chosen" : part;
  return (
    <section className="side-panel" aria-label="Panel">
      <div className="chips" role="group" aria-label="Parts of the panel">
        {parts.map((each) => (
          <button
            key={each}
            type="button"
            className="chip small"
            aria-pressed={each === shown}
            onClick={() => onPart(each)}
          >
            {names[each]}
          </button>
        ))}
      </div>
      {shown === "nodes" && <Palette listed={props.types.listed} onAdd={props.onAdd} />}
      {shown === "chosen" && <ChosenPart {...props} />}
      {shown === "settings" && (
        <fieldset className="plain-fieldset" disabled={isReadOnly}>
          <SettingsPanel
            spec={props.spec}
            problems={props.problems}
            changeSpec={props.actions.changeSpec}
          />
        </fieldset>
      )}
      {shown === "yaml" && <TextPart {...props} />}
    </section>
  );
}

function TextPart({ draft, problems, actions, isReadOnly }: SidePanelProps) {
  if (isReadOnly) {
    return (
      <pre className="code" tabIndex={0} aria-label="Spec">
        {draft.text}
      </pre>
    );
  }
  return (
    <SpecEditor
      text={draft.text}
      version={draft.version}
      violations={problems}
      onChange={actions.write}
    />
  );
}

function ChosenPart(props: SidePanelProps) {
  const { chosen, graph, types, ports, sorted, actions, isReadOnly, onChoose, onRename } = props;
  if (chosen?.kind === "edge" && graph.edges[chosen.index] !== undefined) {
    return (
      <EdgePanel
        key={chosen.index}
        graph={graph}
        index={chosen.index}
        ports={ports}
        problems={sorted.edges.get(chosen.index) ?? []}
        change={actions.change}
        onRemoved={() => onChoose(undefined)}
      />
    );
  }
  const index = chosen?.kind === "node" ? graph.nodes.findIndex(({ id }) => id === chosen.id) : -1;
  const node = graph.nodes[index];
  if (node === undefined) {
    return <p className="muted">Choose a node or an edge to see what it does.</p>;
  }
  return (
    <fieldset className="plain-fieldset" disabled={isReadOnly}>
      <NodePanel
        key={node.id}
        node={node}
        type={types.typeOf(node)}
        listed={types.listed}
        graph={graph}
        typeOf={types.typeOf}
        ports={ports}
        problems={sorted.nodes.get(index) ?? []}
        change={actions.change}
        onRenamed={(id) => {
          if (id !== node.id) onRename(node.id, id);
        }}
      />
      <button
        type="button"
        className="button danger"
        onClick={() => {
          onChoose(undefined);
          actions.change((before) => removeParts(before, new Set([node.id]), new Set()));
        }}
      >
        Remove the node
      </button>
    </fieldset>
  );
}
