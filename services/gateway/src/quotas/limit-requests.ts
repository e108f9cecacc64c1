import type { Interceptor, StreamRequest, StreamResponse } from "@connectrpc/connect";
import type { Clock } from "@reeve/platform/async/clock";
import { relay } from "@reeve/platform/async/relay";
import type { Principal } from "@reeve/platform/rpc/principal";
import { isOpenService, principalOf } from "@reeve/platform/rpc/principal";
import type { Quota } from "./quota.ts";
import { appliesTo, counterOf } from "./quota.ts";
import { quotaExceeded } from "./quota-exceeded.ts";
import { RequestRate } from "./request-rate.ts";

/** When a client should ask for a stream again. */
const streamRetryMs = 5_000;

/**
 * Refuses requests and streams beyond the quotas of their principal. `quotas` returns those that are in force. A request that one
 * quota refuses counts for those before it.
 */
export function limitRequests(
  quotas: () => readonly Quota[],
  clock: Pick<Clock, "now">,
): Interceptor {
  const rate = new RequestRate(clock);
  const streams = new Map<string, number>();
  return (next) => async (request) => {
    if (isOpenService(request.service)) return await next(request);
    const principal = principalOf({ values: request.contextValues });
    const applying = quotas().filter((quota) => appliesTo(quota, principal));
    for (const quota of applying) assertRate(rate, quota, principal);
    if (!request.stream) return await next(request);
    const open = enterStreams(streams, applying, principal);
    try {
      const response = await next(request);
      return response.stream ? until(response, open) : response;
    } catch (error) {
      open[Symbol.dispose]();
      throw error;
    } finally {
      if (request.method.methodKind === "client_streaming") open[Symbol.dispose]();
    }
  };
}

function assertRate(rate: RequestRate, quota: Quota, principal: Principal): void {
  const { requestsPerSecond: max } = quota;
  if (max === undefined) return;
  const retryAfterMs = rate.take(`${principal.tenant}.${counterOf(quota, principal)}`, max);
  if (retryAfterMs === 0) return;
  throw quotaExceeded(quota, principal, {
    limit: "requests_per_second",
    max,
    allows: `${max} requests per second`,
    advice: "send fewer",
    retryAfterMs,
  });
}

/** Counts a stream for each quota until it is disposed. */
function enterStreams(
  streams: Map<string, number>,
  quotas: readonly Quota[],
  principal: Principal,
): Disposable {
  using entering = new DisposableStack();
  for (const quota of quotas) {
    const { streams: max } = quota;
    if (max === undefined) continue;
    const name = `${principal.tenant}.${counterOf(quota, principal)}`;
    const count = streams.get(name) ?? 0;
    if (count >= max) {
      throw quotaExceeded(quota, principal, {
        limit: "streams",
        max,
        allows: `${max} open streams`,
        advice: "close one",
        retryAfterMs: streamRetryMs,
      });
    }
    streams.set(name, count + 1);
    entering.defer(() => leave(streams, name));
  }
  return entering.move();
}

function leave(streams: Map<string, number>, name: string): void {
  const left = (streams.get(name) ?? 1) - 1;
  if (left > 0) streams.set(name, left);
  else streams.delete(name);
}

function until<Stream extends StreamRequest | StreamResponse>(
  stream: Stream,
  open: Disposable,
): Stream {
  return { ...stream, message: relay(stream.message, { onEnd: () => open[Symbol.dispose]() }) };
}
