import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";
import type { PreviousVersion } from "./support/versions/previous-version.ts";
import {
  openPreviousVersion,
  previousCommit,
  whyNoPreviousVersion,
} from "./support/versions/previous-version.ts";
import { everything, RetryingClient } from "./support/retrying-client.ts";
import { expectGapless } from "./support/watching.ts";

/** The number of clients. Each has one run at a time. */
const load = 4;
const services = ["gateway", "runtime", "toolhost", "approvals"] as const;

const reason = whyNoPreviousVersion();
const versions =
  reason === "" ? ` while they change from ${previousCommit} and to it` : ` (${reason})`;

let previous: PreviousVersion | undefined;
let deployment: Deployment;

beforeAll(async () => {
  previous = reason === "" ? openPreviousVersion() : undefined;
  // Graceful ends hand work over immediately. A process without CPU time on a busy machine must not count as dead.
  deployment = await Deployment.start({ REEVE_ACK_WAIT_MS: "30000" });
  await Promise.all(services.map((name) => deployment.start(`${name}-2`, {}, previous?.root)));
  await deployment.agent("roll", {
    permissionClasses: ["execute"],
    mcpServers: ["srv"],
    hitlTools: ["publish_report"],
    deepAgent: { allowedImports: fromJson(ListValueSchema, ["time"]) },
  });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  previous?.[Symbol.dispose]();
});

/** Checks that the run shows no trace of restarts: it completed, with each call executed once. */
function expectUndisturbed(events: readonly RunEvent[]): void {
  expectGapless(events);
  expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
  const kinds = events.map(({ event }) => event.case);
  expect(kinds).not.toContain("textVoided");
  expect(kinds).not.toContain("modelCallFailed");
  const results = events.flatMap(({ event }) => (event.case === "toolResult" ? event.value : []));
  expect(results.filter(({ success }) => !success)).toEqual([]);
  expect(results).toHaveLength(3);
}

// Requirement: OPS-7
test(`every service restarts in turn, and watchers see only a pause${versions}`, async () => {
  let happened = Promise.withResolvers<void>();
  const { reeve, second } = deployment;
  const clients = Array.from(
    { length: load },
    (_, index) =>
      new RetryingClient({
        name: `client-${index}`,
        agentId: "roll",
        gateways: () => (index % 2 === 0 ? [reeve, second] : [second, reeve]),
        onEvent: () => happened.resolve(),
      }),
  );
  const restarting = (async () => {
    for (const name of services) {
      for (const instance of [name, `${name}-2`] as const) {
        // Restart only while runs are active.
        happened = Promise.withResolvers<void>();
        await happened.promise;
        expect(await deployment.end(instance)).toBe(0);
        // The first instances are rolled back, and the second ones are updated.
        await deployment.start(instance, {}, instance === name ? previous?.root : undefined);
      }
    }
    return "restarted";
  })();
  const over = new AbortController();
  const isOver = () => over.abort();
  restarting.then(isOver, isOver);
  const runs = await Promise.all(clients.map((client) => client.runsUntil(over.signal)));
  expect(await restarting).toBe("restarted");
  for (const events of runs.flat()) expectUndisturbed(events);
  expect(runs.flat().length).toBeGreaterThanOrEqual(load);
});

test("a gateway that stops reports the sequence to continue from, and nothing before it is missing", async () => {
  const { second } = deployment;
  const { run } = await second.runs.startRun({ agentId: "roll", input: "go" });
  const runId = run?.runId ?? "";
  const seen: RunEvent[] = [];
  const watching = (async () => {
    for await (const { events } of second.runs.watchRun({ runId, selection: everything })) {
      seen.push(...events);
      // The run waits for a person and has no more events.
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
