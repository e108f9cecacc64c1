import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import type { ToolResult } from "@reeve/contracts/tool";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";
import {
  LanguageProvider,
  prepareGo,
  preparePython,
  preparePythonPlugin,
} from "./support/language-providers.ts";
import { HookFiles, testKilledPlugin } from "./parts/killed-plugin.ts";
import { canonicalFamilies, traceOf } from "./support/traces.ts";
import { eventOf } from "./support/watching.ts";

const token = "tools-token-0123456789";
const [python, go] = await Promise.all([preparePython(), prepareGo()]);
// After the provider, which may build the same environment.
const pythonPlugin = await preparePythonPlugin();
const languages = [
  ["python", python, isStatistics],
  ["go", go, isDigest],
] as const;
const resources = new AsyncDisposableStack();
const running = new Map<string, LanguageProvider>();
let deployment: Deployment;
let plugin: LanguageProvider | undefined;
const pluginFiles = resources.use(new HookFiles());

beforeAll(async () => {
  const providers: Record<string, unknown> = {};
  for (const [language, prepared] of languages) {
    if (prepared.kind === "missing") continue;
    const provider = resources.use(await LanguageProvider.start(prepared, token));
    const metadata = { authorization: "Bearer ${TOOLS_TOKEN}" };
    providers[language] = { target: provider.address, metadata };
    running.set(language, provider);
  }
  if (running.size === 0) return;
  const metadata = { authorization: "Bearer ${TOOLS_TOKEN}" };
  if (pythonPlugin.kind === "ready") plugin = await LanguageProvider.start(pythonPlugin, token);
  const plugins = plugin && { "call-limit-python": { target: plugin.address, metadata } };
  deployment = resources.use(
    await Deployment.start(
      { TOOLS_TOKEN: token },
      {
        REEVE_PROVIDERS_CONFIG: JSON.stringify({ providers }),
        REEVE_PLUGINS: JSON.stringify({ plugins: plugins ?? {} }),
      },
    ),
  );
});

afterAll(() => resources.disposeAsync());

describe.each(languages)("a tool provider in %s", (language, prepared, isRight) => {
  const why = prepared.kind === "missing" ? ` (skipped: ${prepared.reason})` : "";

  // Requirement: HOST-5
  test.skipIf(prepared.kind === "missing")(`executes the calls of an agent${why}`, async () => {
    const events = await watched(await started(`provider-${language}`));
    expect(traceOf(events).slice(3, 8)).toEqual([
      `tool_call ${language}__countdown`,
      "mcp_progress 1/2 1 to go",
      "mcp_progress 2/2 0 to go",
      `tool_result ${language}__countdown true`,
      "step 1 completed",
    ]);
    const [lift, value] = resultsOf(events);
    expect(lift?.content).toBe("lift-off");
    expect(value?.content).toSatisfy(isRight);
  });

  // Requirement: HOST-5
  test.skipIf(prepared.kind === "missing")(
    `reports to the agent that it was killed${why}`,
    async () => {
      const runId = await started(`provider-${language}-dies`);
      await eventOf(deployment, runId, "mcpProgress");
      await running.get(language)?.[Symbol.asyncDispose]();
      const [lost] = resultsOf(await watched(runId));
      expect(lost?.isError).toBe(true);
      expect(lost?.content).toContain("the outcome of the call is unknown");
    },
  );
});

// Requirement: RES-5, RES-7
test.skipIf(pythonPlugin.kind === "missing")(
  "a plugin in Python that was killed is asked when it is back, and repeats no effect",
  async () => {
    if (pythonPlugin.kind === "missing" || plugin === undefined) return;
    const { address } = plugin;
    const journal = join(mkdtempSync(join(tmpdir(), "reeve-plugin-")), "journal");
    await deployment.agent("plugin-python", {
      pluginIds: ["call-limit-python"],
      sections: { "call-limit-python": fromJson(ValueSchema, { max_calls: 3 }) },
    });
    await plugin[Symbol.asyncDispose]();
    const request = { agentId: "plugin-python", input: "go" };
    const { run } = await deployment.reeve.runs.startRun(request);
    await eventOf(deployment, run?.runId ?? "", "pluginsPinned");
    const env = { ...pythonPlugin.env, PLUGIN_JOURNAL: journal };
    const recording = { ...pythonPlugin, env };
    plugin = resources.use(await LanguageProvider.start(recording, token, address));
    const events = await watched(run?.runId ?? "");
    expect(resultsOf(events).map(({ content }) => content)).toEqual(["2"]);
    const hooks = readFileSync(journal, "utf8").trimEnd().split("\n");
    expect(new Set(hooks).size).toBe(hooks.length);
    // Those of the run, of two steps, and of one call.
    expect(hooks).toHaveLength(2 + 2 * 4 + 3);
  },
);

describe("a plugin", () => {
  const program = join(import.meta.dirname, "support/plugins/hanging_plugin.py");
  let hanging: LanguageProvider | undefined;

  async function start(): Promise<void> {
    if (pythonPlugin.kind === "missing") return;
    const { command, env } = pythonPlugin;
    const [python = ""] = command;
    const held = { command: [python, program], env: { ...env, ...pluginFiles.env } };
    hanging = await LanguageProvider.start({ kind: "ready", ...held }, token, plugin?.address);
    resources.use(hanging);
  }

  beforeAll(async () => {
    await plugin?.[Symbol.asyncDispose]();
    await start();
  });

  testKilledPlugin(
    "Python",
    {
      deployment: () => deployment,
      plugin: () => ({
        pluginId: "call-limit-python",
        model: "scripted:plugin-python",
        files: pluginFiles,
        kill: async () => hanging?.[Symbol.asyncDispose](),
        start,
      }),
    },
    pythonPlugin.kind === "missing",
  );
});

function isStatistics(content: string): boolean {
  const found = JSON.parse(content) as Record<string, unknown>;
  return found["mean"] === 2.5 && found["median"] === 2.5 && found["count"] === 4;
}

function isDigest(content: string): boolean {
  return content === createHash("sha256").update("reeve").digest("hex");
}

async function started(agentId: string): Promise<string> {
  await deployment.agent(agentId);
  const { run } = await deployment.reeve.runs.startRun({ agentId, input: "go" });
  return run?.runId ?? "";
}

async function watched(runId: string): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const { events: more } of deployment.reeve.runs.watchRun({
    runId,
    selection: { case: "families", value: { families: [...canonicalFamilies] } },
  })) {
    events.push(...more);
  }
  return events;
}

function resultsOf(events: readonly RunEvent[]): readonly ToolResult[] {
  return events.flatMap(({ event }) =>
    event.case === "toolResult" && event.value.result ? [event.value.result] : [],
  );
}
