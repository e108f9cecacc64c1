import { randomUUID } from "node:crypto";
import type { DescMethod, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ContextValues } from "@connectrpc/connect";
import type {
  AuditCredentialSchema,
  AuditEvent,
  AuditPhase,
  AuditResourceSchema,
} from "@reeve/contracts/audit";
import { AuditCredential_Kind as Kind, AuditEventSchema } from "@reeve/contracts/audit";
import { clientAddressOf } from "@reeve/platform/rpc/http/client-address";
import type { Caller, CredentialKind } from "@reeve/platform/rpc/principal";
import { callerOf } from "@reeve/platform/rpc/principal";
import { traceparentOf } from "@reeve/platform/telemetry/spans";
import { bounded } from "./bounded.ts";
import type { CallOutcome } from "./call-outcome.ts";
import { methodName } from "./method-audit.ts";

const maxUserAgentLength = 200;
const maxRequestIdLength = 128;

/** The parts of a request that an event has whatever its method does. */
export interface AuditedCall {
  readonly method: DescMethod;
  readonly header: Headers;
  readonly values: ContextValues;
}

/** What only some events have, or have instead of what the request says. */
export interface EventDetails {
  readonly action: string;
  readonly resources?: MessageInitShape<typeof AuditResourceSchema>[];
  readonly choices?: Readonly<Record<string, boolean>>;
  readonly phase?: AuditPhase;
  readonly credential?: MessageInitShape<typeof AuditCredentialSchema>;
  readonly tenant?: string;
  readonly subject?: string;
}

const kinds = {
  token: Kind.TOKEN,
  oidc: Kind.OIDC,
  development: Kind.DEVELOPMENT,
  certificate: Kind.CERTIFICATE,
} satisfies Record<CredentialKind, Kind>;

/** Returns the event of a call that ended, or whose stream began, at `nowMs`. `details` are what only some events have. */
export function eventOf(
  { method, header, values }: AuditedCall,
  { code, reason }: CallOutcome,
  { nowMs, startedAtMs }: { readonly nowMs: number; readonly startedAtMs: number },
  details: EventDetails,
): AuditEvent {
  return create(AuditEventSchema, {
    eventId: randomUUID(),
    time: timestampFromMs(nowMs),
    duration: durationFromMs(Math.max(0, Math.round(nowMs - startedAtMs))),
    ...callerFields(callerOf(values)),
    clientAddress: clientAddressOf(values),
    userAgent: bounded(header.get("user-agent") ?? "", maxUserAgentLength),
    requestId: bounded(header.get("x-request-id") ?? "", maxRequestIdLength),
    traceId: traceIdOf(header),
    method: methodName(method),
    code,
    reason,
    count: 1,
    ...details,
  });
}

function callerFields(caller: Caller | undefined) {
  if (caller === undefined) return {};
  const { tenant, subject, roles, kind, tokenId } = caller;
  const credential = { kind: kinds[kind], id: tokenId };
  return { tenant, subject, roles: [...roles], credential };
}

/** Returns the trace of the span of the request, or else the one that the client sent. */
function traceIdOf(header: Headers): string {
  const traceparent = traceparentOf() || (header.get("traceparent") ?? "");
  return /^00-([0-9a-f]{32})-/.exec(traceparent)?.[1] ?? "";
}
