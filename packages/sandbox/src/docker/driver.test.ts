import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { DockerDriver } from "./driver.ts";

const never = new AbortController().signal;
const identity = { uid: 64_017, gid: 64_017, isDedicated: false };

/** Probes an engine that answers with `answer`. */
async function probe(answer: RequestListener) {
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

describe("a probe finds no container engine", () => {
  test.each([
    ["is not JSON", "<html>welcome</html>", /does not answer/],
    ["is not that of an engine", "{}", /is not a container engine/],
  ])("if the answer %s", async (_, body, reason) => {
    const report = await probe((_request, response) => response.end(body));
    expect(report).toMatchObject({ works: false, reason: expect.stringMatching(reason) as string });
  });

  test("if nothing answers within a few seconds", async () => {
    const report = await probe(() => undefined);
    expect(report).toMatchObject({ works: false });
  }, 30_000);
});
