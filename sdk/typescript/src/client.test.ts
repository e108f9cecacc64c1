import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { RunService } from "#contracts/run";
import { connect } from "./client.ts";

/** Serves a run whose events never end. */
async function endlessRun() {
  let streams = 0;
  const server = createServer(
    connectNodeAdapter({
      routes: (router) =>
        router.service(RunService, {
          async *watchRun({ afterSequence }, { signal }) {
            streams++;
            yield { events: [{ sequence: afterSequence + 1 }], throughSequence: afterSequence + 1 };
            await once(signal, "abort");
          },
        }),
    }),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    streams: () => streams,
    [Symbol.dispose]: () => void server.close(),
  };
}

test("closing a client ends its watches, without another connection, and refuses its requests", async () => {
  using server = await endlessRun();
  const reeve = connect({ address: server.address });
  const seen: number[] = [];
  const watched = (async () => {
    for await (const { sequence } of reeve.watch("run_1")) {
      seen.push(sequence);
      reeve.close();
    }
  })();
  await expect(watched).rejects.toMatchObject({ reason: "CLIENT_CLOSED" });
  expect(seen).toEqual([1]);
  await expect(reeve.getRun("run_1")).rejects.toMatchObject({ reason: "CLIENT_CLOSED" });
  expect(server.streams()).toBe(1);
});
