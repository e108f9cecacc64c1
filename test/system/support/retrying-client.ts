import { setTimeout as wait } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent, StartRunRequestSchema } from "@reeve/contracts/run";
import { EventFamily } from "@reeve/contracts/run";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import type { Connection } from "@reeve/client";

/** The maximum number of interrupted connections over all watches of one client. */
const maxInterruptions = 100;
/** Requests are retried for about half a minute while no gateway is reachable. */
const maxFailures = 10;
const firstDelayMs = 100;
/** Selects all events in a run's log. */
export const everything = {
  case: "families",
  value: {
    families: Object.values(EventFamily).filter((family) => family !== EventFamily.UNSPECIFIED),
  },
} as const;

export interface RetryingClientOptions {
  /** Distinguishes its request ids from those of other clients. */
  readonly name: string;
  readonly agentId: string;
  /** Default: `go`. */
  readonly input?: string;
  /** The initial files of its runs' workspaces. */
  readonly files?: MessageInitShape<typeof StartRunRequestSchema>["files"];
  /** The current gateways, at least one. */
  gateways(): readonly Connection[];
  onEvent?(): void;
}

/** A client of several gateways that retries with another one when a gateway does not answer. */
export class RetryingClient {
  readonly #options: RetryingClientOptions;
  #turn = 0;
  #runs = 0;
  /** The number of interrupted streams. */
  #interruptions = 0;

  constructor(options: RetryingClientOptions) {
    this.#options = options;
  }

  get #gateway(): Connection {
    const gateways = this.#options.gateways();
    const chosen = gateways[this.#turn % gateways.length];
    if (chosen === undefined) throw new Error("no gateway is running");
    return chosen;
  }

  async #retry<Result>(request: () => Promise<Result>): Promise<Result> {
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

  /** Starts a run, watches it to its end, and approves its calls. Returns the events. */
  async run(): Promise<readonly RunEvent[]> {
    const { name, agentId, input = "go", files = [] } = this.#options;
    const started = { agentId, input, files, requestId: `${name}-${this.#runs++}` };
    const { run } = await this.#retry(() => this.#gateway.runs.startRun(started));
    const seen: RunEvent[] = [];
    while (this.#interruptions < maxInterruptions) {
      try {
        await this.#watch(run?.runId ?? "", seen);
        return seen;
      } catch (error) {
        const failure = failureFrom(error);
        if (failure.kind !== "unavailable") throw error;
        this.#interruptions++;
        this.#turn++;
        await wait(failure.retryAfterMs ?? firstDelayMs);
      }
    }
    throw new Error(`${name} was interrupted too often`);
  }

  /** Executes one run after another until `over` aborts, and watches the last one to its end. Returns the events of each. */
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
        this.#options.onEvent?.();
        // An approval that cannot be decided now counts as not seen: the next watch begins with it.
        await this.#approve(event);
        seen.push(event);
      }
    }
  }

  async #approve({ event }: RunEvent): Promise<void> {
    const approval = event.case === "approval" ? event.value.approval : undefined;
    if (approval?.state !== ApprovalState.PENDING) return;
    const { approvalId } = approval;
    const decision = { approvalId, approved: true, decisionId: approvalId };
    await this.#retry(() => this.#gateway.approvals.decideApproval(decision));
  }
}
