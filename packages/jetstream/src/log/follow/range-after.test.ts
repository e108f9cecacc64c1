import { expect, test } from "vitest";
import { emptyTail } from "../port.ts";
import { rangeAfter } from "./range-after.ts";

const tail = { ...emptyTail, sequence: 4, revision: 9 };
const range = { events: ["c", "d"], tail, batchTails: [{ ...tail, sequence: 3 }, tail] };

test("a part of a range has the events and the tails after its sequence", () => {
  expect(rangeAfter({ ...range, bytes: 10 }, 3)).toEqual({
    events: ["d"],
    tail,
    batchTails: [tail],
    bytes: 10,
  });
  expect(rangeAfter(range, 1).events).toEqual(["c", "d"]);
});

test("a size that is not known is not one of zero", () => {
  expect(rangeAfter(range, 2)).not.toHaveProperty("bytes");
});
