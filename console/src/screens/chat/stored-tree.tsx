import type { ExecutionTreeNode } from "@reeve/contracts/thread";
import { formatDuration } from "../../format/time.ts";
import { Badge } from "../../ui/badge.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";

interface StoredTreeProps {
  readonly nodes: readonly ExecutionTreeNode[];
  readonly parentId?: string;
}

/** The execution tree that is stored with an answer, as nested cards that are closed. */
export function StoredTree({ nodes, parentId = "" }: StoredTreeProps) {
  const own = nodes.filter((node) => node.parentId === parentId);
  if (own.length === 0) return null;
  return (
    <ol className="items stored">
      {own.map((node) => (
        <li key={node.id}>
          <div className="card" data-node={node.id}>
            <Disclosure summary={<NodeHead node={node} />}>
              {node.argsPreview !== "" && <p className="preview mono">{node.argsPreview}</p>}
              {node.resultPreview !== "" && (
                <p className="preview mono result">{node.resultPreview}</p>
              )}
              <StoredTree nodes={nodes} parentId={node.id} />
            </Disclosure>
          </div>
        </li>
      ))}
    </ol>
  );
}

function NodeHead({ node }: { readonly node: ExecutionTreeNode }) {
  const state = node.unfinished
    ? { name: "no result", tone: "idle" as const }
    : node.isError
      ? { name: "failed", tone: "bad" as const }
      : { name: "done", tone: "ok" as const };
  return (
    <span className="card-head">
      <span className={node.title === "" ? "card-name mono" : "card-title"}>
        {node.nodeId || node.title || node.name}
      </span>
      <span className="card-args mono">{node.argsEdited ? "arguments edited" : ""}</span>
      {node.durationMs > 0 && (
        <span className="muted tabular">{formatDuration(node.durationMs)}</span>
      )}
      <Badge {...state} />
    </span>
  );
}
