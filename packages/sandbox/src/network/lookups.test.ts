import { expect, test } from "vitest";
import { Turns } from "@reeve/platform/async/turns";
import { Lookups } from "./lookups.ts";

const never = new AbortController().signal;

/** Names that are resolved when the test says so, in the order in which they are asked for. */
function pending() {
  const asked: string[] = [];
  const answers = new Map<string, (addresses: string[]) => void>();
  const resolve = (host: string) => {
    asked.push(host);
    return new Promise<string[]>((answer) => answers.set(host, answer));
  };
  return { asked, resolve, answer: (host: string) => answers.get(host)?.(["192.0.2.1"]) };
}

test("a lookup that nobody answers is given up when the call is over", async () => {
  const lookups = new Lookups(pending().resolve);
  const call = new AbortController();
  const found = lookups.addresses("a.test", new Turns(), call.signal);
  call.abort(new DOMException("the call is over", "AbortError"));
  await expect(found).rejects.toThrow("the call is over");
});

test("a lookup that nobody answers is given up after a while", async () => {
  const lookups = new Lookups(pending().resolve, 1);
  const found = lookups.addresses("a.test", new Turns(), never);
  await expect(found).rejects.toMatchObject({ name: "TimeoutError" });
});

test("two lookups are under way at a time, and of one sandbox one, given up or not", async () => {
  const { asked, resolve, answer } = pending();
  const lookups = new Lookups(resolve);
  const call = new AbortController();
  const [first, second] = [new Turns(), new Turns()];
  const left = lookups.addresses("a.test", first, call.signal);
  await expect.poll(() => asked).toEqual(["a.test"]);
  call.abort();
  await expect(left).rejects.toMatchObject({ name: "AbortError" });
  const behind = lookups.addresses("b.test", first, never);
  const beside = lookups.addresses("c.test", second, never);
  await expect.poll(() => asked).toEqual(["a.test", "c.test"]);
  const outside = lookups.addresses("d.test", new Turns(), never);
  answer("a.test");
  answer("c.test");
  await expect(beside).resolves.toEqual(["192.0.2.1"]);
  await expect.poll(() => asked.toSorted()).toEqual(["a.test", "b.test", "c.test", "d.test"]);
  answer("b.test");
  answer("d.test");
  await expect(Promise.all([behind, outside])).resolves.toHaveLength(2);
});
