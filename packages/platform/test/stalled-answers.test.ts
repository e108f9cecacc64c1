import { once } from "node:events";
import { createServer, get, request as http1Request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { HandlerContext } from "@connectrpc/connect";
import { RunService } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { endStalled } from "../src/rpc/http/end-stalled.ts";
import type { PlainRoute } from "../src/rpc/plain/plain-route.ts";
import { served } from "./support/served.ts";

const method = "/reeve.run.v1.RunService/WatchRun";
const plain = "/v1/runs/run_abcdefgh/events";
const plainRoutes: readonly PlainRoute[] = [
  {
    verb: "GET",
    path: "/v1/runs/{run_id}/events",
    method: RunService.method.watchRun,
    events: {
      resume: () => ({}),
      render: (message) => `data: ${JSON.stringify(message)}\n\n`,
      isOver: () => false,
    },
  },
];
const request = Buffer.from('{"runId":"run_abcdefgh"}');

function envelope(content: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}

type Request = readonly [path: string, headers: Record<string, string>, body?: Buffer];

/** Sends a request over HTTP/1.1 of whose answer nothing is read. */
function overHttp1(url: string, [path, headers, body]: Request, opened: DisposableStack): void {
  const options = { method: body === undefined ? "GET" : "POST", headers, agent: false };
  const sent = opened.adopt(http1Request(`${url}${path}`, options), (each) => each.destroy());
  sent.on("error", () => undefined);
  sent.on("response", (answer) => answer.on("error", () => undefined));
  sent.end(body);
}

/** The same over HTTP/2: the client's window of the stream fills. */
function overHttp2(url: string, [path, headers, body]: Request, opened: DisposableStack): void {
  const session = opened.adopt(connectHttp2(url), (open) => open.destroy());
  session.on("error", () => undefined);
  const verb = body === undefined ? "GET" : "POST";
  const stream = session.request({ ":method": verb, ":path": path, ...headers });
  stream.on("error", () => undefined);
  stream.end(body);
}

test.each<[string, Request, typeof overHttp1]>([
  [
    "gRPC",
    [method, { "content-type": "application/grpc+json", te: "trailers" }, envelope(request)],
    overHttp2,
  ],
  [
    "Connect over HTTP/2",
    [method, { "content-type": "application/connect+json" }, envelope(request)],
    overHttp2,
  ],
  [
    "Connect over HTTP/1.1",
    [method, { "content-type": "application/connect+json" }, envelope(request)],
    overHttp1,
  ],
  ["server-sent events", [plain, {}], overHttp1],
  ["lines of JSON", [plain, { accept: "application/x-ndjson" }], overHttp1],
  ["lines of JSON over HTTP/2", [plain, { accept: "application/x-ndjson" }], overHttp2],
])("an endless stream of which the client reads nothing is ended: %s", async (_, sent, send) => {
  const ended = Promise.withResolvers<void>();
  const words = "x".repeat(64 * 1024);
  await using bench = await served(
    {
      async *watchRun(_request, { signal }: HandlerContext) {
        try {
          // Only the end of the answer ends this: the sockets hold some megabytes.
          for (let sequence = 1; !signal.aborted; sequence++) {
            yield {
              events: [{ sequence, event: { case: "text" as const, value: { text: words } } }],
            };
          }
        } finally {
          ended.resolve();
        }
      },
    },
    { plainRoutes, limits: { answerStallMs: 300 } },
  );
  using opened = new DisposableStack();
  send(bench.server.url, sent, opened);
  await expect(ended.promise).resolves.toBeUndefined();
});

test("an answer that waits for the server is not ended", async () => {
  const handler = endStalled((_, response) => {
    response.once("timeout", () => response.end("late"));
  }, 1);
  await using server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens has an address and a port.
  const { port } = server.address() as AddressInfo;
  const [answer] = await once(get({ port, host: "127.0.0.1", agent: false }), "response");
  expect(await text(answer)).toBe("late");
});
