import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { Redaction } from "@reeve/platform/telemetry/redaction/redaction";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import { notificationOf, noon, receiverOf } from "../../../test/support/notifications.ts";
import { secretReader } from "../settings/secret-text.ts";
import { httpSender } from "./http-sender.ts";
import { retryAfterMs } from "./retry-after.ts";

const never = new AbortController().signal;
const secrets = ["first", "second"].map(
  (name) => `whsec_${Buffer.from(`${name}-secret-of-32-bytes`.padEnd(32)).toString("base64")}`,
);

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** Sends one notification to a server that answers with `handler`. */
async function send(
  handler: Handler,
  fields: Readonly<Record<string, unknown>> = {},
  timeoutMs = 60_000,
) {
  const server = createServer((request, response) => {
    void text(request).then((body) => handler(request, response, body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const receiver = receiverOf({ url, ...fields });
  if (!("url" in receiver)) throw new Error("not a webhook");
  const sender = httpSender(receiver, {
    publicUrl: "https://reeve.example.com",
    timeoutMs,
    readSecret: secretReader({ SECRET: secrets.join(" ") }, new Redaction()),
    clock: new ManualClock(Date.now()),
  });
  try {
    return await sender.send(notificationOf(), never);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("each of two secrets verifies a message, and neither verifies another body", async () => {
  const outcome = await send(({ headers }, response, body) => {
    for (const secret of secrets) {
      const webhook = new Webhook(secret);
      expect(webhook.verify(body, headers as Record<string, string>)).toMatchObject({
        type: "approval.requested",
      });
      const changed = body.replace("pending", "approved");
      expect(() => webhook.verify(changed, headers as Record<string, string>)).toThrow(
        "No matching signature",
      );
    }
    expect(headers["webhook-id"]).toBe("msg_1");
    response.writeHead(202).end();
  });
  expect(outcome).toEqual({ kind: "delivered" });
});

test("formats of chats have no signature", async () => {
  const outcome = await send(
    ({ headers }, response) => {
      expect(headers).not.toHaveProperty("webhook-signature");
      response.end("ok");
    },
    { format: "slack", secret: undefined },
  );
  expect(outcome).toEqual({ kind: "delivered" });
});

test.each([
  [200, "delivered"],
  [204, "delivered"],
  [302, "refused"],
  [400, "refused"],
  [401, "refused"],
  [404, "refused"],
  [408, "unavailable"],
  [410, "refused"],
  [429, "unavailable"],
  [500, "unavailable"],
  [503, "unavailable"],
])("status %i means %s, and no redirect is followed", async (status, kind) => {
  let requests = 0;
  const outcome = await send((_, response) => {
    requests++;
    response.writeHead(status, { location: "/elsewhere", "retry-after": "7" }).end();
  });
  expect(outcome).toMatchObject(kind === "delivered" ? { kind } : { kind, retryAfterMs: 7_000 });
  expect(requests).toBe(1);
});

test("a receiver that does not answer, or breaks the connection, is unavailable", async () => {
  expect(await send(() => undefined, {}, 200)).toEqual({
    kind: "unavailable",
    problem: "the receiver did not answer within 0.2 seconds",
  });
  expect(await send((_, response) => response.destroy())).toMatchObject({
    kind: "unavailable",
    problem: expect.stringMatching(/^the receiver cannot be reached: \w+$/) as string,
  });
});

test("an endless answer is not read", async () => {
  const outcome = await send((_, response) => {
    response.writeHead(200);
    const write = () => {
      while (response.write("x".repeat(65_536)));
    };
    response.on("drain", write).on("error", () => undefined);
    write();
  });
  expect(outcome).toEqual({ kind: "delivered" });
});

test("problems do not contain a URL that is a secret", async () => {
  const receiver = receiverOf({ format: "slack", url: { environment: "HOOK" }, secret: undefined });
  if (!("url" in receiver)) throw new Error("not a webhook");
  const sender = httpSender(receiver, {
    publicUrl: "https://reeve.example.com",
    timeoutMs: 1_000,
    readSecret: secretReader({ HOOK: "http://127.0.0.1:1/canary-of-the-url" }, new Redaction()),
    clock: new ManualClock(noon),
  });
  const outcome = await sender.send(notificationOf(), never);
  expect(outcome).toMatchObject({ kind: "unavailable" });
  expect(JSON.stringify(outcome)).not.toContain("canary");
});

test("Retry-After is a number of seconds, or a date", () => {
  expect(retryAfterMs("120", noon)).toBe(120_000);
  expect(retryAfterMs(new Date(noon + 30_000).toUTCString(), noon)).toBe(30_000);
  expect(retryAfterMs(new Date(noon - 30_000).toUTCString(), noon)).toBe(0);
  for (const header of [null, "", "soon", "-5"]) expect(retryAfterMs(header, noon)).toBe(0);
});
