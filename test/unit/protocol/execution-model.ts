import type { ExecutionState, Executions } from "@reeve/calls/ports/executions";
import type { Slots } from "@reeve/calls/queue/slots";
import { ownExecutions } from "@reeve/calls/queue/slots";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import type { Actor, Scheduler } from "./scheduler.ts";

interface Host {
  readonly actor: Actor;
  readonly slots: Slots;
}

/** The calls that toolhosts execute. A toolhost that is alive answers for its own; one that is dead has lost them. */
export class ExecutionModel {
  readonly #scheduler: Scheduler;
  readonly #hosts = new Map<string, Host>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** The executions as one toolhost can find out about them. */
  of(actor: Actor, slots: Slots): Executions {
    this.#hosts.set(actor.name, { actor, slots });
    const own = ownExecutions(slots);
    return {
      stateOf: async (execution, signal) => {
        if (execution.host === actor.name) return await own.stateOf(execution, signal);
        return await this.#scheduler.act<ExecutionState>({
          actor,
          label: `asks ${execution.host} for a call`,
          kind: "look",
          happen: async () =>
            this.isExecuting(execution.host, execution.key) ? "running" : "lost",
          outcomeOf: String,
        });
      },
    };
  }

  /** Whether a toolhost is alive, can be reached, and executes the call. */
  isExecuting(host: string, call: CallKey): boolean {
    const known = this.#hosts.get(host);
    if (known === undefined || known.actor.isCutOff === true) return false;
    return known.actor.isAlive && known.slots.isSettling(call);
  }
}
