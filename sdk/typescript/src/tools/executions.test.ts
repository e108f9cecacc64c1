import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { AnswerToolCallRequest } from "#contracts/tool";
import { AnswerToolCallRequestSchema, OfferedCallSchema } from "#contracts/tool";
import { ErrorInfoSchema } from "#contracts/error-details";
import { expect, test } from "vitest";
import type { ClientTool } from "./client-tool.ts";
import { Executions } from "./executions.ts";

const call = (callId = "c1") =>
  create(OfferedCallSchema, {
    runId: "r",
    callId,
    name: "count",
    deadline: timestampFromMs(Date.now() + 60_000),
  });

const refused = (code: Code, reason: string) =>
  new ConnectError("no", code, undefined, [{ desc: ErrorInfoSchema, value: { reason } }]);

/** A client whose answers get the given outcomes; the later ones are acknowledged. */
function client(execute: ClientTool["execute"], outcomes: readonly ConnectError[] = []) {
  const left = [...outcomes];
  const sent: AnswerToolCallRequest["answer"][] = [];
  const waiting: (() => void)[] = [];
  const answerToolCall = (request: object) => {
    sent.push(create(AnswerToolCallRequestSchema, request).answer);
    for (const each of waiting.splice(0)) each();
    const error = left.shift();
    return error === undefined ? Promise.resolve({}) : Promise.reject(error);
  };
  const services = { clientTools: { answerToolCall } };
  const repeatable = (request: (services: never, call: never) => unknown) =>
    request(services as never, {} as never);
  const executions = new Executions(
    { repeatable } as ConstructorParameters<typeof Executions>[0],
    [{ name: "count", description: "", execute }],
    "page",
  );
  const until = async (count: number) => {
    while (sent.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    return sent;
  };
  return { executions, sent, until };
}

const counter = () => {
  let executed = 0;
  return () => `${++executed}`;
};

// Requirement: CHAT-8
test("a call that is delivered again after its answer was acknowledged is not executed again", async () => {
  const { executions, until } = client(counter());
  executions.receive(call());
  await until(1);
  executions.receive(call());
  executions.receive(call("c2"));
  expect(await until(2)).toEqual([
    { case: "text", value: "1" },
    { case: "text", value: "2" },
  ]);
});

test("an answer that the server cannot take is sent until it can", async () => {
  const full = refused(Code.ResourceExhausted, "STORAGE_FULL");
  const { executions, until } = client(counter(), [full]);
  executions.receive(call());
  executions.receive(call());
  expect(await until(2)).toEqual([
    { case: "text", value: "1" },
    { case: "text", value: "1" },
  ]);
});

test("answers that are being sent are waited for at the end, and executions without one are ended", async () => {
  const down = refused(Code.ResourceExhausted, "STORAGE_FULL");
  const { executions, sent, until } = client(
    (_, { callId, signal }) =>
      callId === "c1"
        ? "1"
        : new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    [down],
  );
  executions.receive(call());
  executions.receive(call("c2"));
  await until(1);
  await executions.finish(60_000, undefined);
  expect(sent).toHaveLength(2);
  executions.closeAll();
});

test("answers that cannot be sent are waited for only for some time", async () => {
  const down = Array.from({ length: 9 }, () => refused(Code.ResourceExhausted, "STORAGE_FULL"));
  const { executions, sent, until } = client(counter(), down);
  executions.receive(call());
  await until(1);
  await executions.finish(1, undefined);
  await executions.finish(60_000, AbortSignal.abort());
  executions.closeAll();
  expect(sent).toHaveLength(1);
});

test("the model learns why an answer was refused", async () => {
  const { executions, until } = client(counter(), [refused(Code.InvalidArgument, "INVALID")]);
  executions.receive(call());
  expect((await until(2)).at(-1)).toEqual({ case: "error", value: "no" });
});

test.each([
  [undefined, { case: "text", value: "" }],
  [
    { a: 1, of: undefined, at: new Date(0) },
    { case: "structured", value: { a: 1, at: "1970-01-01T00:00:00.000Z" } },
  ],
  [null, { case: "error", value: "the tool count returned null; return text, or an object" }],
  [7, { case: "error", value: "the tool count returned number; return text, or an object" }],
  [["a"], { case: "error", value: "the tool count returned a list; return text, or an object" }],
])("the result %o is the answer %o", async (result, answer) => {
  const { executions, until } = client(() => result as unknown as string);
  executions.receive(call());
  expect(await until(1)).toEqual([answer]);
});

test("a long failure is cut to the size that the server accepts, at a character", async () => {
  const { executions, until } = client(() => {
    throw new Error(`a${"é".repeat(10_000)}`);
  });
  executions.receive(call());
  const [answer] = await until(1);
  expect(answer).toEqual({ case: "error", value: `a${"é".repeat(8_191)}` });
});
