import type { Client } from "@reeve/client";
import type { AgentChange } from "./apply-plan.ts";

/** A change that was made, and the revision that the agent has now. 0 if it was deleted. */
export interface MadeChange {
  readonly change: AgentChange;
  readonly revision: number;
}

/**
 * Makes changes one after the other, and yields each one that was made. Throws a ReeveError at the first one that is refused, for example
 * because the agent has changed since it was read; the rest is then not made.
 */
export async function* makeChanges(
  reeve: Client,
  changes: readonly AgentChange[],
  { set, signal }: { readonly set: string | undefined; readonly signal: AbortSignal },
): AsyncGenerator<MadeChange, void, undefined> {
  for (const change of changes) {
    switch (change.action) {
      case "create": {
        const managedBy = set === undefined ? {} : { managedBy: set };
        const { agent } = await reeve.agents.create(change.spec, { ...managedBy, signal });
        yield { change, revision: agent.revision };
        break;
      }
      case "update": {
        const { revision, managedBy } = change.stored;
        const seen = { revision, managedBy, signal };
        const { agent } = await reeve.agents.update(change.spec, seen);
        yield { change, revision: agent.revision };
        break;
      }
      case "delete": {
        const { revision, managedBy } = change.stored;
        await reeve.agents.delete(change.agentId, { revision, managedBy, signal });
        yield { change, revision: 0 };
        break;
      }
      case "unchanged":
        break;
    }
  }
}
