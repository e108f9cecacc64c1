import type { Interceptor, StreamResponse } from "@connectrpc/connect";
import { recheck } from "./principal.ts";

/**
 * Ends a stream of answers when its credential is revoked or expires: before each message, the caller must still be permitted
 * to call the method. A stream that is silent sends heartbeats, so it ends within seconds.
 */
export const recheckStreams: Interceptor = (next) => async (request) => {
  const response = await next(request);
  return response.stream ? rechecked(response, () => recheck(request.contextValues)) : response;
};

function rechecked(response: StreamResponse, check: () => void): StreamResponse {
  async function* messages() {
    for await (const message of response.message) {
      check();
      yield message;
    }
  }
  return { ...response, message: messages() };
}
