import { create } from "@bufbuild/protobuf";
import { FileChangeSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import type { Losses, OpenWorkspace } from "../ports/workspaces.ts";
import { CallWorkspace } from "./call-workspace.ts";
import { key, never, request } from "../../test/support/call-bench.ts";

const own = create(FileChangeSchema, {
  callId: key.call,
  tool: "write_file",
  host: "a",
  revision: 1,
});
const other = create(FileChangeSchema, { ...own, callId: "call-other" });

/** Returns what the result of a call reports about losses. */
async function usageWith(losses: Losses) {
  const open: OpenWorkspace = {
    sandbox: { isolation: "memory", exec: () => nothing() },
    revision: 0,
    losses,
    markLossesReported: () => undefined,
    holdAlone: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await using workspace = new CallWorkspace(request(), () => undefined, {
    open: () => Promise.resolve(open),
  });
  await workspace.sandbox(never);
  return workspace.usage;
}

async function* nothing() {
  yield* [];
}

test("a call that is executed again does not report the loss of its own first attempt", async () => {
  expect(await usageWith({ lost: [own], lostMore: 0, lostSnapshot: false })).toMatchObject({
    note: "",
  });
});

test.each<[string, Losses]>([
  ["another call", { lost: [own, other], lostMore: 0, lostSnapshot: false }],
  ["calls without a name", { lost: [own], lostMore: 2, lostSnapshot: false }],
  ["the snapshot", { lost: [own], lostMore: 0, lostSnapshot: true }],
])("a call that is executed again reports other losses: %s", async (_, losses) => {
  expect((await usageWith(losses)).note).not.toBe("");
});
