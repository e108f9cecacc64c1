import { useReactFlow, useStore } from "@xyflow/react";
import { useEffect } from "react";
import { fitViewOptions } from "./flow-settings.ts";

/** Shows the whole graph again when the size of the canvas changes, as when a window is made smaller. */
export function FitOnResize() {
  const { fitView } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  useEffect(() => {
    if (width > 0 && height > 0) void fitView(fitViewOptions);
  }, [fitView, width, height]);
  return null;
}
