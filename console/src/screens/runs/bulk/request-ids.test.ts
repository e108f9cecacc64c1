import { expect, test } from "vitest";
import { RequestIds } from "./request-ids.ts";

test("a request without an answer is repeated with its id, and an answered one is not", async () => {
  const ids = new RequestIds();
  const asked: string[] = [];
  const ask = (runId: string, isLost = false) =>
    ids.use(runId, (id) => {
      asked.push(id);
      return isLost ? Promise.reject(new Error("lost")) : Promise.resolve(undefined);
    });
  await expect(ask("a", true)).rejects.toThrow("lost");
  await ask("b");
  await ask("a");
  await ask("a");
  const [lost, other, repeated, next] = asked;
  expect(repeated).toBe(lost);
  expect(new Set([lost, other, next]).size).toBe(3);
});
