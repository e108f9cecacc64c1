import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { watch } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { PackagePlugin } from "@reeve/plugin/host/package-plugin";
import { PluginServer } from "@reeve/plugin/test/support/plugin-server";

/**
 * Serves the example in TypeScript over gRPC, at the address in the first argument. The environment names the files of
 * `HookFiles`.
 */
const example = join(import.meta.dirname, "../../../../examples/plugin-typescript/plugin.ts");
const plugin = new PackagePlugin(pathToFileURL(example));
const { PLUGIN_ATTEMPTS: attempts = "", PLUGIN_JOURNAL: journal = "" } = process.env;
const { PLUGIN_RELEASE: release = "" } = process.env;
const deadlineMs = 60_000;

const linesOf = (file: string) => readFileSync(file, "utf8").split("\n");

/** Waits in the first attempt of a gate, after its effect. */
async function record(hookId: string): Promise<void> {
  const isFirst = !linesOf(attempts).includes(hookId);
  if (!linesOf(journal).includes(hookId)) appendFileSync(journal, `${hookId}\n`);
  appendFileSync(attempts, `${hookId}\n`);
  if (!isFirst || !hookId.includes(":tool_gate:")) return;
  const changes = watch(dirname(release));
  if (existsSync(release)) return;
  for await (const _ of changes) if (existsSync(release)) return;
}

const [, port = "0"] = (process.argv[2] ?? "").split(":");
const server = await PluginServer.start(
  {
    describe: async () => ({
      $typeName: "reeve.plugin.v1.DescribePluginsResponse",
      plugins: [await plugin.describe(AbortSignal.timeout(deadlineMs))],
    }),
    hook: async (request) => {
      await record(request.hookId);
      return await plugin.runHook(request, deadlineMs, AbortSignal.timeout(deadlineMs));
    },
    tool: (request) => plugin.executeTool(request, deadlineMs, AbortSignal.timeout(deadlineMs)),
  },
  Number(port),
);
process.stdout.write(`listening on ${server.target}\n`);
