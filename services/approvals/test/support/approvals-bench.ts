import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import type { ApprovalSchema } from "@reeve/contracts/approval";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { openAuditTrail } from "@reeve/jetstream/audit/nats";
import { emptyTail } from "@reeve/jetstream/log/port";
import { openRunLog } from "@reeve/jetstream/log/open";
import { principalHeaders } from "@reeve/platform/rpc/internal-principal";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { approvalsConfig } from "../../src/config.ts";
import { startApprovals } from "../../src/serve.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;
const internalToken = "internal-token-of-a-test";
let runs = 0;

type Approvals = Client<typeof ApprovalService>;

/** Two approvals services with their own NATS server; no runtime drives the runs. */
export interface ApprovalsBench extends AsyncDisposable {
  /** Returns a client of each service, for a person of a tenant. */
  as(subject: string, tenant?: string, groups?: readonly string[]): readonly [Approvals, Approvals];
  /** Creates a run of `acme` that is parked with a pending approval, and returns the approval's id. */
  park(approval?: NonNullable<MessageInitShape<typeof ApprovalSchema>>): Promise<string>;
  /** Returns the events of an approval's run. */
  eventsOf(approvalId: string): Promise<readonly RunEvent[]>;
  /** Returns the audit trail of `acme`, newest first, as `SUBJECT ACTION ID` with the first resource. */
  trail(): Promise<readonly string[]>;
  append(approvalId: string, fact: ExternalFact): Promise<void>;
  /** Kills the NATS server, and starts it again. */
  restartNats(): Promise<void>;
}

const toolOf = (name: string) => ({ name, inputSchema: { type: "object", required: ["to"] } });

const keyOf = (approvalId: string) => ({
  tenant: "acme",
  run: approvalId.split("-", 1)[0] ?? "",
});

/** Starts the services, by default without an operator's policy. */
export async function openApprovalsBench(policy?: string): Promise<ApprovalsBench> {
  await using starting = new AsyncDisposableStack();
  const storeDir = mkdtempSync(join(tmpdir(), "reeve-approvals-"));
  starting.defer(() => rmSync(storeDir, { recursive: true, force: true }));
  let server = await startNatsServer({ storeDir, log }, never);
  starting.defer(() => server[Symbol.asyncDispose]());
  const policyFile = join(storeDir, "policy.yaml");
  if (policy !== undefined) writeFileSync(policyFile, policy);
  const config = approvalsConfig.parse({
    REEVE_APPROVALS_LISTEN: "127.0.0.1:0",
    REEVE_INTERNAL_TOKEN: internalToken,
    ...(policy !== undefined && { REEVE_POLICY_FILE: policyFile }),
  });
  const connect = async () =>
    starting.use(await connectNats(server.url, { name: "test", log }, never));
  const start = async () =>
    starting.use(await startApprovals(config, { nats: await connect(), log }, never)).url;
  const [first, second] = [await start(), await start()];
  const auditTrail = await openAuditTrail(await connect());
  const runLog = await openRunLog(await connect());
  const resources = starting.move();
  async function append(approvalId: string, ...facts: readonly ExternalFact[]): Promise<void> {
    const key = keyOf(approvalId);
    const { tail } = await runLog.read(key, emptyTail, never);
    const events = facts.map((event, index) =>
      create(RunEventSchema, { runId: key.run, sequence: tail.sequence + 1 + index, event }),
    );
    const outcome = await runLog.append(key, tail, events, never);
    if (outcome.kind === "conflict") throw new Error(`another writer appended to ${key.run}`);
  }
  return {
    append,
    as(subject, tenant = "acme", groups = []) {
      const headers = principalHeaders({ tenant, subject, groups: new Set(groups) }, internalToken);
      const clientOf = (baseUrl: string) =>
        createClient(
          ApprovalService,
          createGrpcTransport({
            baseUrl,
            interceptors: [
              (next) => (request) => {
                for (const [name, value] of Object.entries(headers)) {
                  request.header.set(name, value);
                }
                return next(request);
              },
            ],
          }),
        );
      return [clientOf(first), clientOf(second)];
    },
    async park(approval = {}) {
      const runId = `run_${String(++runs).padStart(8, "0")}`;
      const approvalId = `${runId}-2-0`;
      const pending = { approvalId, runId, state: ApprovalState.PENDING, ...approval };
      await append(
        approvalId,
        {
          case: "runCreated",
          value: {
            tenant: "acme",
            startedBy: "ann",
            ...(approval.agentId && { agentId: approval.agentId }),
          },
        },
        ...(approval.call?.name
          ? [{ case: "runPrepared" as const, value: { tools: [toolOf(approval.call.name)] } }]
          : []),
        { case: "approval", value: { approval: pending } },
        { case: "runParked", value: { waitingFor: [approvalId] } },
      );
      return approvalId;
    },
    async eventsOf(approvalId) {
      return (await runLog.read(keyOf(approvalId), emptyTail, never)).events;
    },
    async trail() {
      const { events } = await auditTrail.read("acme", {}, never);
      return events.map(
        ({ event: { subject, action, resources } }) => `${subject} ${action} ${resources[0]?.id}`,
      );
    },
    async restartNats() {
      const { port, pid } = server;
      process.kill(pid, "SIGKILL");
      await server[Symbol.asyncDispose]();
      server = await startNatsServer({ storeDir, port, log }, never);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
