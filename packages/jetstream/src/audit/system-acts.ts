import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Role } from "@reeve/contracts/access/role";
import { AuditEventSchema } from "@reeve/contracts/audit";
import type { Clock } from "@reeve/platform/async/clock";
import type { AuditRecorder } from "./recorder.ts";

/** The subjects of what Reeve does by itself. No caller has a `/` in its subject. */
export const systemSubjects = {
  escalation: "reeve/escalation",
  expiry: "reeve/expiry",
  grants: "reeve/grants",
  retention: "reeve/retention",
  triggers: "reeve/triggers",
} as const;

/** What Reeve does by itself, or a caller does without a call of the API. */
export interface SystemAct {
  readonly tenant: string;
  /** One of `systemSubjects`, or the caller. */
  readonly subject: string;
  /** Roles of the caller. */
  readonly roles?: readonly Role[];
  /** As of a call: `run.delete`. */
  readonly action: string;
  readonly resources: readonly { readonly kind: string; readonly id: string }[];
  /** Identifies the act if two processes may record it: it is stored once within two minutes. Default: a new id. */
  readonly actId?: string;
}

/**
 * Performs an act, and records it if it resolves to true, which it returns. Rejects without performing it while the trail is
 * required and cannot be written.
 */
export type RecordAct = (act: SystemAct, perform: () => Promise<boolean>) => Promise<boolean>;

/** Performs acts without recording them. */
export const unrecorded: RecordAct = (_, perform) => perform();

/** Returns a function that records acts by `recorder`. `clock` is wall-clock time. */
export function recordActs(
  recorder: Pick<AuditRecorder, "assertAvailable" | "record">,
  clock: Pick<Clock, "now">,
): RecordAct {
  return async ({ actId, resources, roles = [], ...act }, perform) => {
    recorder.assertAvailable();
    const isDone = await perform();
    if (!isDone) return false;
    const event = create(AuditEventSchema, {
      ...act,
      eventId: actId ?? randomUUID(),
      time: timestampFromMs(clock.now()),
      code: "OK",
      count: 1,
      resources: [...resources],
      roles: [...roles],
    });
    await recorder.record(event);
    return true;
  };
}
