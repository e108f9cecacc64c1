import { createHash, randomUUID } from "node:crypto";
import type { FireTriggerRequest, Firing } from "@reeve/contracts/trigger";
import { FiringCause } from "@reeve/contracts/trigger";
import { invalidRequest } from "@reeve/platform/strict/assert-valid";
import type { Credential } from "@reeve/platform/rpc/principal";
import { pendingFiring, startFiring } from "./start-firing.ts";
import type { TriggerPorts } from "./trigger-ports.ts";
import { readTrigger } from "./trigger-records.ts";
import { decodeBody } from "./webhook/decode-body.ts";

/** Starts a run of a trigger as the caller. The same request id of a caller means the same run. */
export async function fireNow(
  ports: TriggerPorts,
  caller: Credential,
  { triggerId, requestId, body }: FireTriggerRequest,
  signal: AbortSignal,
): Promise<Firing> {
  const key = { tenant: caller.tenant, trigger: triggerId };
  const { record } = await readTrigger(ports, key, signal);
  const isHook = record.trigger?.spec?.source.case === "webhook";
  const text = isHook ? decodeBody(body) : "";
  if (text === undefined || (!isHook && body.length > 0)) {
    const description = isHook ? "is no UTF-8" : "is only valid for a trigger with a webhook";
    throw invalidRequest([{ field: "body", description, reason: "MALFORMED" }]);
  }
  const given = `${caller.subject}\n${requestId === "" ? randomUUID() : requestId}`;
  const request = {
    cause: FiringCause.REQUEST,
    name: `request:${createHash("sha256").update(given).digest("hex")}`,
    timeMs: ports.clock.now(),
    body: isHook ? text : undefined,
  };
  const pending = pendingFiring(record, request);
  return await startFiring(ports, { key, record, pending, credential: caller }, signal);
}
