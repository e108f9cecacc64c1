import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { fromJson, toJson } from "@bufbuild/protobuf";
import { RunEventSchema } from "@reeve/contracts/run";
import { viewsOf } from "@reeve/engine/test/support/history-views";
import { histories } from "@reeve/engine/test/support/recorded-runs";

// Records the histories that this version writes and the views that they fold to, as far as they are not recorded yet.
// Existing files are never changed: they represent logs in deployments, which no later version can change either.
const root = join(import.meta.dirname, "..");
const folder = join(root, "test/histories");
const { version } = JSON.parse(
  readFileSync(join(root, "services/runtime/package.json"), "utf8"),
) as {
  version: string;
};

for (const [name, play] of Object.entries(histories)) {
  const file = `${version}-${name}.json`;
  const path = join(folder, file);
  if (existsSync(path)) continue;
  const lines = play().events.map((event) => JSON.stringify(toJson(RunEventSchema, event)));
  const text = `[\n${lines.join(",\n")}\n]\n`;
  writeFileSync(path, text);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  process.stdout.write(`| \`${file}\` | \`${digest}\` | |\n`);
}

for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
  const path = join(folder, "views", file);
  if (existsSync(path)) continue;
  const events = JSON.parse(readFileSync(join(folder, file), "utf8")) as readonly JsonValue[];
  const { end, digests } = viewsOf(events.map((event) => fromJson(RunEventSchema, event)));
  writeFileSync(path, `${JSON.stringify({ end, digests }, undefined, 1)}\n`);
}
