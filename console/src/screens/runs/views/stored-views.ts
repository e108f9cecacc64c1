import type { RunsSearch } from "../runs-search.ts";
import { readRunsSearch } from "../runs-search.ts";

/** Filters of the list of runs under a name. */
export interface SavedView {
  readonly name: string;
  readonly search: RunsSearch;
}

/** How many views a person has at most. */
export const maxViews = 20;
export const maxNameLength = 40;

/** Where the views of a person are stored. People who share a browser do not see those of others. */
export function viewsKey({ tenant, subject }: { tenant: string; subject: string }): string {
  return `reeve.views.${JSON.stringify([tenant, subject])}`;
}

/** Reads the views of a person, of which an extension or an older version may have written anything. */
export function readViews(storage: Pick<Storage, "getItem">, key: string): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(key) ?? "[]");
    return Array.isArray(stored) ? stored.flatMap(viewOf).slice(0, maxViews) : [];
  } catch {
    return [];
  }
}

/** Stores the views of a person. Returns why the browser did not store them. */
export function storeViews(
  storage: Pick<Storage, "setItem">,
  key: string,
  views: readonly SavedView[],
): string | undefined {
  try {
    storage.setItem(key, JSON.stringify(views));
    return undefined;
  } catch {
    // Its storage may be full, or switched off in a private window.
    return "This browser does not store views for this page. Check its settings for site data.";
  }
}

/** Returns the views with one more, which replaces one of the same name. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  return [...views.filter(({ name }) => name !== view.name), view].slice(-maxViews);
}

function viewOf(stored: unknown): readonly SavedView[] {
  if (typeof stored !== "object" || stored === null) return [];
  const { name, search } = stored as Record<string, unknown>;
  if (typeof name !== "string" || name === "" || name.length > maxNameLength) return [];
  if (typeof search !== "object" || search === null) return [];
  return [{ name, search: readRunsSearch(search as Record<string, unknown>) }];
}
