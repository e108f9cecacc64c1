import type { StreamResponse, Task } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import { status as grpcStatus } from "@grpc/grpc-js";
import type { ModelPart, PromptMessage } from "@reeve/engine/ports/model-provider";
import { AnswerNotNeeded } from "@reeve/engine/ports/model-provider";
import { afterEach, describe, expect, test } from "vitest";
import { grpcOriginOf } from "../src/remote-agents/grpc/grpc-origin.ts";
import { GrpcSessions } from "../src/remote-agents/grpc/grpc-sessions.ts";
import { GrpcTransport } from "../src/remote-agents/grpc/grpc-transport.ts";
import { RemoteClients } from "../src/remote-agents/remote-clients.ts";
import { remoteAgentProvider } from "../src/remote-agents/remote-provider.ts";
import { asking, status } from "./support/asking-agent.ts";
import type { GrpcAgentServer } from "./support/grpc-agent-server.ts";
import { startGrpcAgent } from "./support/grpc-agent-server.ts";
import { ask, failureOf, fresh, remoteAt, requestTo, user } from "./support/remote-requests.ts";

type Handlers = NonNullable<NonNullable<Parameters<typeof startGrpcAgent>[1]>["handlers"]>;
type Stream = Parameters<NonNullable<Handlers["sendStreamingMessage"]>>[0];

let resources = new AsyncDisposableStack();

afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
});

const start = async (...given: Parameters<typeof startGrpcAgent>) =>
  resources.use(await startGrpcAgent(...given));
const remoteOf = ({ url, address }: GrpcAgentServer) =>
  remoteAt(url, { grpcOrigins: [`http://${address}`], token: "secret" });
const taskIn = (parts: readonly ModelPart[]) => parts.find((part) => part.kind === "remote_task");
const turnIn = (parts: readonly ModelPart[]) => parts.find((part) => part.kind === "turn")?.turn;

// Requirement: RES-3
describe.each([true, false])("an agent of the A2A project over gRPC (streams: %s)", (streams) => {
  test("asks a person, and answers in the same task, with the credential and the tenant of its card", async () => {
    const server = await start(asking, { streams });
    const remotes = [remoteOf(server)];
    const first = await ask(remotes, requestTo(server.url, [user("paint")]));
    const turn = turnIn(first);
    expect(turn?.calls).toMatchObject([{ name: "ask_user" }]);
    const { taskId = "", contextId = "" } = taskIn(first) ?? {};
    const answered: readonly PromptMessage[] = [
      user("paint"),
      { role: "verbatim", messageJson: turn?.messageJson ?? "", format: "a2a" },
      {
        role: "tool",
        providerCallId: taskId,
        name: "ask_user",
        content: `{"answer":"green"}`,
        isError: false,
      },
    ];
    const remote = { ...fresh, messageId: "m-2", taskId, contextId };
    const second = await ask(remotes, requestTo(server.url, answered, remote));
    expect(second).toContainEqual({ kind: "text", text: "It is green." });
    const [call] = server.received;
    expect(call?.metadata.get("authorization")).toEqual(["Bearer secret"]);
    expect(call?.metadata.get("a2a-version")).toEqual(["1.0"]);
    expect(call?.request.tenant).toBe("painter");
  });
});

const working: Task = {
  id: "t",
  contextId: "c",
  status: status(TaskState.TASK_STATE_WORKING),
  artifacts: [],
  history: [],
  metadata: undefined,
};
const event = (task: Task): StreamResponse => ({ payload: { $case: "task", value: task } });
const saying = (text: string): Task => {
  const content = { $case: "text", value: text } as const;
  const parts = [{ content, metadata: undefined, filename: "", mediaType: "" }];
  const artifact = { artifactId: "a", name: "", description: "", parts };
  return { ...working, artifacts: [{ ...artifact, metadata: undefined, extensions: [] }] };
};
const streaming = (act: (stream: Stream) => void): { handlers: Handlers } => ({
  handlers: { sendStreamingMessage: act },
});

