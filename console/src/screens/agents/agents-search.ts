/** What an address of the agents shows: the editor of a new one, or a part of one. */
interface AgentsSearch {
  readonly create?: true;
  readonly part?: "revisions" | "access";
}

/** Reads an address, which a person may have written. */
export function readAgentsSearch({ create, part }: Record<string, unknown>): AgentsSearch {
  return {
    ...(create === true && { create }),
    ...((part === "revisions" || part === "access") && { part }),
  };
}
