import { create } from "@bufbuild/protobuf";
import { ThreadMessageSchema } from "@reeve/contracts/thread";
import { expect, test } from "vitest";
import { placeTurns } from "./place-turns.ts";

const messagesOf = (...runIds: readonly string[]) =>
  runIds.map((runId) => create(ThreadMessageSchema, { runId }));

const placed = (...args: Parameters<typeof placeTurns>) =>
  placeTurns(...args).map(({ key }) => key);

test("a turn that was watched keeps its place and its key when its messages are stored", () => {
  expect(placed(messagesOf("run_1", "run_1"), ["run_2"])).toEqual(["0", "1", "run_2"]);
  const later = messagesOf("run_1", "run_1", "run_2", "run_2", "run_3");
  expect(placed(later, ["run_2"])).toEqual(["0", "1", "run_2", "4"]);
});

test("a turn whose messages are not stored yet follows those that are", () => {
  expect(placed(messagesOf("run_1"), ["run_1", "run_2"])).toEqual(["run_1", "run_2"]);
});
