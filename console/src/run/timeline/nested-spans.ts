import type { Span } from "../run-model.ts";
import { subtaskKey } from "./spans.ts";

/** Returns all spans, those of each subtask right below it. Within a subtask they keep their order. */
export function nestedSpans(spans: readonly Span[]): readonly Span[] {
  const keys = new Set(spans.map(({ key }) => key));
  const inside = Map.groupBy(spans, ({ frameId }) => {
    const key = subtaskKey(frameId);
    // What belongs to a subtask without a span is not left out.
    return keys.has(key) ? key : "";
  });
  const nested: Span[] = [];
  const addFrom = (parentKey: string) => {
    const parts = inside.get(parentKey) ?? [];
    inside.delete(parentKey);
    for (const span of parts) {
      nested.push(span);
      addFrom(span.key);
    }
  };
  addFrom("");
  return nested;
}
