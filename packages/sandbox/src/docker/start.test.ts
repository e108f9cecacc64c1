import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, test } from "vitest";
import { Engine } from "./engine.ts";
import { startContainer } from "./start.ts";

const never = new AbortController().signal;

test("a broken connection ends the sandbox, as a closed one does", async () => {
  const attached = Promise.withResolvers<Socket>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.split(/[/?]/).at(3)}`);
    response.writeHead(200).end("{}");
  });
  server.on("upgrade", (_request, socket: Socket) => {
    socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
    socket.on("error", () => undefined);
    attached.resolve(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  let gone = 0;
  try {
    const channel = await startContainer(
      {
        engine: new Engine(`tcp://127.0.0.1:${port}`),
        name: "box",
        config: {},
        attempt: { image: "image:1", runtime: undefined, address: undefined },
        onGone: () => void gone++,
      },
      never,
    );
    channel.input.on("error", () => undefined);
    (await attached.promise).resetAndDestroy();
    expect(await channel.ended).toContain("image:1");
    expect(gone).toBe(1);
    expect(requests).toEqual(["POST create", "POST box", "DELETE box"]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
