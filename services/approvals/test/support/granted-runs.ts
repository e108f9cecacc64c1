import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Approval, Grant, GrantRequestSchema } from "@reeve/contracts/approval";
import {
  ApprovalSchema,
  ApprovalState,
  DecideApprovalRequestSchema,
  GrantScope,
} from "@reeve/contracts/approval";
import { RunEventSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { decideApproval } from "@reeve/run/approvals/decide-approval";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import type { Decider } from "@reeve/run/approvals/votes/count-vote";
import { foldRun } from "@reeve/run/commands/fold-run";
import { approvalOf } from "@reeve/run/head/run-head";
import type { GrantPorts } from "../../src/app/grants/apply-grants.ts";
import { applyGrants } from "../../src/app/grants/apply-grants.ts";
import { storeGrant } from "../../src/app/grants/store-grants.ts";
import { ada, parkedRun } from "./parked-run.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const tools = [
  { name: "pay", inputSchema: { type: "object", required: ["to"] } },
  { name: "mail", inputSchema: { type: "object", required: ["to"] } },
];

/** What a run asks for. */
export interface Asking {
  readonly tool?: string;
  readonly args?: JsonObject;
  readonly tenant?: string;
  readonly threadId?: string;
  readonly agentId?: string;
  readonly agentRevision?: number;
  readonly instructions?: string;
  readonly approval?: Omit<MessageInitShape<typeof ApprovalSchema>, "$typeName" | "$unknown">;
}

/** Runs of an agent that wait for approvals, over ports in memory. */
export class GrantedRuns {
  readonly ports: Awaited<ReturnType<typeof parkedRun>>;
  #count = 0;

  constructor(ports: Awaited<ReturnType<typeof parkedRun>>) {
    this.ports = ports;
  }

  static async open(): Promise<GrantedRuns> {
    return new GrantedRuns(await parkedRun());
  }

  /** A new run asks for an approval, which the inbox has. Returns its id. */
  async asks({
    tool = "pay",
    args = { to: "bob" },
    tenant = ada.tenant,
    threadId = "",
    agentId = "buyer",
    agentRevision = 3,
    instructions = "",
    approval: more = {},
  }: Asking = {}): Promise<string> {
    const run = `run_granted${String(++this.#count).padStart(4, "0")}`;
    const approval = create(ApprovalSchema, {
      approvalId: `${run}-3-0`,
      runId: run,
      agentId,
      threadId,
      state: ApprovalState.PENDING,
      call: { callId: `${run}-3-0`, name: tool, arguments: args },
      ...more,
    });
    const spec = { id: agentId, instructions };
    const facts: readonly ExternalFact[] = [
      { case: "runCreated", value: { tenant, agentId, agentRevision, threadId, spec } },
      { case: "runPrepared", value: { tools } },
      { case: "approval", value: { approval } },
      { case: "runParked", value: { waitingFor: [approval.approvalId] } },
    ];
    const events = facts.map((event, index) =>
      create(RunEventSchema, { runId: run, sequence: index + 1, event }),
    );
    await this.ports.log.append({ tenant, run }, emptyTail, events, never);
    await this.ports.inbox.put(`${tenant}.${approval.approvalId}`, approval, never);
    return approval.approvalId;
  }

  /** Ada approves, and makes a grant. */
  async grants(
    approvalId: string,
    rule: string,
    more: Omit<MessageInitShape<typeof GrantRequestSchema>, "$typeName" | "$unknown"> = {},
    by: Decider = ada,
  ): Promise<Approval> {
    const request = create(DecideApprovalRequestSchema, {
      approvalId,
      approved: true,
      grant: { scope: GrantScope.AGENT, rule, ...more },
    });
    const decided = await decideApproval(this.ports, by, request, never);
    await this.ports.inbox.put(`${by.tenant}.${approvalId}`, decided, never);
    await storeGrant(this.ports, by.tenant, decided, never);
    return decided;
  }

  /** Returns an approval as the log of its run has it. */
  async read(approvalId: string, tenant: string = ada.tenant): Promise<Approval | undefined> {
    const run = approvalId.split("-")[0] ?? "";
    const { events } = await this.ports.log.read({ tenant, run }, emptyTail, never);
    return approvalOf(await foldRun(events, never), approvalId);
  }

  async grant(): Promise<Grant | undefined> {
    const [row] = await this.ports.grants.list("", never);
    return row?.record;
  }

  /** Applies grants, as a process does, until it is disposed. */
  applying(ports: GrantPorts = this.ports): AsyncDisposable {
    const stop = new AbortController();
    const working = applyGrants(ports, log, stop.signal);
    working.catch(() => undefined);
    return {
      async [Symbol.asyncDispose]() {
        stop.abort();
        await working.catch(() => undefined);
      },
    };
  }

  /** Resolves when the processes that apply grants have nothing left to do. */
  async settled(): Promise<void> {
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  }
}
