import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { RunCreatedSchema } from "../run.ts";
import { workspaceIdOf } from "./workspace-id.ts";

function created(threadId: string, workspaceScope: string) {
  return create(RunCreatedSchema, { threadId, spec: { deepAgent: { workspaceScope } } });
}

test("a run has its own workspace unless its agent shares the thread's", () => {
  expect(workspaceIdOf("run_1", created("sales", ""))).toBe("run_1");
  expect(workspaceIdOf("run_1", created("sales", "run"))).toBe("run_1");
  expect(workspaceIdOf("run_1", created("", "thread"))).toBe("run_1");
  expect(workspaceIdOf("run_1", created("sales", "thread"))).toBe("thread-sales");
  expect(workspaceIdOf("run_1", undefined)).toBe("run_1");
});

test("no thread id can name the workspace of a run", () => {
  expect(workspaceIdOf("run_1", created("run_2", "thread"))).not.toBe("run_2");
});
