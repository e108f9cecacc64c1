import { expect, test } from "vitest";
import type { Fact } from "../domain/state/fact.ts";
import { fact, rootScope, textPart } from "../domain/state/fact.ts";
import { Outbox } from "./outbox.ts";

const result = (content: string): Fact =>
  fact(rootScope, { case: "toolResult", value: { result: { callId: "c", content } } });

test("adjacent text of one effect becomes one event", () => {
  const outbox = new Outbox();
  outbox.add("a", [textPart(rootScope, "text", "one ")]);
  outbox.add("a", [textPart(rootScope, "text", "two")]);
  outbox.add("b", [textPart(rootScope, "text", "other")]);
  expect(outbox.take().map(({ facts }) => facts.map(({ event }) => event.value))).toEqual([
    [{ text: "one two" }],
    [{ text: "other" }],
  ]);
});

test("large results are taken in several batches, in their order", () => {
  const outbox = new Outbox();
  for (let index = 0; index < 4; index++) outbox.add(`${index}`, [result("x".repeat(200_000))]);
  const batches: number[] = [];
  while (!outbox.isEmpty) batches.push(outbox.take().length);
  expect(batches).toEqual([2, 2]);
});

test("facts that were added together are taken together, however large they are", () => {
  const outbox = new Outbox();
  outbox.add("a", [result("small")]);
  outbox.add("b", [result("x".repeat(400_000)), result("x".repeat(300_000)), result("end")]);
  outbox.add("c", [result("small")]);
  const batches: number[] = [];
  while (!outbox.isEmpty) batches.push(outbox.take().flatMap(({ facts }) => facts).length);
  expect(batches).toEqual([1, 3, 1]);
});

test("facts whose append was lost are first in the next batch", () => {
  const outbox = new Outbox();
  outbox.add("a", [result("first")]);
  const taken = outbox.take();
  outbox.add("b", [result("second")]);
  outbox.putBack(taken);
  expect(outbox.take().map(({ effectId }) => effectId)).toEqual(["a", "b"]);
});
