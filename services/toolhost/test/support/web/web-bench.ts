import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@bufbuild/protobuf";
import type { CallContext } from "@reeve/calls/ports/tool";
import { callSettings } from "@reeve/calls/settings/tool-settings";
import { parseNetworkEntry } from "@reeve/agent/spec/network-entry";
import type { HostEgressOptions } from "@reeve/sandbox/network/host-egress";
import { HostEgress } from "@reeve/sandbox/network/host-egress";
import { Lookups } from "@reeve/sandbox/network/lookups";
import { recordingLog } from "@reeve/sandbox/test/support/recording-log";
import { contextOf } from "../call-context.ts";

/** A web server on a free port of the loopback. */
export interface WebServer extends AsyncDisposable {
  readonly port: number;
}

export async function webServer(listener: RequestListener): Promise<WebServer> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // The address of a TCP server has a port.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Returns the network of tools whose operator permits `*.test` and the loopback address, at which these names are. */
export function testEgress(options: Partial<HostEgressOptions> = {}) {
  const { log, logged } = recordingLog();
  const allow = ["*.test:*", "127.0.0.1:*"].flatMap((text) => {
    const entry = parseNetworkEntry(text, "operator");
    return entry === undefined ? [] : [entry];
  });
  const egress = new HostEgress({
    policy: { allow, ranges: ["127.0.0.1"], maxBytes: 1_000_000_000 },
    lookups: new Lookups(async (host) => [host === "private.test" ? "10.0.0.7" : "127.0.0.1"]),
    log,
    ...options,
  });
  return { egress, logged };
}

/** Returns the context of a call whose agent may reach the entries. */
export function webContext(
  args: JsonObject,
  network: readonly string[],
  networkCredentials: readonly string[] = [],
): CallContext {
  const settings = { ...callSettings(undefined), network, networkCredentials };
  return contextOf(args, undefined, { settings });
}
