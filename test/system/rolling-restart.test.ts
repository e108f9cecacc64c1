import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunEvent } from "@reeve/contracts/run";
import { EventFamily, RunStatus } from "@reeve/contracts/run";
import { failureFrom } from "@reeve/platform/connect-failure";
import { afterAll, beforeAll, expect, test } from "vitest";
import { patient, persistently } from "../../cli/src/back-off.ts";
import { Deployment } from "./support/deployment.ts";
import { expectGapless } from "./support/watching.ts";

const never = new AbortController().signal;
/** How many clients there are; each has one run at a time. */
const load = 4;
/** At most so many connections of one watch are cut; each process is restarted once. */
const mostCuts = 100;
const services = ["gateway", "runtime", "toolhost", "approvals"] as const;
const selection = {
  case: "families",
  value: {
    families: Object.values(EventFamily).filter((family) => family !== EventFamily.UNSPECIFIED),
  },
} as const;

let deployment: Deployment;

beforeAll(async () => {
  // What ends in order is handed over at once. A process that a busy machine leaves without time is not to be taken for dead.
  deployment = await Deployment.start({ REEVE_ACK_WAIT_MS: "30000" });
  await Promise.all(services.map((name) => deployment.start(`${name}-2`)));
  await deployment.agent("roll", {
    permissionClasses: ["execute"],
    mcpServers: ["srv"],
    hitlTools: ["publish_report"],
    deepAgent: { allowedImports: fromJson(ListValueSchema, ["time"]) },
  });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
});

/** A client that knows two gateways, and asks the other one when one does not answer. */
class Client {
  readonly #name: string;
  readonly #onEvent: () => void;
  #turn: number;
  #runs = 0;
  /** How often its streams were cut. */
  #cuts = 0;

  constructor(index: number, onEvent: () => void) {
    this.#name = `client-${index}`;
    this.#turn = index;
    this.#onEvent = onEvent;
  }

  get #gateway() {
    return this.#turn % 2 === 0 ? deployment.reeve : deployment.second;
  }

  async #persistently<Result>(request: () => Promise<Result>): Promise<Result> {
    const asked = () =>
      request().catch((error: unknown) => {
        this.#turn++;
        throw error;
      });
    return await persistently(asked, patient, never);
  }

  /** Starts a run, watches it to its end and approves what it asks for. Gives what it saw. */
  async run(): Promise<readonly RunEvent[]> {
    const requestId = `${this.#name}-${this.#runs++}`;
    const started = { agentId: "roll", input: "go", requestId };
    const { run } = await this.#persistently(() => this.#gateway.runs.startRun(started));
    const seen: RunEvent[] = [];
    while (this.#cuts < mostCuts) {
      try {
        await this.#watch(run?.runId ?? "", seen);
        return seen;
      } catch (error) {
        const failure = failureFrom(error);
        if (failure.kind !== "unavailable") throw error;
        this.#cuts++;
        this.#turn++;
        await patient.sleep(failure.retryAfterMs ?? patient.firstDelayMs, never);
      }
    }
    throw new Error(`${this.#name} was cut off too often`);
  }

  async #watch(runId: string, seen: RunEvent[]): Promise<void> {
    const afterSequence = seen.at(-1)?.sequence ?? 0;
    const watched = this.#gateway.runs.watchRun({ runId, afterSequence, selection });
    for await (const { events } of watched) {
      for (const event of events) {
        seen.push(event);
        this.#onEvent();
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

/** Nothing of the run shows that anything was restarted: it was done as a whole, each call once. */
function expectUntouched(events: readonly RunEvent[]): void {
  expectGapless(events);
  expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
  const kinds = events.map(({ event }) => event.case);
  expect(kinds).not.toContain("textVoided");
  expect(kinds).not.toContain("modelCallFailed");
  const results = events.flatMap(({ event }) => (event.case === "toolResult" ? event.value : []));
  expect(results.filter(({ success }) => !success)).toEqual([]);
  expect(results).toHaveLength(3);
}

test("every service is restarted in turn, and who watches runs sees a pause and nothing else", async () => {
  let happened = Promise.withResolvers<void>();
  const clients = Array.from(
    { length: load },
    (_, index) => new Client(index, () => happened.resolve()),
  );
  const restarting = (async () => {
    for (const name of services) {
      for (const instance of [name, `${name}-2`] as const) {
        // Never while nothing is going on.
        happened = Promise.withResolvers<void>();
        await happened.promise;
        expect(await deployment.end(instance)).toBe(0);
        await deployment.start(instance);
      }
    }
    return "restarted";
  })();
  const over = new AbortController();
  const isOver = () => over.abort();
  restarting.then(isOver, isOver);
  const runs = await Promise.all(
    clients.map(async (client) => {
      const done: (readonly RunEvent[])[] = [];
      while (!over.signal.aborted) done.push(await client.run());
      return done;
    }),
  );
  expect(await restarting).toBe("restarted");
  for (const events of runs.flat()) expectUntouched(events);
  expect(runs.flat().length).toBeGreaterThanOrEqual(load);
});

test("a gateway that goes away tells who watches from where to go on, and so much is all that is missing", async () => {
  const { second } = deployment;
  const { run } = await second.runs.startRun({ agentId: "roll", input: "go" });
  const runId = run?.runId ?? "";
  const seen: RunEvent[] = [];
  const watching = (async () => {
    for await (const { events } of second.runs.watchRun({ runId, selection })) {
      seen.push(...events);
      // Nothing happens any more: the run waits for a person.
      if (events.some(({ event }) => event.case === "runParked")) void deployment.end("gateway-2");
    }
  })();
  const failure = await watching.then(() => undefined, failureFrom);
  const through = String(seen.at(-1)?.sequence);
  expect(failure).toMatchObject({
    kind: "unavailable",
    reason: ErrorReason.DRAINING,
    metadata: { run_id: runId, through_sequence: through },
  });
  expect(failure?.retryAfterMs).toBeGreaterThan(0);
  const cancelled = await deployment.reeve.runs.cancelRun({ runId });
  expect(cancelled.run?.status).toBe(RunStatus.CANCELLED);
});
