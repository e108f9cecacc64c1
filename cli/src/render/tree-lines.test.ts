import { create } from "@bufbuild/protobuf";
import { ExecutionTreeSchema } from "@reeve/contracts/thread";
import pc from "picocolors";
import { expect, test } from "vitest";
import { renderTree } from "./tree-lines.ts";

const style = { colours: pc.createColors(false), columns: 80 };

test("a tree shows children below their parents, what they are about and how they ended", () => {
  const tree = create(ExecutionTreeSchema, {
    version: 1,
    nodes: [
      { id: "a", name: "run_subtask", title: "Look into it", durationMs: 1_500 },
      { id: "b", name: "search", argsPreview: '{"q":"x"}', unfinished: true },
      {
        id: "c",
        parentId: "a",
        name: "read_file",
        argsPreview: "{}",
        isError: true,
        durationMs: 4,
      },
    ],
  });
  expect(renderTree(tree, style)).toBe(
    [
      "✓ run_subtask Look into it 1.5 s",
      "  ✗ read_file {} 4 ms",
      '… search {"q":"x"} unfinished',
      "",
    ].join("\n"),
  );
});

test("what a model wrote cannot steer the terminal", () => {
  const tree = create(ExecutionTreeSchema, {
    nodes: [{ id: "a", name: "x\u001b[2J", title: "y\nz\u0007" }],
  });
  const shown = renderTree(tree, style);
  for (const control of ["\u001b", "\u0007", "y\nz"]) expect(shown).not.toContain(control);
});
