import type { CallContext } from "@reeve/calls/ports/tool";
import type { CallEgress, HostEgress } from "@reeve/sandbox/network/host-egress";
import { ErrorReason } from "@reeve/contracts/error";
import { abortable } from "@reeve/platform/async/abortable";
import { Failure } from "@reeve/platform/failure";
import { networkUse } from "../builtin/network-use.ts";

/** Opens the network of a call, as far as its agent has one. Throws a Failure if it has none. */
export function callEgress(egress: HostEgress, context: CallContext): CallEgress {
  const { network } = networkUse(context.settings, context);
  if (network !== undefined) return egress.open(network);
  const message = "the agent has no network; name hosts in deep_agent.network.allow of the agent";
  throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message);
}

/**
 * Calls `use` with a signal that also aborts after a time limit. Returns undefined if the limit has passed; rejects if `signal`
 * aborts.
 */
export async function withTimeLimit<Result>(
  limitMs: number,
  signal: AbortSignal,
  use: (bounded: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    const bounded = AbortSignal.any([signal, limit]);
    return await abortable(use(bounded), bounded);
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) return undefined;
    throw error;
  }
}
