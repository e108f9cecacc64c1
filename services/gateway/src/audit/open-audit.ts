import type { Interceptor } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import { openAuditTrail } from "@reeve/jetstream/audit/nats";
import type { AuditReader, AuditTrail } from "@reeve/jetstream/audit/port";
import type { RecordAct } from "@reeve/jetstream/audit/system-acts";
import { recordActs, unrecorded } from "@reeve/jetstream/audit/system-acts";
import { reserveState } from "@reeve/jetstream/reserve/reserve-state";
import { abortable } from "@reeve/platform/async/abortable";
import type { Background } from "@reeve/platform/async/background";
import { systemClock } from "@reeve/platform/async/clock";
import { every } from "@reeve/platform/async/every";
import { Failure } from "@reeve/platform/failure";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Authenticate } from "@reeve/platform/rpc/principal";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { auditCalls } from "./audit-calls.ts";
import { auditRefusals } from "./audit-refusals.ts";
import type { AuditMode } from "@reeve/jetstream/audit/recorder";
import { AuditRecorder } from "@reeve/jetstream/audit/recorder";
import { RepeatedChanges } from "./repeated-changes.ts";
import { RepeatedRefusals } from "./repeated-refusals.ts";

/** Interval between looks for events whose count is due. */
const flushMs = 5_000;
/** How many networks of callers without a valid credential are told apart in a minute. */
const maxNetworks = 100;
/** How many forbidden calls, and calls beyond a limit, are told apart in a minute, by caller, method, and reason. */
const maxDenied = 1_000;

/** The audit trail of a gateway. */
export interface Audit {
  /** Records what callers do. */
  readonly interceptors: readonly Interceptor[];
  /** Returns `authenticate` as a function that records sign-ins and refusals. */
  audited(authenticate: Authenticate): Authenticate;
  /** Records what the gateway does by itself. */
  readonly recordAct: RecordAct;
  /** Returns the trail. Throws a Failure while it is not open. */
  trail(): AuditReader;
}

interface AuditDependencies {
  readonly nats: Nats;
  readonly background: Background;
  readonly log: Logger;
}

/**
 * Opens the audit trail. If it is required, waits for its stream, and rejects as `openAuditTrail` does; otherwise opens it in the
 * background. With the mode `off`, nothing is recorded, and what was recorded before can be read.
 */
export async function openAudit(
  mode: AuditMode | "off",
  { nats, background, log }: AuditDependencies,
  resources: AsyncDisposableStack,
): Promise<Audit> {
  let trail: AuditTrail | undefined;
  const open = async (signal: AbortSignal) =>
    (trail ??= await abortable(openAuditTrail(nats), signal));
  if (mode === "required") await open(background.signal);
  const read = () => {
    if (trail === undefined) throw notOpen();
    return trail;
  };
  if (mode === "off") {
    background.run(async (signal) => {
      await open(signal);
      await systemClock.sleep(Infinity, signal);
    });
    return {
      interceptors: [],
      audited: (authenticate) => authenticate,
      recordAct: unrecorded,
      trail: read,
    };
  }
  const recorder = new AuditRecorder({ mode, clock: systemClock, log });
  background.run((signal) => recorder.keep(() => open(signal), signal));
  const note = recorder.note.bind(recorder);
  const strangers = new RepeatedRefusals(maxNetworks, note);
  const denied = new RepeatedRefusals(maxDenied, note);
  const isReserveUsed = () => reserveState(nats.connection).isSpent;
  const changes = new RepeatedChanges({ recorder, isReserveUsed, clock: systemClock });
  const counts = [strangers, denied, changes];
  const flush = (nowMs: number) => counts.forEach((each) => each.flush(nowMs));
  resources.use(every(flushMs, () => flush(systemClock.now())));
  resources.defer(() => flush(Infinity));
  const refusals = { recorder, strangers, denied, clock: systemClock };
  return {
    interceptors: [auditCalls({ recorder, changes, refused: denied, clock: systemClock })],
    audited: (authenticate) => auditRefusals(authenticate, refusals),
    recordAct: recordActs(recorder, systemClock),
    trail: read,
  };
}

function notOpen(): Failure {
  const message =
    "the audit trail (stream AUDIT) is not open: the store does not answer, or the stream is missing; run `reeve provision` of this version as the operator";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
