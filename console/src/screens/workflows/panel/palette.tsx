import { useQuery } from "@connectrpc/connect-query";
import type { NodeType } from "@reeve/contracts/extensions/workflow";
import { WorkflowService } from "@reeve/contracts/extensions/workflow";
import { useDeferredValue, useState } from "react";
import { Icon } from "../../../ui/icons.tsx";
import { dragType } from "../canvas/drag-type.ts";

interface PaletteProps {
  readonly listed: readonly NodeType[];
  readonly onAdd: (type: string) => void;
}

/** The registry of nodes: a click adds a node of a type, and so does dragging it onto the canvas. */
export function Palette({ listed, onAdd }: PaletteProps) {
  const [text, setText] = useState("");
  const query = useDeferredValue(text.trim());
  const found = useQuery(
    WorkflowService.method.listNodeTypes,
    { query, pageSize: 100 },
    { enabled: query !== "", placeholderData: (previous) => previous },
  ).data?.nodeTypes;
  const shown = query === "" ? listed : (found ?? []);
  return (
    <div className="palette-list">
      <input
        type="search"
        className="input"
        aria-label="Search the types of nodes"
        placeholder="Search nodes, tools, and agents"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {shown.length === 0 && query !== "" && (
        <p className="muted" role="status">
          No type of nodes matches.
        </p>
      )}
      <ul aria-label="Types of nodes">
        {shown.map((type) => (
          <PaletteItem key={type.id} type={type} onAdd={onAdd} />
        ))}
      </ul>
    </div>
  );
}

interface PaletteItemProps {
  readonly type: NodeType;
  readonly onAdd: (type: string) => void;
}

function PaletteItem({ type: { id, title, description, problem }, onAdd }: PaletteItemProps) {
  return (
    <li>
      <button
        type="button"
        className="palette-item"
        disabled={problem !== ""}
        draggable={problem === ""}
        title={problem === "" ? description : `Not possible: ${problem}`}
        onClick={() => onAdd(id)}
        onDragStart={(event) => {
          event.dataTransfer.setData(dragType, id);
          event.dataTransfer.effectAllowed = "copy";
        }}
      >
        <Icon name="plus" />
        <span className="palette-name">
          <span className="clip">{title}</span>
          {id.includes(":") && <span className="sub mono">{id}</span>}
        </span>
      </button>
    </li>
  );
}
