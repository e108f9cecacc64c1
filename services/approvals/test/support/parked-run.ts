import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ApprovalTimes } from "@reeve/agent/approval-times/approval-times";
import type { Approval, ApprovalSchema, Grant } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { PersonCeremonies, PersonPasskeys } from "@reeve/contracts/passkey";
import type { QueueHolder } from "@reeve/contracts/queue";
import type { Dispatch, RunCreatedSchema } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import type { ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { emptyTail } from "@reeve/jetstream/log/port";
import { unrecorded } from "@reeve/jetstream/audit/system-acts";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { withoutGroupWatch } from "../../src/app/groups/watched-groups.ts";
import { openApprovalLists } from "../../src/app/approval-lists.ts";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";

const never = new AbortController().signal;

/** The run in the tests of approvals, its approval, and the person who decides. */
export const runKey = { tenant: "acme", run: "run_abcdefgh" } as const;
export const approvalId = `${runKey.run}-3-0`;
export const ada = { tenant: runKey.tenant, subject: "ada" } as const;
export const noon = Date.parse("2026-01-01T12:00:00Z");

/** How the run began. */
export type ParkedStart = Exclude<
  MessageInitShape<typeof RunCreatedSchema>,
  { readonly $typeName: string }
>;

/** Creates the ports of approvals in memory, at noon, with a run that is parked with a pending approval. */
export async function parkedRun(
  more: NonNullable<MessageInitShape<typeof ApprovalSchema>> = {},
  tools: readonly MessageInitShape<typeof ToolDescriptorSchema>[] = [],
  start: ParkedStart = {},
) {
  const approval = { approvalId, runId: runKey.run, state: ApprovalState.PENDING, ...more };
  const facts: readonly ExternalFact[] = [
    { case: "runCreated", value: { tenant: runKey.tenant, ...start } },
    { case: "runPrepared", value: { tools: [...tools] } },
    { case: "approval", value: { approval } },
    { case: "runParked", value: { waitingFor: [approvalId] } },
  ];
  const log = memoryRunLog();
  const events = facts.map((event, index) =>
    create(RunEventSchema, { runId: runKey.run, sequence: index + 1, event }),
  );
  await log.append(runKey, emptyTail, events, never);
  const inbox = new MemoryTable<Approval>();
  return {
    log,
    logEnds: log,
    dispatch: new MemoryWorkQueue<Dispatch>(),
    inbox,
    grants: new MemoryTable<Grant>(),
    lists: openApprovalLists(
      inbox,
      { folder: undefined, log: createLogger("test", "silent") },
      never,
    ),
    recordAct: unrecorded,
    clock: new ManualClock(noon),
    times: (): ApprovalTimes | undefined => undefined,
    groups: withoutGroupWatch,
    inboxUrl: undefined,
    passkeys: new MemoryTable<PersonPasskeys>(),
    ceremonies: new MemoryTable<PersonCeremonies>(),
    holders: new MemoryTable<QueueHolder>(),
    site: { origin: "https://reeve.example.com", rpId: "reeve.example.com" },
  };
}
