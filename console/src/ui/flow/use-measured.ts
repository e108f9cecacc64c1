import type { NodeChange } from "@xyflow/react";
import { useCallback, useState } from "react";
import type { CardNode } from "./flow-parts.ts";

type Sizes = ReadonlyMap<string, NonNullable<CardNode["measured"]>>;

/** Keeps the sizes of nodes that the canvas measures: it forgets the connectors of nodes without a size. */
export function useMeasured(): readonly [
  Sizes,
  (changes: readonly NodeChange<CardNode>[]) => void,
] {
  const [sizes, setSizes] = useState<Sizes>(new Map());
  const measure = useCallback((changes: readonly NodeChange<CardNode>[]) => {
    const measured = changes.flatMap((change) =>
      change.type === "dimensions" && change.dimensions !== undefined
        ? [[change.id, change.dimensions] as const]
        : [],
    );
    if (measured.length > 0) setSizes((before) => new Map([...before, ...measured]));
  }, []);
  return [sizes, measure];
}

/** Returns a node with its measured size. */
export function withSize(node: CardNode, sizes: Sizes): CardNode {
  const measured = sizes.get(node.id);
  return measured === undefined ? node : { ...node, measured };
}
