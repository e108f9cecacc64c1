import { create } from "@bufbuild/protobuf";
import { BoundContentSchema } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { plainStyle } from "../../../test/support/memory-terminal.ts";
import { renderBoundContent } from "./bound-content.ts";

test("shows each file, and the difference to what was approved before", () => {
  const sha256 = "ab".repeat(32);
  const content = create(BoundContentSchema, {
    files: [
      { path: "bash", state: "absent" },
      { path: "a.md", state: "file", sizeBytes: 5n, sha256, preview: "one\ntwo" },
      {
        path: "b.md",
        state: "file",
        sizeBytes: 3n,
        sha256,
        preview: "new",
        previous: { preview: "old\u001b" },
      },
      { path: "out", state: "folder" },
    ],
  });
  const lines = renderBoundContent(content, plainStyle, 60);
  expect(lines.map((line) => line.trim())).toEqual([
    "a.md: 5 bytes, sha256 abababababab",
    "one",
    "two",
    "b.md: 3 bytes, sha256 abababababab, changed since the approval",
    expect.stringMatching(/^- old/),
    "+ new",
    "out: folder",
  ]);
  expect(lines.join("")).not.toContain("\u001b");
});
