import { ErrorReason } from "@reeve/contracts/error";
import { expect, test } from "vitest";
import { Failure } from "../failure.ts";
import { patiently } from "./patiently.ts";

const never = new AbortController().signal;
const away = () => new Failure("unavailable", ErrorReason.UNAVAILABLE, "away");

/** A question that is answered after `failures` attempts. */
function answeredAfter(failures: number, failure: () => Error) {
  let asked = 0;
  return {
    ask: () => (++asked > failures ? Promise.resolve("answer") : Promise.reject(failure())),
    asked: () => asked,
  };
}

test("a store that is away is asked until it answers", async () => {
  const { ask, asked } = answeredAfter(3, away);
  expect(await patiently(ask, 60_000, never)).toBe("answer");
  expect(asked()).toBe(4);
});

test("patience has an end, and the last failure stands", async () => {
  const { ask } = answeredAfter(Infinity, away);
  await expect(patiently(ask, 60, never)).rejects.toMatchObject({ kind: "unavailable" });
});

test("what asking again cannot mend stands at once", async () => {
  const { ask, asked } = answeredAfter(1, () => new Error("a fault"));
  await expect(patiently(ask, 60_000, never)).rejects.toThrow("a fault");
  expect(asked()).toBe(1);
});

test("whoever leaves waits no longer", async () => {
  const leave = new AbortController();
  const { ask } = answeredAfter(Infinity, away);
  const waiting = patiently(ask, 60_000, leave.signal);
  leave.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
  await expect(patiently(ask, 60_000, leave.signal)).rejects.toThrow("left");
});
