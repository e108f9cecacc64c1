import { randomUUID } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { AgentService } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { CheckedRule } from "@reeve/contracts/queue";
import { RunService } from "@reeve/contracts/run";
import { QueueHolder } from "@reeve/jetstream/queue/queue-holder";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { runtimePrefix } from "@reeve/run/policy/runtime-checks";
import { expect, test } from "vitest";
import { openGatewayBench, tokens } from "./support/gateway-bench.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
const headers = { authorization: `Bearer ${tokens.acme}` };
const refusalOf = (call: Promise<unknown>) => call.then(() => undefined, failureFrom);

test("while runtimes of two versions run, an agent with step_up is neither saved nor started, until the old one has ended", async () => {
  await using bench = await openGatewayBench({ REEVE_PUBLIC_URL: "https://reeve.example.com" });
  const transport = createGrpcTransport({ baseUrl: bench.url });
  const [agents, runs] = [
    createClient(AgentService, transport),
    createClient(RunService, transport),
  ];
  const spec = {
    id: "careful",
    name: "careful",
    model: "known",
    approvalPolicy: { stepUp: { tools: ["pay"] } },
  };
  const announced = (name: string, checks: readonly CheckedRule[] = []) =>
    QueueHolder.open(bench.nats, { name: `${runtimePrefix}${name}`, log, checks }, never);
  await using runtimes = new AsyncDisposableStack();
  runtimes.use(await announced("new", [CheckedRule.STEP_UP]));
  const old = await announced("old");
  const outdated = {
    kind: "precondition",
    reason: ErrorReason.RUNTIME_OUTDATED,
    metadata: { runtimes: "runtime-old", field: "approval_policy.step_up" },
  };
  expect(await refusalOf(agents.createAgent({ spec }, { headers }))).toMatchObject(outdated);
  await old[Symbol.asyncDispose]();
  await agents.createAgent({ spec }, { headers });
  const start = () =>
    runs.startRun({ agentId: "careful", input: "go", requestId: randomUUID() }, { headers });
  expect((await start()).run?.runId).not.toBe("");
  // The roll-back to the former version.
  runtimes.use(await announced("old-again"));
  expect(await refusalOf(start())).toMatchObject({
    ...outdated,
    metadata: { ...outdated.metadata, runtimes: "runtime-old-again" },
  });
  // Other agents are not affected.
  const ordinary = { ...spec, id: "ordinary", approvalPolicy: {} };
  await agents.createAgent({ spec: ordinary }, { headers });
});
