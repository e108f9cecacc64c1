import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { DockerDriver } from "./driver.ts";

const never = new AbortController().signal;
const identity = { uid: 64_017, gid: 64_017, isDedicated: false };

/** What a probe says of an engine that answers as told. */
async function probed(answer: RequestListener) {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    return await new DockerDriver({ identity, address, image: "i", probeDir: tmpdir }).probe(never);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("no container engine is found", () => {
  test.each([
    ["answers in no JSON", "<html>welcome</html>", /does not answer/],
    ["knows nothing of containers", "{}", /is none/],
  ])("where something %s", async (_, said, reason) => {
    const report = await probed((_request, response) => response.end(said));
    expect(report).toMatchObject({ works: false, reason: expect.stringMatching(reason) as string });
  });

  test("where nothing answers at all, long before a start would take notice", async () => {
    const report = await probed(() => undefined);
    expect(report).toMatchObject({ works: false });
  }, 30_000);
});
