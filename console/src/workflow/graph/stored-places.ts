import type { Place } from "./layout.ts";

/** Where a browser stores the places that a person gave to the nodes of a workflow. */
export function placesKey(agentId: string): string {
  return `reeve.places.${agentId}`;
}

/** Reads the places of nodes, of which an extension or an older version may have written anything. */
export function readPlaces(
  storage: Pick<Storage, "getItem">,
  key: string,
): ReadonlyMap<string, Place> {
  try {
    const stored: unknown = JSON.parse(storage.getItem(key) ?? "{}");
    if (typeof stored !== "object" || stored === null) return new Map();
    return new Map(Object.entries(stored).flatMap(([id, value]) => placeOf(id, value)));
  } catch {
    return new Map();
  }
}

/** Stores the places. A browser that stores nothing lays the graph out again. */
export function storePlaces(
  storage: Pick<Storage, "setItem" | "removeItem">,
  key: string,
  places: ReadonlyMap<string, Place>,
): void {
  try {
    if (places.size === 0) storage.removeItem(key);
    else storage.setItem(key, JSON.stringify(Object.fromEntries(places)));
  } catch {
    // Its storage may be full, or switched off in a private window.
  }
}

function placeOf(id: string, value: unknown): readonly (readonly [string, Place])[] {
  if (typeof value !== "object" || value === null) return [];
  const { x, y } = value as Record<string, unknown>;
  if (typeof x !== "number" || typeof y !== "number") return [];
  return Number.isFinite(x) && Number.isFinite(y) ? [[id, { x, y }]] : [];
}
