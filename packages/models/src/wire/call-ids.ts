import { randomUUID } from "node:crypto";

/**
 * Returns distinct ids for calls, by which results are matched with them. Keeps the ids of the provider, and replaces those
 * that are empty or not unique. A replacement has at most 40 characters, the limit of OpenAI.
 */
export function distinctIds(ids: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return ids.map((id) => {
    const own = id === "" || taken.has(id) ? `call_${randomUUID().replaceAll("-", "")}` : id;
    taken.add(own);
    return own;
  });
}
