import { create } from "@bufbuild/protobuf";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import type { Agent, AgentSpec } from "@reeve/contracts/agent";
import { AgentService, AgentSpecSchema } from "@reeve/contracts/agent";
import { targetOf } from "@reeve/agent/workflow/node-target";
import { Suspense, lazy, useCallback, useMemo, useState } from "react";
import { useAccess } from "../../access/use-access.ts";
import { problemOf } from "../../api/problem.ts";
import { retried } from "../../loading/retried.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { flowParts } from "../../ui/flow/flow-parts.ts";
import {
  addEdge,
  addNode,
  changeNode,
  newGraph,
  removeParts,
} from "../../workflow/graph/edit-graph.ts";
import type { Place } from "../../workflow/graph/layout.ts";
import { sortProblems } from "../../workflow/graph/sort-problems.ts";
import { readSpec, specAsYaml } from "../agents/spec-text.ts";
import type { SpecProblem } from "../agents/spec-text.ts";
import type { Chosen } from "./canvas/canvas.tsx";
import type { Drawn } from "./canvas/connect.ts";
import { edgeOf, whyNotConnect } from "./canvas/connect.ts";
import { usePlaces } from "./canvas/use-places.ts";
import { EditorBar } from "./editor-bar.tsx";
import { ProblemList } from "./panel/problem-list.tsx";
import { SidePanel } from "./panel/side-panel.tsx";
import type { PanelPart } from "./panel/side-panel.tsx";
import { useDraft } from "./use-draft.ts";
import { useNodeTypes } from "./use-node-types.ts";

/** The canvas is loaded after the page is shown. */
const loadCanvas = retried(() => import("./canvas/canvas.tsx"));
const Canvas = lazy(async () => ({ default: (await loadCanvas()).Canvas }));

interface WorkflowEditorProps {
  readonly spec: AgentSpec;
  /** Revision that a change is based on. 0: the workflow is new. */
  readonly revision: number;
  readonly onSaved: (agentId: string) => void;
}

