import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { WorkspaceService } from "#contracts/tool";
import { connect } from "./client.ts";

/** Serves routes on a free port, until it is disposed. */
async function serve(routes: (router: ConnectRouter) => unknown) {
  const server = createServer(connectNodeAdapter({ routes: (router) => void routes(router) }));
  await once(server.listen(0, "127.0.0.1"), "listening");
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    [Symbol.dispose]: () => void server.close(),
  };
}

/** Serves a file whose content never ends. Resolves `ended` when the client ends the transfer. */
async function endlessFile() {
  const ended = Promise.withResolvers<void>();
  const server = await serve((router) =>
    router.service(WorkspaceService, {
      async *readFile({ path }, { signal }) {
        signal.addEventListener("abort", () => ended.resolve(), { once: true });
        yield { part: { case: "file", value: { path } } };
        yield { part: { case: "chunk", value: new Uint8Array([1, 2]) } };
        await ended.promise;
      },
    }),
  );
  return { ...server, ended: ended.promise };
}

test("reading the properties of a file ends its transfer", async () => {
  using server = await endlessFile();
  using reeve = connect({ address: server.address });
  expect(await reeve.files.stat("run_1", "a.txt")).toMatchObject({ path: "a.txt" });
  await server.ended;
});

test("leaving the loop over a download ends the transfer", async () => {
  using server = await endlessFile();
  using reeve = connect({ address: server.address });
  const { file, chunks } = await reeve.files.read("run_1", "a.txt");
  expect(file.path).toBe("a.txt");
  for await (const chunk of chunks) {
    expect([...chunk]).toEqual([1, 2]);
    break;
  }
  await server.ended;
});

test("throws a ReeveError for a download that the server refuses", async () => {
  using server = await serve(() => undefined);
  using reeve = connect({ address: server.address });
  const refused = reeve.download("art_1");
  await expect(refused).rejects.toMatchObject({ name: "ReeveError", reason: "" });
});