// Requirement: RES-3
describe("an agent that misbehaves over gRPC gives a failure by name", () => {
  test.each<readonly [string, (stream: Stream) => void, string, boolean]>([
    [
      "no permission",
      (stream) => void stream.emit("error", { code: grpcStatus.PERMISSION_DENIED, details: "no" }),
      "no (PermissionDenied)",
      false,
    ],
    [
      "a message of 5 MiB",
      (stream) => void stream.write(event(saying("x".repeat(5 * 1024 * 1024)))),
      "a message that is too large",
      false,
    ],
    [
      "a message of 600,000 values",
      (stream) => {
        const metadata = { values: Array.from({ length: 600_000 }, () => null) };
        stream.write(event({ ...working, metadata }));
      },
      "a message that is too large",
      false,
    ],
    [
      "a connection that is lost",
      (stream) => {
        stream.write(event(working));
        stream.emit("error", { code: grpcStatus.UNAVAILABLE, details: "gone" });
      },
      "gone (Unavailable)",
      true,
    ],
    [
      "a method that it does not have",
      (stream) => void stream.emit("error", { code: grpcStatus.UNIMPLEMENTED, details: "none" }),
      "none",
      false,
    ],
  ])("%s", async (_, act, message, retryable) => {
    const server = await start(asking, streaming(act));
    const failure = await failureOf(ask([remoteOf(server)], requestTo(server.url, [user("x")])));
    expect(failure.message).toContain(message);
    expect(failure.retryable).toBe(retryable);
  });

  test("work that outlasts the time of the run, whose call ends", async () => {
    const cancelled = Promise.withResolvers<void>();
    const server = await start(
      asking,
      streaming((stream) => {
        stream.write(event(working));
        stream.on("cancelled", () => cancelled.resolve());
      }),
    );
    const request = requestTo(server.url, [user("x")], { ...fresh, maxMs: 300 });
    const failure = await failureOf(ask([remoteOf(server)], request));
    expect(failure.message).toContain("did not end its work within 300 ms");
    await cancelled.promise;
  });

  test("a connection that ends with an error while the next call opens another one", async () => {
    const server = await start(asking);
    using sessions = new GrpcSessions({ allowedAddresses: ["127.0.0.0/8"] });
    const session = sessions.sessionOf(`http://${server.address}`);
    const open = async () => {
      const stream = await session.request("POST", "/", {}, {});
      stream.on("error", () => undefined);
      return stream;
    };
    const first = await open();
    const closed = Promise.withResolvers<void>();
    first.session?.once("close", closed.resolve);
    first.session?.destroy(new Error("no answer to a ping"));
    const next = await open();
    await closed.promise;
    expect(next.session === first.session).toBe(false);
  });

  test("a name that resolves to this host", async () => {
    using sessions = new GrpcSessions({ allowedAddresses: [] });
    const transport = new GrpcTransport(sessions.sessionOf("http://localhost:9"), undefined);
    const read = transport.getTask({ tenant: "", id: "t", historyLength: undefined });
    await expect(read).rejects.toThrow("which is not permitted");
  });

  test.each(["169.254.169.254:80", "http://169.254.169.254", "dns:///agents.example:443", ""])(
    "a card that offers %s",
    async (address) => {
      const server = await start(asking, { address });
      const failure = await failureOf(ask([remoteOf(server)], requestTo(server.url, [user("x")])));
      expect(failure.message).toContain("does not permit; add its host and port to grpc");
      const permitted = remoteAt(server.url, { grpcOrigins: ["http://169.254.169.254"] });
      const again = await failureOf(ask([permitted], requestTo(server.url, [user("x")])));
      expect(again.reason).toBe("refused");
    },
  );
});

test("a stream of more than 32 MiB ends, and its task is read", async () => {
  const done = { ...working, status: status(TaskState.TASK_STATE_COMPLETED) };
  const server = await start(asking, {
    handlers: {
      sendStreamingMessage(stream) {
        const task = { ...working, metadata: { said: "x".repeat(4_000_000) } };
        for (let count = 0; count < 9; count++) stream.write(event(task));
      },
      getTask: (_call, callback) => callback(null, done),
    },
  });
  const parts = await ask([remoteOf(server)], requestTo(server.url, [user("x")]));
  expect(turnIn(parts)?.finishReason).toBe("stop");
});

test("a task whose message is too large is read instead", async () => {
  const done = { ...working, status: status(TaskState.TASK_STATE_COMPLETED) };
  const server = await start(asking, {
    handlers: {
      sendStreamingMessage(stream) {
        stream.write(event(working));
        stream.write(event(saying("x".repeat(5 * 1024 * 1024))));
      },
      getTask: (_call, callback) => callback(null, { ...saying("short"), status: done.status }),
    },
  });
  const parts = await ask([remoteOf(server)], requestTo(server.url, [user("x")]));
  expect(parts).toContainEqual({ kind: "text", text: "short" });
});

test("a run that is cancelled before the agent names its task cancels the task", async () => {
  const stop = new AbortController();
  const reason = new AnswerNotNeeded();
  const canceled = Promise.withResolvers<string>();
  const server = await start(asking, {
    handlers: {
      sendStreamingMessage(stream) {
        stop.abort(reason);
        stream.write(event(working));
      },
      cancelTask({ request }, callback) {
        canceled.resolve(request.id);
        callback(null, working);
      },
    },
  });
  const clients = resources.use(new RemoteClients([remoteOf(server)], () => 0));
  const request = requestTo(server.url, [user("paint")]);
  const answer = Array.fromAsync(remoteAgentProvider(clients).stream(request, stop.signal));
  await expect(answer).rejects.toBe(reason);
  expect(await canceled.promise).toBe("t");
});

test.each([
  ["agents.example:443", "https://agents.example"],
  ["agents.example", "https://agents.example"],
  ["AGENTS.example:0443", "https://agents.example"],
  ["https://agents.example/", "https://agents.example"],
  ["http://agents.example:443", undefined],
  ["agents.example:8443", undefined],
  ["agents.example:50051", "http://agents.example:50051"],
  ["user@agents.example:443", undefined],
  ["agents.example:443/other", undefined],
  ["[::1]:50051", "http://[::1]:50051"],
])("the gRPC address %s is called at %s", (address, origin) => {
  const grpcOrigins = [
    "https://agents.example",
    "http://agents.example:50051",
    "http://[::1]:50051",
  ];
  expect(grpcOriginOf({ grpcOrigins }, address)).toBe(origin);
});
