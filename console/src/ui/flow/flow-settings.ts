import type { AriaLabelConfig } from "@xyflow/react";
import { NodeCard } from "./node-card.tsx";

export const nodeTypes = { card: NodeCard };

/** The whole graph is shown first, but not larger than it is drawn. */
export const fitViewOptions = { maxZoom: 1, padding: 0.05 };

/** What screen readers say about the canvas. */
export const flowLabels: Partial<AriaLabelConfig> = {
  "node.a11yDescription.default":
    "Press Enter to choose the node, Delete to remove it, and Escape to leave it.",
  "node.a11yDescription.keyboardDisabled":
    "Press Enter to choose the node, the arrow keys to move it, Delete to remove it, and Escape to leave it.",
  "edge.a11yDescription.default": "Press Enter to choose the edge, and Delete to remove it.",
  "controls.ariaLabel": "View of the graph",
  "controls.zoomIn.ariaLabel": "Zoom in",
  "controls.zoomOut.ariaLabel": "Zoom out",
  "controls.fitView.ariaLabel": "Show the whole graph",
};
