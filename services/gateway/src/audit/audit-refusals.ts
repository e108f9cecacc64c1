import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ContextValues } from "@connectrpc/connect";
import type { AuditCredentialSchema } from "@reeve/contracts/audit";
import { AuditCredential_Kind } from "@reeve/contracts/audit";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import { peerOf } from "@reeve/platform/rpc/credentials/client-certificates";
import { addressGroup } from "@reeve/platform/rpc/http/address-group";
import { clientAddressOf } from "@reeve/platform/rpc/http/client-address";
import type { Authenticate } from "@reeve/platform/rpc/principal";
import { bearerTokenOf, tokenId } from "@reeve/platform/rpc/credentials/bearer-tokens";
import { callerOf } from "@reeve/platform/rpc/principal";
import { eventOf } from "./build-event.ts";
import { outcomeOf, succeeded } from "./call-outcome.ts";
import { actionOf } from "./method-audit.ts";
import type { AuditRecorder } from "@reeve/jetstream/audit/recorder";
import type { RepeatedRefusals } from "./repeated-refusals.ts";
import { SignIns } from "./sign-ins.ts";

const neverAborts = new AbortController().signal;

export interface RefusalDependencies {
  readonly recorder: Pick<AuditRecorder, "note">;
  /** Of callers who could not be authenticated. */
  readonly strangers: RepeatedRefusals;
  /** Of callers whose role or quota forbids what they tried. */
  readonly denied: RepeatedRefusals;
  readonly clock: Pick<Clock, "now">;
}

/** Returns `authenticate` as a function that records sign-ins, failed ones too, and calls that the role of the caller forbids. */
export function auditRefusals(
  authenticate: Authenticate,
  { recorder, strangers, denied, clock }: RefusalDependencies,
): Authenticate {
  const signIns = new SignIns();
  return async (context) => {
    const startedAtMs = clock.now();
    const { method, requestHeader: header, values } = context;
    const call = { method, header, values };
    const timesOf = () => ({ nowMs: clock.now(), startedAtMs });
    try {
      await authenticate(context);
    } catch (error) {
      refused(error);
      throw error;
    }
    const caller = callerOf(values);
    if (caller !== undefined && signIns.isFirst(caller)) {
      recorder.note(eventOf(call, succeeded, timesOf(), { action: "sign_in" }));
    }

    function refused(error: unknown): void {
      const outcome = outcomeOf(error, neverAborts);
      const caller = callerOf(values);
      const times = timesOf();
      if (caller !== undefined) {
        const event = eventOf(call, outcome, times, { action: actionOf(method) });
        const kind = [caller.tenant, caller.subject, method.name, outcome.reason].join(" ");
        return denied.add(kind, event, times.nowMs);
      }
      const reason = whyRefused(error, header);
      const event = eventOf(call, { ...outcome, reason }, times, {
        action: "sign_in",
        credential: credentialOf(header, values),
        ...principalOf(error),
      });
      const kind = [addressGroup(clientAddressOf(values)), reason, event.tenant].join(" ");
      strangers.add(kind, event, times.nowMs);
    }
  };
}

/** Identifies the token of a request, or else the certificate of its connection. */
function credentialOf(
  header: Headers,
  values: ContextValues,
): MessageInitShape<typeof AuditCredentialSchema> {
  const token = bearerTokenOf(header);
  if (token !== undefined) return { id: tokenId(token) };
  const peer = peerOf(values);
  return peer === undefined ? {} : { kind: AuditCredential_Kind.CERTIFICATE, id: peer.id };
}

/** Why a credential is refused. */
function whyRefused(error: unknown, header: Headers): string {
  const named = error instanceof Failure ? error.metadata["credential"] : undefined;
  if (named !== undefined) return named;
  if (!header.has("authorization")) return "MISSING";
  if (bearerTokenOf(header) === undefined) return "MALFORMED";
  if (!(error instanceof Failure)) return "UNAVAILABLE";
  if (error.kind === "denied") return "NO_ROLE";
  if (error.kind === "exhausted") return "LIMITED";
  if (error.kind !== "unauthenticated") return "UNAVAILABLE";
  return "UNKNOWN";
}

/** The person whom a token of the identity provider names, although it gives the person no role. */
function principalOf(error: unknown): { readonly tenant?: string; readonly subject?: string } {
  if (!(error instanceof Failure) || error.kind !== "denied") return {};
  const { tenant, subject } = error.metadata;
  return tenant === undefined || subject === undefined ? {} : { tenant, subject };
}
