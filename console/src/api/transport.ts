import type { Interceptor, Transport } from "@connectrpc/connect";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { AgentService } from "@reeve/contracts/agent";
import { ReceiptService } from "@reeve/contracts/receipt";
import { RunService } from "@reeve/contracts/run";
import { WorkspaceService } from "@reeve/contracts/tool";
import { ArtifactService } from "@reeve/contracts/artifact";
import { currentSession, replaceToken, signOut } from "./session.ts";

/**
 * Adds the token of the session. One that the server does not know, or knows no more, is renewed once, as after the computer slept;
 * if that fails, the session ends.
 */
const authorized: Interceptor = (next) => async (request) => {
  const { token } = currentSession();
  try {
    return await next(withToken(request, token));
  } catch (error) {
    if (!isRefused(error)) throw error;
    const renewed = token === undefined ? undefined : await replaceToken(token);
    if (renewed === undefined) throw endSession(token, error);
    // What reads a stream begins it again.
    if (request.stream) throw error;
    try {
      return await next(withToken(request, renewed));
    } catch (again) {
      throw isRefused(again) ? endSession(renewed, again) : again;
    }
  }
};

function withToken<Request extends { readonly header: Headers }>(
  request: Request,
  token: string | undefined,
): Request {
  if (token !== undefined) request.header.set("authorization", `Bearer ${token}`);
  return request;
}

function isRefused(error: unknown): boolean {
  return ConnectError.from(error).code === Code.Unauthenticated;
}

/** Ends the session, unless it has another token by now. Returns the error. */
function endSession(token: string | undefined, error: unknown): unknown {
  if (currentSession().token === token) {
    const { rawMessage } = ConnectError.from(error);
    signOut(`The server does not accept this token, or it has ended: ${rawMessage}`);
  }
  return error;
}

/** The connection to the gateway that served this page. */
export const transport: Transport = createConnectTransport({
  baseUrl: window.location.origin,
  useBinaryFormat: true,
  interceptors: [authorized],
});

/** The clients of methods that are called on request or stream, for which there are no hooks. */
export const agents = createClient(AgentService, transport);
export const runs = createClient(RunService, transport);
export const files = createClient(WorkspaceService, transport);
export const receipts = createClient(ReceiptService, transport);
export const artifacts = createClient(ArtifactService, transport);
