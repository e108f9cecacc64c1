import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunEvent } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";
import { everything, PatientClient } from "./support/patient-client.ts";
import { expectGapless } from "./support/watching.ts";

/** How many clients there are; each has one run at a time. */
const load = 4;
const services = ["gateway", "runtime", "toolhost", "approvals"] as const;

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

// Requirement: OPS-7
test("every service is restarted in turn, and who watches runs sees a pause and nothing else", async () => {
  let happened = Promise.withResolvers<void>();
  const { reeve, second } = deployment;
  const clients = Array.from(
    { length: load },
    (_, index) =>
      new PatientClient({
        name: `client-${index}`,
        agentId: "roll",
        gateways: () => (index % 2 === 0 ? [reeve, second] : [second, reeve]),
        onEvent: () => happened.resolve(),
      }),
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
  const runs = await Promise.all(clients.map((client) => client.runsUntil(over.signal)));
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
    for await (const { events } of second.runs.watchRun({ runId, selection: everything })) {
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
