import type { AgentCard } from "@a2a-js/sdk";
import { isLegacyJsonRpcMethod } from "@a2a-js/sdk/compat/v0_3";
import {
  LegacyJsonRpcTransportHandler,
  LegacyRestTransportHandler,
} from "@a2a-js/sdk/compat/v0_3/server";
import { ServerCallContext } from "@a2a-js/sdk/server";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { RequestHandler } from "../request-handler.ts";
import { jsonAnswer, streamAnswer } from "./answers.ts";
import type { BindingRequest } from "./binding-request.ts";

/** The version before 1.0, whose clients are still in use. */
export const legacyVersion = "0.3";

/** Whether the body of a request has a method of A2A 0.3. */
export function isLegacyCall(body: string): boolean {
  try {
    return isLegacyJsonRpcMethod((JSON.parse(body) as JsonObject | null)?.["method"]);
  } catch {
    return false;
  }
}

/** Answers a request of the JSON-RPC binding of A2A 0.3, which is translated to and from 1.0. `id` is the one of the request. */
export async function answerLegacy(
  handler: RequestHandler,
  { body, id }: { readonly body: string; readonly id: JsonValue },
  { interval, signal }: BindingRequest,
): Promise<UniversalServerResponse> {
  const context = new ServerCallContext({ requestedVersion: legacyVersion });
  // Notifications have the form of 1.0, which these clients cannot read.
  const withoutPushes = handler.withoutPushes();
  const answer = await new LegacyJsonRpcTransportHandler(withoutPushes).handle(body, context);
  if (!(Symbol.asyncIterator in answer)) return jsonAnswer(200, answer);
  // The SDK yields JSON.
  const events = answer as AsyncIterable<unknown> as AsyncIterable<JsonValue>;
  const errorOf = (cause: unknown) => {
    const error = LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(cause);
    return { jsonrpc: "2.0", id, error };
  };
  try {
    return await streamAnswer({ events, errorOf }, interval, signal);
  } catch (error) {
    return jsonAnswer(200, errorOf(error));
  }
}

/** Returns the card of an agent in the form of A2A 0.3, with the JSON-RPC binding. */
export async function legacyCardOf(handler: RequestHandler, card: AgentCard): Promise<unknown> {
  const supportedInterfaces = card.supportedInterfaces
    .filter(({ protocolBinding }) => protocolBinding === "JSONRPC")
    .map((each) => ({ ...each, protocolVersion: legacyVersion }));
  const legacy = {
    ...card,
    supportedInterfaces,
    capabilities: {
      extensions: [],
      ...card.capabilities,
      pushNotifications: false,
      extendedAgentCard: true,
    },
    signatures: [],
  };
  // The SDK translates only extended cards.
  const translating = Object.assign(Object.create(handler) as RequestHandler, {
    getAgentCard: () => Promise.resolve(legacy),
    getAuthenticatedExtendedAgentCard: () => Promise.resolve(legacy),
  });
  const context = new ServerCallContext({ requestedVersion: legacyVersion });
  const translated = await new LegacyRestTransportHandler(
    translating,
  ).getAuthenticatedExtendedAgentCard(context);
  return { ...translated, supportsAuthenticatedExtendedCard: false };
}
