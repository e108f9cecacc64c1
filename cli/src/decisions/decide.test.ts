import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ReeveError } from "@reeve/client";
import { Code, ConnectError } from "@connectrpc/connect";
import { ApprovalSchema } from "@reeve/contracts/approval";
import { BadRequestSchema } from "@reeve/contracts/error-details";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { describe, expect, test } from "vitest";
import { MemoryTerminal } from "../../test/support/memory-terminal.ts";
import { decide } from "./decide.ts";

const callDigest = "d".repeat(64);
const held = {
  approvalId: "a",
  callDigest,
  call: { callId: "c", name: "send", arguments: { to: "ann", text: "line\n\u202eevil" } },
};
/** An editor that writes other text, as `sed --in-place` does. */
const bob = { EDITOR: "sed --in-place s/ann/bob/" };

interface Person {
  readonly answers: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  /** What the server says to each decision, in order. Undefined: it accepts. */
  readonly refusals?: readonly (ReeveError | undefined)[];
}

async function asked(
  approval: MessageInitShape<typeof ApprovalSchema>,
  { answers, environment = {}, refusals = [] }: Person,
) {
  const terminal = new MemoryTerminal({ answers });
  const sent: unknown[] = [];
  const { signal } = new AbortController();
  await decide(
    { terminal, signal, environment, reeve: "reeve" },
    {
      answer: () => Promise.reject(new Error("this is no question of an agent")),
      decide: (decision) => {
        const refusal = refusals[sent.length];
        sent.push(decision);
        return refusal ? Promise.reject(refusal) : Promise.resolve(create(ApprovalSchema));
      },
    },
    create(ApprovalSchema, approval),
    "ask",
    neverAborts,
  );
  return { sent, stdout: terminal.stdout, stderr: terminal.stderr };
}

describe("a person at a terminal", () => {
  test("sees the whole arguments, and nothing in them controls the terminal", async () => {
    const { sent, stdout } = await asked(held, { answers: ["", "perhaps", "Y"] });
    expect(stdout).toContain(
      '    arguments:\n      {\n        "to": "ann",\n        "text": "line\\n\\u202eevil"\n      }\n',
    );
    expect(stdout.match(/approve\? \[y\]es\/\[n\]o /g)).toHaveLength(3);
    expect(sent).toEqual([{ approvalId: "a", callDigest, approved: true }]);
  });

  test("is told why an answer is no decision", async () => {
    const { stdout } = await asked(held, { answers: ["maybe", "e", "y"] });
    expect(stdout).toContain("please answer [y]es/[n]o\n");
    expect(stdout).toContain("the agent does not permit edited arguments");
  });

  test.each(["", "not today"])("rejects a call, with the reason %j", async (reason) => {
    const { sent, stdout } = await asked(held, { answers: ["n", `${reason} `] });
    expect(stdout).toContain("reason (Enter for none): ");
    expect(sent).toEqual([{ approvalId: "a", callDigest, approved: false, reason }]);
  });

  test("leaves a call undecided when the input ends before the reason", async () => {
    const { sent } = await asked(held, { answers: ["n"] });
    expect(sent).toEqual([]);
  });

  test("approves a call with the arguments that the editor leaves", async () => {
    const editable = { ...held, allowEditedArguments: true };
    const { sent, stdout } = await asked(editable, { answers: ["e", "yes"], environment: bob });
    expect(stdout).toContain("[y]es/[n]o/[e]dit");
    expect(stdout).toContain('"to": "bob"');
    const editedArguments = { to: "bob", text: "line\n\u202eevil" };
    expect(sent).toEqual([{ approvalId: "a", callDigest, approved: true, editedArguments }]);
  });

  test("keeps the arguments when the editor leaves none", async () => {
    const editable = { ...held, allowEditedArguments: true };
    const environment = { EDITOR: "truncate --size 0" };
    const { sent, stdout } = await asked(editable, { answers: ["e", "y"], environment });
    expect(stdout).toContain("that is not a JSON object; nothing is changed");
    expect(sent).toEqual([{ approvalId: "a", callDigest, approved: true }]);
  });

  test("is asked again when the editor ends with an error", async () => {
    const editable = { ...held, allowEditedArguments: true };
    const environment = { EDITOR: "false" };
    const { sent, stderr } = await asked(editable, { answers: ["e", "y"], environment });
    expect(stderr).toContain("the editor `false` failed");
    expect(sent).toEqual([{ approvalId: "a", callDigest, approved: true }]);
  });

  test("is told what to do without an editor", async () => {
    const editable = { ...held, allowEditedArguments: true };
    const { sent, stdout } = await asked(editable, { answers: ["e"] });
    expect(stdout).toContain("set EDITOR, or run in another terminal:\n");
    expect(stdout).toContain("reeve approve a --args '{…}'");
    expect(sent).toEqual([]);
  });

  test("cannot edit arguments unless the agent permits it", async () => {
    const { sent, stdout } = await asked(held, { answers: ["e", "y"], environment: bob });
    expect(stdout).not.toContain("[e]dit");
    expect(sent).toEqual([{ approvalId: "a", callDigest, approved: true }]);
  });

  test("answers the question of a tool", async () => {
    const schema = { properties: { to: { default: "ann" }, cc: {} } };
    const question = { message: "to whom?", schema };
    const { sent, stdout } = await asked(
      { approvalId: "a", question },
      { answers: ["e", "y"], environment: bob },
    );
    expect(stdout).toContain("answer? [y]es/[n]o/[e]dit");
    const answer = { to: "bob", cc: null };
    expect(sent).toEqual([{ approvalId: "a", callDigest: "", approved: true, answer }]);
  });

  test("reads the whole question of a tool", async () => {
    const question = { message: `to whom? ${"word ".repeat(100)}end` };
    const { stdout } = await asked({ approvalId: "a", question }, { answers: ["y"] });
    expect(stdout).toContain(question.message);
  });

  test("is asked again when the server does not answer", async () => {
    const refusal = ReeveError.from(new ConnectError("no leader", Code.Unavailable));
    const { sent, stderr } = await asked(held, { answers: ["y", "y"], refusals: [refusal] });
    expect(stderr).toContain("no leader");
    expect(sent).toHaveLength(2);
  });

  test("is asked again when the server refuses the arguments", async () => {
    const fieldViolations = [{ field: "edited_arguments.to", description: "must be a name" }];
    const details = [{ desc: BadRequestSchema, value: { fieldViolations } }];
    const refusal = ReeveError.from(
      new ConnectError("invalid", Code.InvalidArgument, undefined, details),
    );
    const person = { answers: ["y", "n", ""], refusals: [refusal] };
    const { sent, stderr } = await asked(held, person);
    expect(stderr).toContain("must be a name");
    expect(sent).toHaveLength(2);
  });
});
