import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { RunEventSchema } from "@reeve/contracts/run";
import { histories } from "@reeve/engine/test/support/recorded-runs";

// Writes the histories that this version would write and that nobody has recorded yet. What is there stays as it is: it
// stands for logs in deployments, which no later version can change either.
const root = join(import.meta.dirname, "..");
const { version } = JSON.parse(
  readFileSync(join(root, "services/runtime/package.json"), "utf8"),
) as {
  version: string;
};

for (const [name, play] of Object.entries(histories)) {
  const file = `${version}-${name}.json`;
  const path = join(root, "test/histories", file);
  if (existsSync(path)) continue;
  const lines = play().events.map((event) => JSON.stringify(toJson(RunEventSchema, event)));
  const text = `[\n${lines.join(",\n")}\n]\n`;
  writeFileSync(path, text);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  process.stdout.write(`| \`${file}\` | \`${digest}\` | |\n`);
}
