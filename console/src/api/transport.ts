import type { Transport } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { AgentService } from "@reeve/contracts/agent";
import { ReceiptService } from "@reeve/contracts/receipt";
import { RunService } from "@reeve/contracts/run";
import { WorkspaceService } from "@reeve/contracts/tool";
import { ArtifactService } from "@reeve/contracts/artifact";
import { authorized } from "./authorized.ts";
import { currentSession, replaceToken, signOut } from "./session.ts";

/** The connection to the gateway that served this page. */
export const transport: Transport = createConnectTransport({
  baseUrl: window.location.origin,
  useBinaryFormat: true,
  interceptors: [
    authorized({ token: () => currentSession().token, replace: replaceToken, end: signOut }),
  ],
});

/** The clients of methods that are called on request or stream, for which there are no hooks. */
export const agents = createClient(AgentService, transport);
export const runs = createClient(RunService, transport);
export const files = createClient(WorkspaceService, transport);
export const receipts = createClient(ReceiptService, transport);
export const artifacts = createClient(ArtifactService, transport);
