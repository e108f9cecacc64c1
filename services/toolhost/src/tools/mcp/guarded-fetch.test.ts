import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { guardedFetch, maxOtherBytes } from "./guarded-fetch.ts";
import { describeProblem } from "./describe-problem.ts";

/** Names that only these tests know. */
const names: Readonly<Record<string, readonly string[]>> = {
  "private.example": ["10.1.2.3"],
  "tracker.example": ["10.1.2.3"],
  "mixed.example": ["192.0.2.1", "fd12::1"],
  "own.example": ["127.0.0.1"],
  "other.example": ["127.0.0.1"],
};

/** Name lookups are answered from the table, and nothing leaves this machine. */
function opened(origins: readonly string[], allowed: readonly string[] = []) {
  const asked: string[] = [];
  const options = { allowed, origins, maxBytes: 10 * maxOtherBytes };
  const guarded = guardedFetch(options, (hostname, _, callback) => {
    asked.push(hostname);
    const found = names[hostname] ?? [];
    callback(
      null,
      found.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  });
  const problemOf = async (url: string, signal?: AbortSignal) =>
    await guarded.fetch(url, { signal: signal ?? null }).then(() => "answered", describeProblem);
  return { guarded, asked, problemOf };
}

async function listening(listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return { port, [Symbol.asyncDispose]: close };
}

describe("a host that only the server names", () => {
  test.each([
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://[fd12::1]/",
    "http://[::ffff:10.1.2.3]/",
    "http://private.example/",
    "http://mixed.example/",
  ])("is not reached in a private network: %s", async (url) => {
    const { guarded, problemOf } = opened(["https://tracker.example"]);
    await using _ = guarded;
    expect(await problemOf(url)).toMatch(/not permitted; add it to .*allow_addresses/);
  });

  test("is reached there if the operator permits the address", async () => {
    await using web = await listening((_, response) => response.end("metadata"));
    const { guarded } = opened(["https://tracker.example"], ["127.0.0.1"]);
    await using _ = guarded;
    const response = await guarded.fetch(`http://other.example:${web.port}/`, {});
    expect(await response.text()).toBe("metadata");
  });

  test("may send one mebibyte, and cannot lead elsewhere", async () => {
    await using web = await listening((request, response) => {
      if (request.url === "/large") response.end(Buffer.alloc(maxOtherBytes + 1));
      else response.writeHead(302, { location: "http://private.example/" }).end();
    });
    const { guarded, asked } = opened([`http://own.example:${web.port}`], ["127.0.0.1"]);
    await using _ = guarded;
    const at = (host: string, path: string) => guarded.fetch(`http://${host}:${web.port}${path}`);
    await expect((await at("other.example", "/large")).text()).rejects.toThrow(/larger than/);
    expect(await (await at("own.example", "/large")).text()).toHaveLength(maxOtherBytes + 1);
    expect((await at("other.example", "/")).status).toBe(302);
    expect(new Set(asked)).toEqual(new Set(["other.example", "own.example"]));
  });
});

test.each(["http://tracker.example:8500/", "http://tracker.example/"])(
  "another port or scheme of a configured host is named by its server only: %s",
  async (url) => {
    const { guarded, problemOf } = opened(["https://tracker.example"]);
    await using _ = guarded;
    expect(await problemOf(url)).toMatch(/not permitted/);
  },
);

test("a host that the operator configured may be in a private network", async () => {
  const { guarded, problemOf } = opened(["http://10.1.2.3", "http://private.example"]);
  await using _ = guarded;
  for (const url of ["http://10.1.2.3/", "http://private.example/"]) {
    // Nothing answers there.
    expect(await problemOf(url, AbortSignal.timeout(100))).not.toMatch(/not permitted/);
  }
});
