import { setTimeout as wait } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent, StartRunRequestSchema } from "@reeve/contracts/run";
import { EventFamily } from "@reeve/contracts/run";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import type { Connection } from "@reeve/client";

/** At most so many connections of all watches of one client are cut. */
const maxCuts = 100;
/** A request is sent again while no gateway can be reached, about half a minute in all. */
const maxFailures = 10;
const firstDelayMs = 100;
/** Everything in the log of a run. */
export const everything = {
  case: "families",
  value: {
    families: Object.values(EventFamily).filter((family) => family !== EventFamily.UNSPECIFIED),
  },
} as const;

export interface PatientClientOptions {
  /** Distinguishes its requests from those of others. */
  readonly name: string;
  readonly agentId: string;
  /** What its runs find in their workspaces. */
  readonly files?: MessageInitShape<typeof StartRunRequestSchema>["files"];
  /** The gateways that there are at the moment, at least one. */
  gateways(): readonly Connection[];
  onEvent?(): void;
}

/** A client that knows several gateways, and asks another one when one does not answer. */
export class PatientClient {
  readonly #options: PatientClientOptions;
  #turn = 0;
  #runs = 0;
  /** How often its streams were cut. */
  #cuts = 0;

  constructor(options: PatientClientOptions) {
    this.#options = options;
  }

  get #gateway(): Connection {
    const gateways = this.#options.gateways();
    const chosen = gateways[this.#turn % gateways.length];
    if (chosen === undefined) throw new Error("there is no gateway");
    return chosen;
  }

  async #persistently<Result>(request: () => Promise<Result>): Promise<Result> {
    for (let failures = 1; ; failures++) {
      try {
        return await request();
      } catch (error) {
        this.#turn++;
        if (failures >= maxFailures || failureFrom(error).kind !== "unavailable") throw error;
        await wait(Math.min(firstDelayMs * 2 ** (failures - 1), 5_000));
      }
    }
  }

  /** Starts a run, watches it to its end and approves what it asks for. Gives what it saw. */
  async run(): Promise<readonly RunEvent[]> {
    const { name, agentId, files = [] } = this.#options;
    const started = { agentId, input: "go", files, requestId: `${name}-${this.#runs++}` };
    const { run } = await this.#persistently(() => this.#gateway.runs.startRun(started));
    const seen: RunEvent[] = [];
    while (this.#cuts < maxCuts) {
      try {
        await this.#watch(run?.runId ?? "", seen);
        return seen;
      } catch (error) {
        const failure = failureFrom(error);
        if (failure.kind !== "unavailable") throw error;
        this.#cuts++;
        this.#turn++;
        await wait(failure.retryAfterMs ?? firstDelayMs);
      }
    }
    throw new Error(`${name} was cut off too often`);
  }

  /** One run after the other, until `over` aborts; the last one is watched to its end. Gives what it saw of each. */
  async runsUntil(over: AbortSignal): Promise<readonly (readonly RunEvent[])[]> {
    const done: (readonly RunEvent[])[] = [];
    while (!over.aborted) done.push(await this.run());
    return done;
  }

  async #watch(runId: string, seen: RunEvent[]): Promise<void> {
    const afterSequence = seen.at(-1)?.sequence ?? 0;
    const watched = this.#gateway.runs.watchRun({ runId, afterSequence, selection: everything });
    for await (const { events } of watched) {
      for (const event of events) {
        seen.push(event);
        this.#options.onEvent?.();
        await this.#approve(event);
      }
    }
  }

  async #approve({ event }: RunEvent): Promise<void> {
    const approval = event.case === "approval" ? event.value.approval : undefined;
    if (approval?.state !== ApprovalState.PENDING) return;
    const { approvalId } = approval;
    const decision = { approvalId, approved: true, decisionId: approvalId };
    await this.#persistently(() => this.#gateway.approvals.decideApproval(decision));
  }
}
