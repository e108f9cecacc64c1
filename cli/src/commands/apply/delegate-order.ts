/** An agent, by id, and the agents that it calls. */
export interface Caller {
  readonly id: string;
  readonly delegates: readonly string[];
}

/**
 * Returns the ids of agents so that each follows the agents that it can reach through delegates, else in the given order. `others` are
 * agents that are not ordered, and through which they can be reached. Within a cycle the order is that of the search.
 */
export function delegateOrder(
  agents: readonly Caller[],
  others: readonly Caller[],
): readonly string[] {
  const all = new Map([...others, ...agents].map((agent) => [agent.id, agent]));
  const seen = new Set<string>();
  const order: string[] = [];
  // A loop instead of a recursion: a chain of delegates may be as long as the list of agents.
  for (const { id: start } of agents) {
    const path = [{ id: start, next: 0 }];
    while (path.length > 0) {
      const place = path.at(-1);
      if (place === undefined) break;
      if (place.next === 0 && seen.has(place.id)) {
        path.pop();
        continue;
      }
      seen.add(place.id);
      const delegate = all.get(place.id)?.delegates[place.next++];
      if (delegate === undefined) order.push(path.pop()?.id ?? "");
      else if (!seen.has(delegate)) path.push({ id: delegate, next: 0 });
    }
  }
  const own = new Set(agents.map(({ id }) => id));
  return order.filter((id) => own.has(id));
}

/** Returns the ids of the agents that an agent can reach through delegates, without its own, the closest first. */
export function reachableFrom(
  start: string,
  agents: ReadonlyMap<string, Caller>,
): readonly string[] {
  const found = new Set([start]);
  for (const id of found) for (const each of agents.get(id)?.delegates ?? []) found.add(each);
  found.delete(start);
  return [...found];
}
