import { expect, test } from "vitest";
import { every } from "./every.ts";
import { neverAborts } from "./never-aborts.ts";
import { sleep } from "./sleep.ts";

test("calls back again and again until it is disposed", async () => {
  const third = Promise.withResolvers<void>();
  let calls = 0;
  {
    using _ = every(1, () => {
      calls++;
      if (calls === 3) third.resolve();
    });
    await third.promise;
  }
  const before = calls;
  // Timers of equal delay fire in order: a call that was still due would come before this one.
  await sleep(1, neverAborts);
  expect(calls).toBe(before);
});