/** A workflow on a canvas. The server checks each change; only a valid workflow can be saved. */
export function WorkflowEditor({ spec: stored, revision, onSaved }: WorkflowEditorProps) {
  const method = revision === 0 ? AgentService.method.createAgent : AgentService.method.updateAgent;
  const isReadOnly = useAccess().whyNot(method) !== undefined;
  const types = useNodeTypes();
  const [draft, actions] = useDraft(stored);
  const [chosen, setChosen] = useState<Chosen>();
  const [part, setPart] = useState<PanelPart>("nodes");
  const spec = draft.history.present;
  const graph = spec.workflow ?? emptyGraph;
  const read = useMemo(() => readSpec(draft.text), [draft.text]);
  const validation = useQuery(
    AgentService.method.validateAgent,
    { spec },
    { enabled: !isReadOnly, placeholderData: (previous) => previous },
  );
  const problems: readonly SpecProblem[] =
    read.spec === undefined
      ? read.problems
      : (validation.data?.violations ?? []).map(({ field, description }) => ({
          line: read.lineOf(field),
          field,
          message: description,
        }));
  const sorted = useMemo(
    () => sortProblems(validation.data?.violations.map(asProblem) ?? []),
    [validation.data],
  );
  const { ports, places, move, tidy } = usePlaces(spec.id, graph, types.typeOf);
  const parts = useMemo(
    () => flowParts({ graph, typeOf: types.typeOf, ports, places, problems: sorted, isReadOnly }),
    [graph, types.typeOf, ports, places, sorted, isReadOnly],
  );
  const update = useMutation(AgentService.method.updateAgent);
  const save = useMutation(AgentService.method.createAgent);
  const isNew = revision === 0;
  const saving = isNew ? save : update;
  const onSuccess = ({ agent }: { readonly agent?: Agent | undefined }) =>
    onSaved(agent?.spec?.id ?? "");
  const onSave = () =>
    isNew ? save.mutate({ spec }, { onSuccess }) : update.mutate({ spec, revision }, { onSuccess });
  const { change, changeSpec } = actions;
  const onChoose = useCallback((next: Chosen) => {
    setChosen(next);
    setPart((before) =>
      next === undefined && before === "chosen" ? "nodes" : next === undefined ? before : "chosen",
    );
  }, []);
  const onLeave = useCallback(
    (left: Chosen) =>
      setChosen((before) => (JSON.stringify(before) === JSON.stringify(left) ? undefined : before)),
    [],
  );
  const add = (type: string, place?: Place) => {
    const [next, id] = addNode(graph, type);
    if (place !== undefined) move(new Map([[id, place]]));
    changeSpec((before) =>
      create(AgentSpecSchema, {
        ...before,
        workflow: next,
        delegates: withDelegate(before.delegates, type),
      }),
    );
    onChoose({ kind: "node", id });
  };
  const onRemove = useCallback(
    (ids: ReadonlySet<string>, indexes: ReadonlySet<number>) => {
      onChoose(undefined);
      change((before) => removeParts(before, ids, indexes));
    },
    [change, onChoose],
  );
  const whyNot = (drawn: Drawn) => whyNotConnect(graph, edgeOf(drawn, ports), types.typeOf);
  const isValid = problems.length === 0 && validation.isSuccess && !validation.isFetching;
  const hasChanged = isNew || draft.text !== specAsYaml(stored);
  return (
    <div className="workflow-editor">
      <EditorBar
        spec={spec}
        revision={revision}
        method={method}
        state={
          problems.length > 0
            ? `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`
            : validation.isFetching
              ? "Checking …"
              : isValid
                ? "Valid"
                : ""
        }
        mayUndo={draft.history.past.length > 0}
        mayRedo={draft.history.future.length > 0}
        maySave={hasChanged && isValid && !saving.isPending && read.spec !== undefined}
        isReadOnly={isReadOnly}
        actions={actions}
        onTidy={tidy}
        onSave={onSave}
      />
      {saving.error !== null && <ProblemView problem={problemOf(saving.error)} />}
      {types.error !== undefined && <ProblemView problem={problemOf(types.error)} />}
      <div className="canvas-and-panel">
        {types.isPending ? (
          <p className="loading" role="status">
            Loading the registry of nodes …
          </p>
        ) : (
          <Suspense fallback={<p className="loading">Loading the canvas …</p>}>
            <Canvas
              nodes={parts.nodes}
              edges={parts.edges}
              isReadOnly={isReadOnly}
              chosen={chosen}
              onChoose={onChoose}
              onLeave={onLeave}
              onPlace={move}
              onConnect={(drawn) => change((before) => addEdge(before, edgeOf(drawn, ports)))}
              whyNotConnect={whyNot}
              onRemove={onRemove}
              onDrop={add}
            />
          </Suspense>
        )}
        <SidePanel
          part={part}
          onPart={setPart}
          chosen={chosen}
          onChoose={onChoose}
          spec={spec}
          graph={graph}
          types={types}
          ports={ports}
          sorted={sorted}
          problems={problems}
          draft={draft}
          actions={actions}
          isReadOnly={isReadOnly}
          onAdd={(type) => add(type)}
          onRename={(from, to) => {
            const place = places.get(from);
            if (place !== undefined) move(new Map([[to, place]]));
            setChosen({ kind: "node", id: to });
            change((before) => changeNode(before, from, { id: to }));
          }}
        />
      </div>
      <ProblemList problems={problems} graph={graph} onChoose={onChoose} />
    </div>
  );
}

const emptyGraph = newGraph();

function asProblem({ field, description }: { field: string; description: string }) {
  return { field, message: description };
}

/** A node calls an agent only if the workflow has it as a delegate. */
function withDelegate(delegates: readonly string[], type: string): string[] {
  const target = targetOf({ type });
  const isAgent = target?.kind === "agent" || target?.kind === "workflow";
  if (!isAgent || target.name === "" || delegates.includes(target.name)) return [...delegates];
  return [...delegates, target.name];
}
