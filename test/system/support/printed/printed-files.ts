import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";

const root = join(import.meta.dirname, "../../../..");

/**
 * Writes the files that printed commands name into a folder: agents, a workflow, and in `scripts` a script that answers both examples
 * without pauses, and the runs that commands need.
 */
export function writePrintedFiles(folder: string): void {
  for (const [from, to] of [
    ["agent.yaml", "agent.yaml"],
    ["sales.csv", "prices.csv"],
  ] as const) {
    copyFileSync(join(root, "examples/csv-report", from), join(folder, to));
  }
  const check = scriptOf("examples/release-check/scripts/release-check.yaml");
  const report = scriptOf("examples/scripts/csv-report.yaml");
  const call = { name: "write_file", arguments: { path: "note.txt", content: "text" } };
  const fail = { reason: "refused", message: "not today", retryable: false, times: 1 };
  const conversations = [
    { when: { input: "^wait$" }, turns: [{ tool_calls: [call] }, { text: "Done." }] },
    { when: { input: "^fail$" }, turns: [{ fail, text: "Done." }] },
    { when: { input: "^answer$" }, turns: [{ text: "Done." }] },
    ...(check.conversations ?? []),
    { when: { input: "^Can version" }, turns: check.turns },
  ];
  mkdirSync(join(folder, "agents"));
  writeFileSync(join(folder, "agents/support.yaml"), "name: Support\nmodel: default\n");
  const [, greeting = ""] =
    /```yaml\n(.*?)```/s.exec(readFileSync(join(root, "docs/workflows.md"), "utf8")) ?? [];
  writeFileSync(join(folder, "greeting.yaml"), greeting);
  mkdirSync(join(folder, "scripts"));
  mkdirSync(join(folder, "my-agent"));
  const page = readFileSync(join(root, "docs/guide/script-a-model.md"), "utf8");
  const [agent = "", weather = ""] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(
    ([, text]) => text,
  );
  writeFileSync(join(folder, "my-agent/agent.yaml"), agent);
  writeFileSync(join(folder, "scripts/weather.yaml"), weather);
  const script = stringify(
    { conversations, turns: report.turns },
    { aliasDuplicateObjects: false },
  );
  writeFileSync(join(folder, "scripts/default.yaml"), script);
}

interface Script {
  readonly conversations?: readonly object[];
  readonly turns: readonly object[];
}

function scriptOf(path: string): Script {
  return parse(readFileSync(join(root, path), "utf8")) as Script;
}
