import type { Interceptor, StreamRequest, StreamResponse } from "@connectrpc/connect";
import { relay } from "../async/relay.ts";
import { recheck } from "./principal.ts";

/**
 * Ends a stream when its credential is revoked or expires: before each message in either direction, the caller must still be
 * permitted to call the method. A silent stream of answers sends heartbeats, so it ends within seconds. What an upload has
 * stored is answered even if the credential ends at that moment.
 */
export const recheckStreams: Interceptor = (next) => async (request) => {
  if (!request.stream) return await next(request);
  const check = () => recheck(request.contextValues);
  if (request.method.methodKind === "client_streaming")
    return await next(rechecked(request, check));
  const response = await next(request);
  return response.stream ? rechecked(response, check) : response;
};

function rechecked<Stream extends StreamRequest | StreamResponse>(
  stream: Stream,
  check: () => void,
): Stream {
  return { ...stream, message: relay(stream.message, { onItem: check }) };
}
