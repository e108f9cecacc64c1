import { useReactFlow, useStoreApi } from "@xyflow/react";
import { useEffect, useRef } from "react";
import { fitViewOptions } from "./flow-settings.ts";

/** Shows the whole graph again when its places change so that a node is not completely in the view. */
export function KeepInView({ places }: { readonly places: string }) {
  const { fitView, getNodes, getNodesBounds, flowToScreenPosition } = useReactFlow();
  const store = useStoreApi();
  const shown = useRef(places);
  useEffect(() => {
    if (shown.current === places) return;
    shown.current = places;
    const frame = requestAnimationFrame(() => {
      const box = store.getState().domNode?.getBoundingClientRect();
      if (box === undefined) return;
      const { x, y, width, height } = getNodesBounds(getNodes());
      const first = flowToScreenPosition({ x, y });
      const last = flowToScreenPosition({ x: x + width, y: y + height });
      const isInside =
        first.x >= box.left && first.y >= box.top && last.x <= box.right && last.y <= box.bottom;
      if (!isInside) void fitView(fitViewOptions);
    });
    return () => cancelAnimationFrame(frame);
  }, [places, store, fitView, getNodes, getNodesBounds, flowToScreenPosition]);
  return null;
}
