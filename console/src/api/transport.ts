import type { Interceptor, Transport } from "@connectrpc/connect";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { AgentService } from "@reeve/contracts/agent";
import { ReceiptService } from "@reeve/contracts/receipt";
import { RunService } from "@reeve/contracts/run";
import { WorkspaceService } from "@reeve/contracts/tool";
import { ArtifactService } from "@reeve/contracts/artifact";
import { currentSession, signOut } from "./session.ts";

/** Adds the token of the session. A token that the server does not know, or knows no more, ends the session. */
const authorized: Interceptor = (next) => async (request) => {
  const { token } = currentSession();
  if (token !== undefined) request.header.set("authorization", `Bearer ${token}`);
  try {
    return await next(request);
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    const isRefused = code === Code.Unauthenticated;
    if (isRefused && currentSession().token === token) {
      signOut(`The server does not accept this token, or it has ended: ${rawMessage}`);
    }
    throw error;
  }
};

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
