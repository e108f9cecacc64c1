import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { watch } from "node:fs/promises";
import type { Hook, JsonObject, Plugin } from "@reeve/plugin";

interface Section extends JsonObject {
  /** The file for the ids of the hooks. */
  readonly journal: string;
  /** The file whose existence ends the hook before the inference. Empty: the hook never ends the first time. */
  readonly until: string;
}

/** Adds the id of the hook to the journal, and then waits in the first hook before the inference. */
const record: Hook = async ({ hookId, section }) => {
  const { journal = "", until = "" } = (section ?? {}) as Partial<Section>;
  appendFileSync(journal, `${hookId}\n`);
  const times = readFileSync(journal, "utf8")
    .split("\n")
    .filter((line) => line === hookId).length;
  if (times > 1 || !hookId.includes(":before_inference:")) return;
  if (until === "") await new Promise(() => undefined);
  const changes = watch(dirname(until));
  if (existsSync(until)) return;
  for await (const _ of changes) if (existsSync(until)) return;
};

/** A plugin whose process a test ends in the middle of a hook. */
export default {
  id: "hanging",
  version: "1",
  deadlineMs: 120_000,
  sectionSchema: {
    type: "object",
    properties: { journal: { type: "string" }, until: { type: "string" } },
  },
  hooks: { runStart: record, beforeInference: record, runEnd: record, deactivate: record },
} satisfies Plugin;
