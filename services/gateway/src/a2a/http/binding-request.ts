import type { HeartbeatInterval } from "@reeve/platform/async/with-heartbeats";

/** A request of a binding of the protocol. */
export interface BindingRequest {
  /** The version that the client speaks. Undefined: it names none. */
  readonly version: string | undefined;
  readonly interval: HeartbeatInterval;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
}
