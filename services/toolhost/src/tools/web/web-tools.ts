import { parseNetworkEntry } from "@reeve/agent/spec/network-entry";
import type { Tool } from "@reeve/calls/ports/tool";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { invalidConfig } from "@reeve/platform/process/json-config";
import { HostEgress } from "@reeve/sandbox/network/host-egress";
import type { Lookups } from "@reeve/sandbox/network/lookups";
import type { NetworkCredential } from "@reeve/sandbox/network/network-credential";
import type { ToolhostConfig } from "../../config.ts";
import { fetchPage } from "./fetch-page.ts";
import { httpRequest } from "./http-request.ts";
import { PageReaders } from "./page/page-readers.ts";
import { openSearchEngine } from "./search/open-search-engine.ts";
import { searchHost, webSearch } from "./web-search.ts";

/**
 * The operator names the address of the search engine, which is often on this host or in a private network. Nothing but searches may
 * reach these addresses.
 */
const searchRanges = [
  "127.0.0.0/8",
  "::1/128",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "fc00::/7",
];

export interface WebToolsOptions {
  readonly log: Logger;
  readonly credentials: readonly NetworkCredential[];
  /** The lookups of this process. */
  readonly lookups: Lookups;
}

/**
 * Returns the tools that use the network from this process. Those that are not configured are absent. Throws a Failure if the
 * settings of one are invalid.
 */
export function webTools(config: ToolhostConfig, options: WebToolsOptions): readonly Tool[] {
  const policy = {
    allow: config.REEVE_NETWORK_ALLOW,
    ranges: config.REEVE_NETWORK_RANGES,
    maxBytes: config.REEVE_NETWORK_MAX_BYTES,
  };
  const egress = new HostEgress({ policy, ...options });
  const search = searchTool(config, options);
  const readers = new PageReaders({ pages: config.REEVE_PAGE_READERS });
  return [
    ...(policy.allow.length === 0 ? [] : [httpRequest(egress), fetchPage(egress, readers)]),
    ...(search ? [search] : []),
  ];
}

function searchTool(config: ToolhostConfig, { log, lookups }: WebToolsOptions): Tool | undefined {
  const engine = openSearchEngine(config, processRedaction);
  if (engine === undefined) return undefined;
  const entry = parseNetworkEntry(searchHost(engine), "agent");
  if (entry === undefined) throw invalidConfig("REEVE_WEB_SEARCH_URL", "has no valid host");
  const policy = {
    allow: [entry],
    ranges: [...config.REEVE_NETWORK_RANGES, ...searchRanges],
    maxBytes: config.REEVE_NETWORK_MAX_BYTES,
  };
  return webSearch({ engine, egress: new HostEgress({ policy, lookups, log }), log });
}
