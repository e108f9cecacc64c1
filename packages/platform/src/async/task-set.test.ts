import { expect, test } from "vitest";
import { TaskSet } from "./task-set.ts";

test("waits for the tasks in progress, also for one that fails", async () => {
  const tasks = new TaskSet();
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  void tasks.add(first.promise);
  void tasks.add(second.promise);
  expect(tasks.size).toBe(2);
  let isSettled = false;
  const settled = tasks.settled().then(() => (isSettled = true));
  first.resolve();
  await first.promise;
  expect(isSettled).toBe(false);
  second.reject(new Error("broken"));
  await settled;
  expect(tasks.size).toBe(0);
});

test("returns the task, whose error is for the caller", async () => {
  const tasks = new TaskSet();
  expect(await tasks.add(Promise.resolve("done"))).toBe("done");
  await expect(tasks.add(Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  await tasks.settled();
});
