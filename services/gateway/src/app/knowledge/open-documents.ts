import { DocumentFetcher } from "@reeve/knowledge/fetch/document-fetcher";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { HostEgress } from "@reeve/sandbox/network/host-egress";
import { Lookups, resolveHost } from "@reeve/sandbox/network/lookups";
import type { GatewayConfig } from "../../config.ts";

/** Opens the documents on the web, as far as the operator permits hosts to this gateway. */
export function openDocuments(
  {
    REEVE_NETWORK_ALLOW: allow,
    REEVE_NETWORK_RANGES: ranges,
    REEVE_NETWORK_MAX_BYTES: maxBytes,
  }: Pick<
    GatewayConfig,
    "REEVE_NETWORK_ALLOW" | "REEVE_NETWORK_RANGES" | "REEVE_NETWORK_MAX_BYTES"
  >,
  log: Logger,
): DocumentFetcher {
  const policy = { allow, ranges, maxBytes };
  const egress =
    allow.length === 0
      ? undefined
      : new HostEgress({ policy, lookups: new Lookups(resolveHost), log });
  return new DocumentFetcher({ egress });
}
