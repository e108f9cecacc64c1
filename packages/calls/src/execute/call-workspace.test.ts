import { create } from "@bufbuild/protobuf";
import { FileChangeSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import type { Losses } from "../ports/losses.ts";
import type { OpenWorkspace } from "../ports/workspaces.ts";
import { CallWorkspace } from "./call-workspace.ts";
import { key, never, request } from "../../test/support/call-bench.ts";

const own = create(FileChangeSchema, { callId: key.call, tool: "tell", host: "a", revision: 1 });
const other = create(FileChangeSchema, { ...own, callId: "call-other" });

/** What the result of a call says of losses. */
async function told(losses: Losses) {
  const open: OpenWorkspace = {
    sandbox: { isolation: "memory", exec: () => nothing() },
    revision: 0,
    losses,
    told: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await using workspace = new CallWorkspace(request(), { open: () => Promise.resolve(open) });
  await workspace.sandbox(never);
  return workspace.told;
}

async function* nothing() {
  yield* [];
}

test("a call that is made again does not tell that its first attempt is gone", async () => {
  expect(await told({ lost: [own], lostMore: 0, lostSnapshot: false })).toMatchObject({ note: "" });
});

test.each<[string, Losses]>([
  ["another call", { lost: [own, other], lostMore: 0, lostSnapshot: false }],
  ["calls without a name", { lost: [own], lostMore: 2, lostSnapshot: false }],
  ["the snapshot", { lost: [own], lostMore: 0, lostSnapshot: true }],
])("a call that is made again tells what else is gone: %s", async (_, losses) => {
  expect((await told(losses)).note).not.toBe("");
});
