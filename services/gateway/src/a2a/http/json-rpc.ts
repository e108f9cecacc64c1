import { A2A_PROTOCOL_VERSION } from "@a2a-js/sdk";
import { VersionNotSupportedError } from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { jsonRpcErrorOf } from "../a2a-error.ts";
import type { RequestHandler } from "../request-handler.ts";
import { answerLegacy, isLegacyCall, legacyVersion } from "./legacy.ts";
import { jsonAnswer, streamAnswer } from "./answers.ts";
import type { BindingRequest } from "./binding-request.ts";

/** Answers a request of the JSON-RPC binding. Refusals have status 200, as the binding says. */
export async function answerJsonRpc(
  handler: RequestHandler,
  body: string,
  request: BindingRequest,
): Promise<UniversalServerResponse> {
  const id = idIn(body);
  const errorOf = (error: unknown) => ({ jsonrpc: "2.0", id, error: jsonRpcErrorOf(error) });
  try {
    const isLegacy = request.version === undefined || request.version.startsWith(legacyVersion);
    if (isLegacy && isLegacyCall(body)) return await answerLegacy(handler, { body, id }, request);
    assertVersion(request.version);
    const context = new ServerCallContext({ requestedVersion: A2A_PROTOCOL_VERSION });
    const answer = await new JsonRpcTransportHandler(handler).handle(body, context);
    if (!(Symbol.asyncIterator in answer)) {
      // The SDK leaves out the data of refusals that are not its own.
      const refused = "error" in answer && handler.refusal;
      return jsonAnswer(200, refused ? errorOf(refused) : answer);
    }
    // The SDK yields JSON.
    const events = answer as AsyncIterable<unknown> as AsyncIterable<JsonValue>;
    return await streamAnswer({ events, errorOf }, request.interval, request.signal);
  } catch (error) {
    return jsonAnswer(200, errorOf(error));
  }
}

/** Throws an A2AError for a version that this gateway does not speak. A client that names none speaks the one of its methods. */
export function assertVersion(version: string | undefined): void {
  if (version === undefined || version === A2A_PROTOCOL_VERSION) return;
  const message = `A2A version ${version.slice(0, 20)} is not supported; this gateway speaks ${A2A_PROTOCOL_VERSION}`;
  throw new VersionNotSupportedError({ message });
}

/** Returns the id of a request, with which its errors are answered. */
function idIn(body: string): JsonValue {
  try {
    const id = (JSON.parse(body) as JsonObject | null)?.["id"];
    return typeof id === "string" || typeof id === "number" ? id : null;
  } catch {
    return null;
  }
}
