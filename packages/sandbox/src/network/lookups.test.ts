import { expect, test } from "vitest";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { Lookups } from "./lookups.ts";

const never = new AbortController().signal;

/** A resolver whose lookups complete when the test answers them. */
function pending() {
  const requested: string[] = [];
  const answers = new Map<string, (addresses: string[]) => void>();
  const resolve = (host: string) => {
    requested.push(host);
    return new Promise<string[]>((answer) => answers.set(host, answer));
  };
  return { requested, resolve, answer: (host: string) => answers.get(host)?.(["192.0.2.1"]) };
}

test("a pending lookup is abandoned when its call is over", async () => {
  const lookups = new Lookups(pending().resolve);
  const call = new AbortController();
  const found = lookups.addresses("a.test", new Semaphore(1), call.signal);
  call.abort(new DOMException("the call is over", "AbortError"));
  await expect(found).rejects.toThrow("the call is over");
});

test("a pending lookup is abandoned after a timeout", async () => {
  const lookups = new Lookups(pending().resolve, 1);
  const found = lookups.addresses("a.test", new Semaphore(1), never);
  await expect(found).rejects.toMatchObject({ name: "TimeoutError" });
});

test("two lookups run at a time, one for each sandbox, including abandoned ones", async () => {
  const { requested, resolve, answer } = pending();
  const lookups = new Lookups(resolve);
  const call = new AbortController();
  const [first, second] = [new Semaphore(1), new Semaphore(1)];
  const abandoned = lookups.addresses("a.test", first, call.signal);
  await expect.poll(() => requested).toEqual(["a.test"]);
  call.abort();
  await expect(abandoned).rejects.toMatchObject({ name: "AbortError" });
  const sameSandbox = lookups.addresses("b.test", first, never);
  const otherSandbox = lookups.addresses("c.test", second, never);
  await expect.poll(() => requested).toEqual(["a.test", "c.test"]);
  const thirdSandbox = lookups.addresses("d.test", new Semaphore(1), never);
  answer("a.test");
  answer("c.test");
  await expect(otherSandbox).resolves.toEqual(["192.0.2.1"]);
  await expect.poll(() => requested.toSorted()).toEqual(["a.test", "b.test", "c.test", "d.test"]);
  answer("b.test");
  answer("d.test");
  await expect(Promise.all([sameSandbox, thirdSandbox])).resolves.toHaveLength(2);
});
