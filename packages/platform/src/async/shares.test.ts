import { expect, test } from "vitest";
import { Shares } from "./shares.ts";
import { never } from "@reeve/calls/test/support/call-bench";

test("no tenant waits for another one that has all of its share and wants more", async () => {
  const shares = new Shares({ all: 3, each: 2, waiting: 1 });
  const first = await shares.take("busy", never);
  await shares.take("busy", never);
  let hasThird = false;
  const third = shares.take("busy", never).then(() => (hasThird = true));
  await expect(shares.take("busy", never)).rejects.toMatchObject({ kind: "unavailable" });
  const other = await shares.take("quiet", never);
  expect(hasThird).toBe(false);
  other[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(await third).toBe(true);
});

test("whoever gives up waiting leaves its place", async () => {
  const shares = new Shares({ all: 1, each: 1, waiting: 1 });
  const first = await shares.take("a", never);
  const leaving = new AbortController();
  const waiting = shares.take("a", leaving.signal);
  leaving.abort();
  await expect(waiting).rejects.toThrow("aborted");
  const next = shares.take("a", never);
  first[Symbol.dispose]();
  (await next)[Symbol.dispose]();
});
