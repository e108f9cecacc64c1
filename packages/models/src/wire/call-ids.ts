import { randomUUID } from "node:crypto";

/**
 * Ids by which the results of calls find them. Those of the provider are kept; one that is empty or taken is replaced.
 * None that is made here is longer than 40 characters, which is the most that OpenAI takes back.
 */
export function distinctIds(ids: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return ids.map((id) => {
    const own = id === "" || taken.has(id) ? `call_${randomUUID().replaceAll("-", "")}` : id;
    taken.add(own);
    return own;
  });
}
