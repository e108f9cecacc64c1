/** The operations that the client tests require of each client: one per process, with results as lines of JSON. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import process from "node:process";
import { ApprovalState, Code, connect, ReeveError } from "@reeve/client";

const [operation, ...operands] = process.argv.slice(2);
const {
  REEVE_URL,
  REEVE_TOKEN,
  REEVE_CA,
  REEVE_REQUEST_MS,
  REEVE_IDLE_TIMEOUT_MS,
  REEVE_RECONNECT_TIMEOUT_MS,
} = process.env;
using reeve = connect({
  address: REEVE_URL,
  ...(REEVE_TOKEN && { token: REEVE_TOKEN }),
  ...(REEVE_CA && { ca: readFileSync(REEVE_CA) }),
  requestTimeoutMs: Number(REEVE_REQUEST_MS),
  idleTimeoutMs: Number(REEVE_IDLE_TIMEOUT_MS),
  reconnectTimeoutMs: Number(REEVE_RECONNECT_TIMEOUT_MS),
});
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const operations = {
  async start(agentId, input, requestId) {
    const { runId } = await reeve.startRun({ agentId, input, requestId });
    print({ run: runId });
  },
  async watch(runId, after) {
    const watch = reeve.watch(runId, { after: Number(after) });
    for await (const { sequence, event } of watch) {
      print({ event: sequence });
      if (event.case !== "approval") continue;
      const { approvalId, state } = event.value.approval;
      if (state === ApprovalState.PENDING) await approve(approvalId);
    }
    print({ ended: watch.endStatus, through: watch.throughSequence });
  },
  async approve(runId) {
    for await (const { approvalId } of reeve.listApprovals({ runId })) await approve(approvalId);
  },
  async measure(runId) {
    const startedAt = performance.now();
    let events = 0;
    for await (const _ of reeve.watch(runId)) events += 1;
    print({ count: events, ms: performance.now() - startedAt });
  },
  async tools(runId) {
    const echo = {
      name: "echo",
      description: "Repeats a text.",
      inputSchema: { type: "object", properties: { text: { type: "string" } } },
      execute: ({ text }, { callId }) => {
        print({ served: callId });
        return `echo ${text}`;
      },
    };
    await reeve.serveTools([echo], { runId, clientId: "driver" });
    print({ left: true });
  },
  async cancel(runId) {
    print({ status: (await reeve.cancel(runId, "enough")).status });
  },
  async files(path) {
    const { artifactId } = await reeve.upload({
      name: basename(path),
      mediaType: "text/plain",
      content: readFileSync(path),
    });
    const { artifact, chunks } = await reeve.download(artifactId);
    const hash = createHash("sha256");
    for await (const chunk of chunks) hash.update(chunk);
    print({ size: artifact.sizeBytes, name: artifact.name, sha256: hash.digest("hex") });
  },
};

async function approve(approvalId) {
  await reeve.decide({ approvalId, approved: true });
  print({ approved: approvalId });
}

try {
  await operations[operation](...operands);
} catch (error) {
  if (!(error instanceof ReeveError)) throw error;
  const { code, reason, message, violations } = error;
  const name = Code[code].replaceAll(/(?<=[a-z])[A-Z]/g, "_$&").toUpperCase();
  print({ error: { code: name, reason, message, fields: violations.map(({ field }) => field) } });
}
