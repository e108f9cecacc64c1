import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { TurnEndedSchema } from "@reeve/contracts/thread";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { expect, test } from "vitest";
import { turnMessages } from "./thread-messages.ts";
import { turnEnded } from "./turn-ended.ts";

/** Returns what a run leaves to its thread that answers with a text of so many characters as JSON. */
function turnWith(characters: number) {
  const callId = "c1";
  const name = finishSubtaskName;
  const answer = { text: "x".repeat(characters) };
  const inits: NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>[] = [
    { case: "runCreated", value: { input: "go" } },
    { case: "modelCallStarted", value: {} },
    { case: "toolCall", value: { callId, name, arguments: answer } },
    { case: "modelTurn", value: { providerCallIds: [callId] } },
    { case: "toolResult", value: { result: { callId, name, structured: answer } } },
    { case: "status", value: { status: RunStatus.COMPLETED } },
  ];
  const events = inits.map((event, index) =>
    create(RunEventSchema, { sequence: index + 1, event }),
  );
  return create(TurnEndedSchema, turnEnded("run_a", events));
}

test("a typed answer is in the turn as JSON", () => {
  const { output, omittedOutputBytes } = turnWith(100);
  expect(JSON.parse(output)).toEqual({ text: "x".repeat(100) });
  expect(omittedOutputBytes).toBe(0);
});

test("a typed answer that is too large is left out of the turn, which says how large it is", () => {
  const turn = turnWith(200_000);
  expect(turn).toMatchObject({ output: "", omittedOutputBytes: 200_011 });
  const [, answer] = turnMessages(turn, undefined);
  expect(answer).toMatchObject({ text: "", omittedTextBytes: 200_011 });
});

test.each([
  ["invalid", "text"],
  ["unavailable", "file"],
  ["unknown_model", "file"],
  ["no_credit", "file"],
  ["unsupported", "file"],
])("a turn that failed as %s leaves its image as %s", (reason, kind) => {
  const value = { name: "p.png", mediaType: "image/png" };
  const inits: NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>[] = [
    { case: "runCreated", value: { input: "go", parts: [{ part: { case: "file", value } }] } },
    { case: "modelCallStarted", value: {} },
    { case: "modelCallFailed", value: { reason } },
    { case: "status", value: { status: RunStatus.ERROR } },
  ];
  const events = inits.map((event, index) =>
    create(RunEventSchema, { sequence: index + 1, event }),
  );
  const { messages, contentRefused } = create(TurnEndedSchema, turnEnded("run_a", events));
  expect(contentRefused).toBe(kind === "text");
  expect(messages[0]?.message.value).toMatchObject({ parts: [{ part: { case: kind } }] });
});
