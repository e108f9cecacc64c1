import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readDiscovery, secureUrl } from "../src/oidc/discovery.ts";

const never = new AbortController().signal;
/** Each path is the address of a provider with this answer. */
const answers: Readonly<Record<string, (response: ServerResponse, issuer: string) => void>> = {
  good: (response, issuer) => response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` })),
  other: (response) => response.end(JSON.stringify({ issuer: "https://evil.example" })),
  insecure: (response, issuer) =>
    response.end(JSON.stringify({ issuer, jwks_uri: "http://evil.example/jwks" })),
  page: (response) => response.end("<html></html>"),
  missing: (response) => response.writeHead(404).end("{}"),
  redirect: (response) => response.writeHead(302, { location: "/good" }).end(),
  large: (response) => response.end(`"${"x".repeat(1024 * 1024)}"`),
  broken: (response) => response.destroy(),
};
let url = "";
const server = createServer((request, response) => {
  const [, name = ""] = (request.url ?? "").split("/");
  answers[name]?.(response, `${url}/${name}`);
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server has an address and a port.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test("a provider says where its keys are", async () => {
  const issuer = `${url}/good`;
  expect(await readDiscovery(issuer, never)).toEqual({ issuer, jwks_uri: `${issuer}/jwks` });
});

test.each([
  ["other", "precondition", /is about the issuer https:\/\/evil\.example/],
  ["insecure", "precondition", /jwks_uri/],
  ["page", "unavailable", /is not JSON/],
  ["missing", "unavailable", /answers with status 404/],
  ["redirect", "unavailable", /gives no usable answer/],
  ["large", "unavailable", /larger than 1048576 bytes/],
  ["broken", "unavailable", /gives no usable answer/],
])("a provider whose answer is %s is refused", async (name, kind, message) => {
  await expect(readDiscovery(`${url}/${name}`, never)).rejects.toMatchObject({
    kind,
    message: expect.stringMatching(message) as string,
  });
});

test("addresses that others on the network can answer for are refused", () => {
  const accepted = ["https://login.example", "http://127.0.0.1:1/x", "http://[::1]:1"];
  const refused = ["http://login.example", "http://127.0.0.1.evil.example", "file:///etc", "x"];
  expect([...accepted, ...refused].filter((each) => secureUrl.safeParse(each).success)).toEqual(
    accepted,
  );
});
