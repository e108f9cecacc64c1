import type { Interceptor, Transport } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { traceClientRequests } from "@reeve/platform/rpc/rpc-spans";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { explainTlsError } from "@reeve/platform/tls/explain-tls-error";
import { watchAuthorities } from "@reeve/platform/tls/trusted-authorities";
import type { GatewayConfig } from "./config.ts";

/**
 * Returns what carries requests to approvals. With `https`, it accepts only certificates that the authorities of the settings signed, which
 * are read again when their file changes. Throws a Failure if the file cannot be used.
 */
export function openApprovalsTransport(
  { REEVE_APPROVALS_URL: baseUrl, REEVE_APPROVALS_CA_FILE: caFile }: GatewayConfig,
  log: Logger,
  resources: AsyncDisposableStack,
): Transport {
  const authorities =
    caFile === undefined
      ? undefined
      : resources.use(
          watchAuthorities({ setting: "REEVE_APPROVALS_CA_FILE", path: caFile }, { log }),
        );
  const sessionManager = new Http2SessionManager(baseUrl, undefined, {
    // Node reads it for each connection.
    get ca() {
      return authorities?.current;
    },
  });
  resources.defer(() => sessionManager.abort());
  const interceptors = [traceClientRequests(), explainTls(baseUrl)];
  return createGrpcTransport({ baseUrl, sessionManager, interceptors });
}

/** Says in the error of a request that approvals and the gateway do not agree on TLS, and why. */
function explainTls(url: string): Interceptor {
  return (next) => async (request) => {
    try {
      return await next(request);
    } catch (error) {
      const problem = explainTlsError(error, { caFile: "REEVE_APPROVALS_CA_FILE" });
      if (problem === undefined) throw error;
      const message = `approvals at ${url} ${problem}`;
      throw new ConnectError(message, Code.Unavailable, undefined, undefined, error);
    }
  };
}
