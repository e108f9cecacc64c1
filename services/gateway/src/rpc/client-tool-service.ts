import { randomUUID } from "node:crypto";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ClientToolService } from "@reeve/contracts/tool";
import { steadyClock } from "@reeve/platform/async/clock";
import { withHeartbeats } from "@reeve/platform/async/with-heartbeats";
import { noteEffect } from "@reeve/platform/rpc/outcome/call-effect";
import { principalOf } from "@reeve/platform/rpc/principal";
import { serverDraining } from "@reeve/platform/rpc/server-draining";
import { answerToolCall } from "../app/client-tools/answer-tool-call.ts";
import { offerTools } from "../app/client-tools/offer-tools.ts";
import type { GatewayPorts } from "../app/gateway-ports.ts";
import type { WatchContext } from "./run-service.ts";

/** The time without a message after which a stream sends a heartbeat. */
const heartbeatMs = 5_000;

/** Returns the handlers of ClientToolService. */
export function clientToolService(
  ports: GatewayPorts,
  { sleep, ending }: Omit<WatchContext, "log">,
): ServiceImpl<typeof ClientToolService> {
  const interval = { everyMs: heartbeatMs, clock: { now: steadyClock.now, sleep } };
  return {
    async *offerTools(request, context) {
      const principal = principalOf(context);
      const until = AbortSignal.any([context.signal, ending]);
      const open = (signal: AbortSignal) =>
        offerTools(ports, principal, request, randomUUID(), signal);
      try {
        for await (const message of withHeartbeats(open, interval, until)) {
          yield message === "heartbeat" ? {} : message;
        }
      } catch (error) {
        if (context.signal.aborted || !ending.aborted) throw error;
        throw serverDraining();
      }
    },
    answerToolCall: async (request, context) => {
      const answering = { ...ports, onAppended: () => noteEffect(context) };
      await answerToolCall(answering, principalOf(context), request, context.signal);
      return {};
    },
  };
}
