import { create } from "@bufbuild/protobuf";
import { ExecutionTreeSchema } from "@reeve/contracts/thread";
import { expect, test } from "vitest";
import { plainStyle } from "../../test/support/memory-terminal.ts";
import { renderTree } from "./tree.ts";

const options = { style: plainStyle, columns: 80 };

test("renders children below their parents, with their subject and their result", () => {
  const tree = create(ExecutionTreeSchema, {
    version: 1,
    nodes: [
      { id: "a", name: "run_subtask", title: "Look into it", durationMs: 1_500 },
      { id: "b", name: "search", argsPreview: '{"q":"x"}', argsEdited: true, unfinished: true },
      {
        id: "c",
        parentId: "a",
        name: "read_file",
        argsPreview: "{}",
        permission: { behavior: 3, rule: "read_file(*.key)", source: "agent" },
        isError: true,
        resultPreview: "a rule of the agent denies this call",
        durationMs: 4,
      },
    ],
  });
  expect(renderTree(tree, options)).toBe(
    [
      "✓ run_subtask Look into it 1.5 s",
      "  ✗ read_file {} [denied by read_file(*.key) (agent)] 4 ms",
      "      a rule of the agent denies this call",
      '… search {"q":"x"} (edited) unfinished',
      "",
    ].join("\n"),
  );
});

test("shows no duration of a call that was never made", () => {
  const resultPreview = "a person rejected this call: not today";
  const rejected = { id: "a", name: "publish", isError: true, resultPreview };
  const tree = create(ExecutionTreeSchema, { nodes: [rejected] });
  expect(renderTree(tree, options)).toBe(`✗ publish\n    ${resultPreview}\n`);
});

test("text of a model cannot control the terminal", () => {
  const tree = create(ExecutionTreeSchema, {
    nodes: [{ id: "a", name: "x\u001b[2J", title: "y\nz\u0007" }],
  });
  const shown = renderTree(tree, options);
  for (const control of ["\u001b", "\u0007", "y\nz"]) expect(shown).not.toContain(control);
});
