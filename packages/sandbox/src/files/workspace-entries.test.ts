import { create } from "@bufbuild/protobuf";
import { ListOperationSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import type { Sandbox } from "../port.ts";
import { never } from "@reeve/calls/test/support/call-bench";
import { listEntries } from "./workspace-entries.ts";

/** A sandbox whose programs write `text` to standard error and exit with `code`. */
function ending(code: number, text: string): Sandbox {
  return {
    isolation: "memory",
    async *exec() {
      yield { kind: "out", stream: "stderr", bytes: Buffer.from(text) };
      yield { kind: "end", reason: "exit", code, durationMs: 1 };
    },
  };
}

const list = create(ListOperationSchema, { most: 10 });

test("a client gets the error message of the program, but not its traceback", async () => {
  const complaining = listEntries(ending(2, "in is not a folder\n"), list, never);
  await expect(complaining).rejects.toThrow("in is not a folder");
  const breaking = listEntries(ending(1, "Traceback: /srv/agent.py\n"), list, never);
  await expect(breaking).rejects.toThrow(
    /^cannot read the files of the workspace \(exit code 1\); try again$/,
  );
});
