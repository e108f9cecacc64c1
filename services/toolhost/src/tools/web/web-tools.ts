import type { Tool } from "@reeve/calls/ports/tool";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { HostEgress } from "@reeve/sandbox/network/host-egress";
import { resolveHost } from "@reeve/sandbox/network/lookups";
import type { NetworkCredential } from "@reeve/sandbox/network/network-credential";
import type { ToolhostConfig } from "../../config.ts";
import { httpRequest } from "./http-request.ts";

export interface WebToolsOptions {
  readonly log: Logger;
  readonly credentials: readonly NetworkCredential[];
}

/** Returns the tools that use the network from this process. Those that are not configured are absent. */
export function webTools(
  config: ToolhostConfig,
  { log, credentials }: WebToolsOptions,
): readonly Tool[] {
  const policy = {
    allow: config.REEVE_NETWORK_ALLOW,
    ranges: config.REEVE_NETWORK_RANGES,
    maxBytes: config.REEVE_NETWORK_MAX_BYTES,
  };
  const egress = new HostEgress({ policy, resolve: resolveHost, log, credentials });
  return policy.allow.length === 0 ? [] : [httpRequest(egress)];
}
