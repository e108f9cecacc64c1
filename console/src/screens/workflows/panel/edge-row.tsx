import { changeEdge, removeParts } from "../../../workflow/graph/edit-graph.ts";
import { Icon } from "../../../ui/icons.tsx";
import type { DraftActions } from "../use-draft.ts";
import type { EdgeSource, PlacedEdge } from "./edge-sources.ts";
import { SourceChoice } from "./source-choice.tsx";

interface EdgeRowProps {
  readonly edge: PlacedEdge;
  readonly sources: readonly EdgeSource[];
  readonly change: DraftActions["change"];
}

/** An edge to an input: the output that it comes from, and which part of its value it passes. */
export function EdgeRow({ edge, sources, change }: EdgeRowProps) {
  const { index, source, sourceHandle, path } = edge;
  return (
    <div className="edge-row">
      <SourceChoice
        label={`Source of edge ${index + 1}`}
        empty=""
        sources={sources}
        chosen={{ source, sourceHandle }}
        onChoose={(next) => change((graph) => changeEdge(graph, index, next))}
      />
      {sourceHandle !== "" && (
        <input
          className="input mono"
          aria-label={`Part of the value of edge ${index + 1}`}
          placeholder="whole value"
          value={path}
          onChange={({ target }) =>
            change(
              (graph) =>
                changeEdge(graph, index, {
                  sourceHandle:
                    target.value === "" ? sourceHandle : `${sourceHandle}.${target.value}`,
                }),
              `edge ${index} part`,
            )
          }
        />
      )}
      <button
        type="button"
        className="icon-button"
        aria-label={`Remove the edge from ${source}`}
        onClick={() => change((graph) => removeParts(graph, new Set(), new Set([index])))}
      >
        <Icon name="cross" />
      </button>
    </div>
  );
}
