import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http2";
import { connect } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { ErrorReason } from "@reeve/contracts/error";
import { describe, expect, test } from "vitest";
import { Failure } from "../src/failure.ts";
import { failureFrom } from "../src/rpc/connect-failure.ts";
import { served } from "./support/served.ts";

const path = "/reeve.run.v1.RunService/GetRun";
/** The size of metadata that gRPC clients accept by default. Each entry counts 32 bytes more than its name and value. */
const acceptedByGrpc = 8 * 1024;
/** The envelope of a request for a run with the id "r". */
const request = Buffer.from([0, 0, 0, 0, 3, 0x0a, 1, 0x72]);
/** A text of a client, and how much of it there is. */
const texts = [
  ["short", "spec.hitl_tools"],
  ["ASCII", 'a "b" '.repeat(100)],
  ["wide", "漢".repeat(400)],
  ["control characters", "\u0001".repeat(400)],
  ["half of a surrogate pair", "\ud83d".repeat(400)],
] as const;

/** Where a request is refused: before its body is read, or by its method. */
const places = ["gate", "method"] as const;

/** Serves a method that is refused with an error which has too many parts. */
function refusing(text: string, place: (typeof places)[number] = "method") {
  const violations = Array.from({ length: 500 }, (_, index) => ({
    field: `${text}[${index}]`,
    description: `the agent does not have the tool "${text}"`,
    reason: "UNKNOWN_TOOL",
  }));
  const getRun = () => {
    throw new Failure("invalid", ErrorReason.INVALID_AGENT, `not valid: ${text.repeat(50)}`, {
      violations,
      metadata: { agent_id: text },
    });
  };
  return served({ getRun }, place === "gate" ? { authenticate: getRun } : {});
}

describe.each(texts)("an error with texts that are %s", (_, text) => {
  test.each(places)("from the %s fits into the metadata of a gRPC client", async (place) => {
    await using bench = await refusing(text, place);
    const session = connect(bench.server.url);
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
    });
    stream.end(request);
    const [answer] = (await once(stream, "response")) as [IncomingHttpHeaders];
    const trailers = Promise.race([once(stream, "trailers"), once(stream, "close")]);
    stream.resume();
    const [trailer] = (await trailers) as [IncomingHttpHeaders | undefined];
    session.destroy();
    const received = Object.entries({ ...answer, ...trailer }).map(
      ([name, value]): [string, string] => [name, String(value)],
    );
    const size = received.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
    expect(size).toBeLessThanOrEqual(acceptedByGrpc);
    const error = findTrailerError(
      new Headers(received.filter(([name]) => name.startsWith("grpc-"))),
    );
    const failure = failureFrom(error);
    expect(failure).toMatchObject({ kind: "invalid", reason: ErrorReason.INVALID_AGENT });
    expect(failure.violations.length).toBeGreaterThan(0);
  });

  test.each(["application/json", "application/grpc-web+proto"])(
    "has at most 64 KiB in an answer to %s",
    async (type) => {
      await using bench = await refusing(text);
      const body = type === "application/json" ? '{"runId":"r"}' : request;
      const response = await fetch(`${bench.server.url}${path}`, {
        method: "POST",
        headers: { "content-type": type },
        body,
      });
      const answer = await response.arrayBuffer();
      expect(answer.byteLength).toBeLessThanOrEqual(64 * 1024);
      expect(answer.byteLength).toBeGreaterThan(2_000);
    },
  );
});

test("an answer that cannot be encoded ends the request, and is logged", async () => {
  await using bench = await served({
    getRun() {
      throw new ConnectError("half of a pair: \ud83d", Code.Unimplemented);
    },
  });
  const session = connect(bench.server.url);
  const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc" };
  const stream = session.request(headers).on("error", () => undefined);
  const closed = new Promise((resolve) => stream.once("close", resolve));
  stream.end(request);
  stream.resume();
  await closed;
  session.destroy();
  expect(bench.logged.join("")).toContain("an answer could not be sent");
});
