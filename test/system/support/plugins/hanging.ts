import { appendFileSync, readFileSync } from "node:fs";
import type { Hook, JsonObject, Plugin } from "@reeve/plugin";

/** Adds the id of the hook to the journal. The first time, the hook before the inference never ends. */
const record: Hook = async ({ hookId, section }) => {
  const { journal = "" } = (section ?? {}) as { readonly journal?: string } & JsonObject;
  appendFileSync(journal, `${hookId}\n`);
  const times = readFileSync(journal, "utf8")
    .split("\n")
    .filter((line) => line === hookId).length;
  if (times === 1 && hookId.includes(":before_inference:")) await new Promise(() => undefined);
};

/** A plugin whose process a test kills in the middle of a hook. */
export default {
  id: "hanging",
  version: "1",
  deadlineMs: 120_000,
  sectionSchema: { type: "object", properties: { journal: { type: "string" } } },
  hooks: { runStart: record, beforeInference: record, runEnd: record },
} satisfies Plugin;
