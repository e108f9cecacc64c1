import { create } from "@bufbuild/protobuf";
import { OnMissed, OnOverlap, TriggerSpecSchema } from "@reeve/contracts/trigger";
import { expect, test } from "vitest";
import { draftOf, newDraft, specOf } from "./trigger-draft.ts";

test("a trigger survives being shown as a form, and saved again", () => {
  const base = { triggerId: "t", agentId: "a", input: "Do it.", onOverlap: OnOverlap.ALLOW };
  const schedule = {
    cron: "0 9 * * 1",
    timeZone: "Europe/Lisbon",
    onMissed: OnMissed.ALL,
    maxMissed: 5,
    jitter: { seconds: 30n },
  };
  const specs = [
    { ...base, labels: { team: "blue" }, source: { case: "schedule", value: schedule } },
    { ...base, source: { case: "webhook", value: {} } },
  ] as const;
  for (const each of specs) {
    const spec = create(TriggerSpecSchema, each);
    expect(create(TriggerSpecSchema, specOf(draftOf(spec)))).toEqual(spec);
  }
});

test("labels are read from names and values", () => {
  const draft = { ...newDraft("UTC"), labels: "team = blue, x=a=b, none" };
  expect(specOf(draft).labels).toEqual({ team: "blue", x: "a=b" });
});
