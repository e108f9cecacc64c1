import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, onTestFinished, test, vi } from "vitest";
import type { WatchApprovalsResponseSchema } from "#contracts/approval";
import { ApprovalService } from "#contracts/approval";
import type { WatchApprovalsOptions } from "./approval-watch.ts";
import { ApprovalWatch } from "./approval-watch.ts";

type Message = MessageInitShape<typeof WatchApprovalsResponseSchema>;

const message = (resumeToken: string, ...approvalIds: readonly string[]): Message => ({
  approvals: approvalIds.map((approvalId) => ({ approvalId })),
  resumeToken,
});

/** Watches a server that sends one list of messages per connection, then ends the stream, and at last refuses. */
function serving(
  connections: readonly (readonly Message[])[],
  options: WatchApprovalsOptions = {},
) {
  const requested: string[] = [];
  const said: string[] = [];
  const transport = createRouterTransport((router) =>
    router.rpc(ApprovalService.method.watchApprovals, async function* ({ resumeToken, runId }) {
      const messages = connections[requested.length];
      requested.push(`${runId}/${resumeToken}`);
      if (messages === undefined) throw new ConnectError("enough", Code.PermissionDenied);
      yield* messages;
    }),
  );
  const current = { approvals: createClient(ApprovalService, transport) };
  const limits = { idleTimeoutMs: 15_000, reconnectTimeoutMs: 30_000, token: undefined };
  const watch = new ApprovalWatch({ current, replace: () => undefined }, limits, {
    onConnected: (isAnew) => said.push(isAnew ? "anew" : "continued"),
    onConnectionLost: () => said.push("lost"),
    ...options,
  });
  return { watch, requested, said };
}

/** Reads a watch until the server refuses. */
async function readAll({ watch, said }: Pick<ReturnType<typeof serving>, "watch" | "said">) {
  const refused = (async () => {
    for await (const { approvalId } of watch) said.push(approvalId);
  })();
  await expect(refused).rejects.toMatchObject({ code: Code.PermissionDenied });
}

test("continues after the last change that it has received", async () => {
  const served = serving(
    [
      [message(""), message("t1", "a", "b"), message("t2", "c")],
      [message("t2"), message("t3", "a")],
    ],
    { runId: "run_1" },
  );
  await readAll(served);
  expect(served.said).toEqual(["anew", "a", "b", "c", "lost", "continued", "a", "lost"]);
  expect(served.requested).toEqual(["run_1/", "run_1/t2", "run_1/t3"]);
});

test("says that the server began anew, and continues from there", async () => {
  const served = serving([
    [message(""), message("t1", "a")],
    [message(""), message("", "b"), message("u1")],
    [message("u1")],
  ]);
  await readAll(served);
  expect(served.said).toEqual(["anew", "a", "lost", "anew", "b", "lost", "continued", "lost"]);
  expect(served.requested).toEqual(["/", "/t1", "/u1", "/u1"]);
});

test("says that the server began anew with nothing that waits", async () => {
  const served = serving([
    [message(""), message("t1", "a")],
    [message(""), message("u1")],
  ]);
  await readAll(served);
  expect(served.said).toEqual(["anew", "a", "lost", "anew", "lost"]);
  expect(served.requested).toEqual(["/", "/t1", "/u1"]);
});

test("keeps its place over quiet connections to a server whose heartbeats have no token before a change", async () => {
  const served = serving([
    [message(""), message("t1", "a")],
    [message(""), message("")],
    [message(""), message("t2", "b"), message("t2")],
    [],
  ]);
  await readAll(served);
  expect(served.said).toEqual(["anew", "a", "lost", "lost", "continued", "b", "lost", "lost"]);
  expect(served.requested).toEqual(["/", "/t1", "/t1", "/t2", "/t2"]);
});

test("gives up on a server that accepts each stream, and then fails", async () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const failing = Array.from({ length: 50 }, () => [message("")]);
  const { watch, requested } = serving(failing, {
    onConnectionLost: () => void (nowMs += 14_000),
  });
  await expect(Array.fromAsync(watch)).rejects.toMatchObject({ reason: "CONNECTION_LOST" });
  expect(requested).toHaveLength(4);
});

test("a heartbeat starts the reconnect timeout again", async () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const living = Array.from({ length: 6 }, () => [message("t1"), message("t1")]);
  const served = serving(living, {
    resumeToken: "t1",
    onConnectionLost: () => void (nowMs += 14_000),
  });
  await readAll(served);
  expect(served.requested).toHaveLength(7);
});

test("begins anew after a connection that broke before it had everything that waited", async () => {
  const served = serving([[message(""), message("", "a")], [message("")]]);
  await readAll(served);
  expect(served.requested).toEqual(["/", "/", "/"]);
});

test("another watch continues with its token, and repeats the message that was not read to its end", async () => {
  const first = serving([[message(""), message("t1", "a"), message("t2", "b", "c")]]);
  for await (const { approvalId } of first.watch) if (approvalId === "b") break;
  expect(first.watch.resumeToken).toBe("t1");
  const second = serving([[message("t1"), message("t2", "b", "c")]], {
    resumeToken: first.watch.resumeToken,
  });
  await readAll(second);
  expect(second.said).toEqual(["continued", "b", "c", "lost"]);
  expect(second.requested).toEqual(["/t1", "/t2"]);
});
