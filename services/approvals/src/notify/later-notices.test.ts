import type { Notice } from "@reeve/jetstream/notices/nats";
import { expect, test } from "vitest";
import { laterNotices } from "./later-notices.ts";

const notice: Notice = { id: "n1", receiver: "bus", tenant: "acme", headers: {}, body: "{}" };

test("a notice opens its stream, again if that failed, and once if not", async () => {
  const published: Notice[] = [];
  let opened = 0;
  const notices = laterNotices(async () => {
    opened += 1;
    if (opened === 1) throw new Error("the stream is missing");
    return { publish: async (each) => void published.push(each) };
  });
  expect(opened).toBe(0);
  await expect(notices.publish(notice)).rejects.toThrow("the stream is missing");
  await Promise.all([notices.publish(notice), notices.publish(notice)]);
  expect(opened).toBe(2);
  expect(published).toEqual([notice, notice]);
});
