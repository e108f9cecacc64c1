import type { NodePorts } from "./node-ports.ts";

/** The size of a node on the canvas, in pixels. The style sheet has the same numbers. */
export const nodeWidth = 184;
const headHeight = 52;
const rowHeight = 22;
const endHeight = 8;

/** Returns the height of a node, which follows from its connectors. */
export function heightOf({ inputs, outputs, takesOthers }: NodePorts): number {
  const rows = Math.max(inputs.length + (takesOthers ? 1 : 0), outputs.length);
  return headHeight + rows * rowHeight + (rows > 0 ? endHeight : 0);
}
