import { Writable } from "node:stream";
import type { ServiceImpl, Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { RunService } from "@reeve/contracts/run";
import { pino } from "pino";
import type { RunningServer, ServeOptions } from "../../src/rpc/server.ts";
import { serve } from "../../src/rpc/server.ts";

const never = new AbortController().signal;

/** A server on any free port, a client transport for it, and its log lines. */
export interface Served extends AsyncDisposable {
  readonly server: RunningServer;
  readonly transport: Transport;
  readonly logged: readonly string[];
}

/** Serves some methods of `RunService`. */
export async function served(
  service: Partial<ServiceImpl<typeof RunService>> = {},
  options: Partial<ServeOptions> = {},
): Promise<Served> {
  const logged: string[] = [];
  const lines = new Writable({
    write(line: Buffer, _, done) {
      logged.push(line.toString());
      done();
    },
  });
  const server = await serve(
    (router) => router.service(RunService, service),
    {
      host: "127.0.0.1",
      port: 0,
      log: pino({ level: "warn" }, lines),
      services: [RunService],
      ...options,
    },
    never,
  );
  return {
    server,
    transport: createGrpcTransport({ baseUrl: server.url }),
    logged,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
