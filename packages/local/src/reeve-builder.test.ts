import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { RunStatus } from "@reeve/contracts/run";
import { parseScript } from "@reeve/models/scripted/script";
import { scriptedProvider } from "@reeve/models/scripted/scripted-provider";
import { expect, test } from "vitest";
import { openPlugins } from "./open-plugins.ts";
import { ReeveBuilder } from "./reeve-builder.ts";
import { tool } from "./tool.ts";

const signal = new AbortController().signal;
const leads = parseScript(
  `turns:
  - tool_calls: [{ name: agent_run_finder, arguments: { prompt: "find it" } }]
  - text: "The finder says {{last_result}}."
`,
  "leads.yaml",
);
const finds = parseScript(`turns: [{ text: "four" }]`, "finds.yaml");
const provider = () => scriptedProvider([leads, finds]);
const lead = { id: "lead", name: "lead", model: "scripted:leads", delegates: ["finder"] };
const finder = { name: "Finder", model: "small" };
const clock = () =>
  tool({
    name: "clock",
    description: "Tells the time.",
    inputSchema: { type: "object" },
    call: () => "12",
  });

/** Returns the places of what a build reports. */
const problems = (build: () => unknown) => {
  try {
    build();
  } catch (error) {
    return (error as { violations: readonly { field: string }[] }).violations.map(
      ({ field }) => field,
    );
  }
  return [];
};

// Requirement: RES-12
test("built agents run with their delegates and registered models", async () => {
  const reeve = new ReeveBuilder()
    .withProvider(provider())
    .withModel({ id: "small", provider: "scripted", upstreamName: "finds" })
    .withTool(clock())
    .withAgent(lead, finder)
    .build();
  expect(reeve.agentIds).toEqual(["lead", "finder"]);
  expect(await reeve.run("lead", "go", { signal }).ended).toMatchObject({
    status: RunStatus.COMPLETED,
    cost: { subtasks: 1 },
  });
  expect(() => reeve.run("leed", "go", { signal })).toThrow("did you mean lead?");
});

// Requirement: RES-12
test("build reports every mistake of all parts at once, and buildUnchecked only names that are taken", () => {
  const builder = new ReeveBuilder()
    .withProvider(provider())
    .withAgent({ ...lead, delegates: ["nobody"] }, { ...finder, model: "gone", hitlTools: ["x"] });
  expect(builder.buildUnchecked().agentIds).toEqual(["lead", "finder"]);
  builder.withTool(clock(), clock()).withAgent(finder).withProvider(provider());
  const taken = ['tools["clock"]', 'agents["finder"]', 'providers["scripted"]'];
  expect(problems(() => builder.buildUnchecked())).toEqual(taken);
  expect(problems(() => builder.build())).toEqual([
    ...taken,
    'agents["lead"].delegates[0]',
    'agents["finder"].model',
    'agents["finder"].hitl_tools[0]',
  ]);
});

// Types do not hold in JavaScript.
const any = (value: unknown) => value as never;

// Requirement: RES-12
test("values of the wrong type are reported by build, each with its place", () => {
  const builder = new ReeveBuilder()
    .withProvider(provider())
    .withTool(any({ name: "x" }))
    .withModel(
      { provider: "scripted" },
      { id: "m", provider: "gone" },
      any({ id: "n", provider: 5 }),
    )
    .withAgent(any(undefined), any({ name: 5, model: "scripted:finds" }))
    .withAgent(any({ ...finder, model: "scripted:finds", delegates: 5 }));
  expect(problems(() => builder.build())).toEqual([
    "tools",
    'models[""].id',
    'models["n"].provider',
    "agents",
    'models["m"].provider',
    'models["n"].provider',
    'agents[""].name',
    'agents["finder"].delegates',
  ]);
});

test("a built agent does not change with the object that it was built from", async () => {
  const agent = { ...finder, model: "scripted:finds" };
  const reeve = new ReeveBuilder().withProvider(provider()).withAgent(agent).build();
  agent.model = "gone:x";
  const run = reeve.run("finder", "go", { signal });
  expect(await run.ended).toMatchObject({ status: RunStatus.COMPLETED });
});

// Requirement: RES-5, RES-12
test("built agents have the plugins that they name", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-builder-"));
  const denial = `{ deny: { reason: "not now" } }`;
  const ended = join(folder, "ended");
  const deactivate = `async ({ runEnd }) => writeFileSync(${JSON.stringify(ended)}, runEnd.status)`;
  const module = `import { writeFileSync } from "node:fs"; export default { id: "guard", version: "1", hooks: { toolGate: () => (${denial}), deactivate: ${deactivate} } };`;
  writeFileSync(join(folder, "guard.mjs"), module);
  const file = join(folder, "plugins.json");
  writeFileSync(file, JSON.stringify({ plugins: { guard: { package: "./guard.mjs" } } }));
  await using plugins = await openPlugins(file, signal);
  const builder = new ReeveBuilder()
    .withProvider(provider())
    .withModel({ id: "small", provider: "scripted", upstreamName: "finds" })
    .withAgent({ ...lead, pluginIds: ["guard"] }, finder);
  expect(problems(() => builder.build())).toEqual(['agents["lead"].plugin_ids[0]']);
  const reeve = builder.withPlugins(plugins).build();
  const results: string[] = [];
  const run = reeve.run("lead", "go", { signal });
  for await (const { event } of run.events()) {
    if (event.case === "toolResult") results.push(event.value.result?.content ?? "");
  }
  expect(results).toEqual(["the plugin guard denies this call: not now"]);
  await run.ended;
  expect(readFileSync(ended, "utf8")).toBe("completed");
  rmSync(folder, { recursive: true });
});

const spec = (init: MessageInitShape<typeof AgentSpecSchema>) => create(AgentSpecSchema, init);

// Requirement: RES-12
test("buildAndDiscover adds the agents of other servers, and names those that cannot run here", async () => {
  const far = { url: "https://agents.example.org", protocol: "a2a" };
  const builder = new ReeveBuilder()
    .withProvider(provider())
    .withAgent({ ...finder, model: "scripted:finds" });
  const near = {
    name: "near",
    listAgents: async () => [
      spec({ id: "finder", name: "other", model: "gone" }),
      spec({ ...lead, delegates: ["finder"] }),
    ],
  };
  const reeve = await builder.withRemoteAgents(near).buildAndDiscover(signal);
  expect(reeve.agentIds).toEqual(["finder", "lead"]);
  expect(await reeve.run("lead", "go", { signal }).ended).toMatchObject({
    status: RunStatus.COMPLETED,
  });
  expect(problems(() => builder.build())).toEqual(['sources["near"]']);
  const remote = async () => [spec({ id: "far", name: "far", model: "", endpoint: far })];
  const refused = builder.withRemoteAgents({ name: "remote", listAgents: remote });
  await expect(refused.buildAndDiscover(signal)).rejects.toMatchObject({
    violations: expect.arrayContaining([
      expect.objectContaining({
        field: 'agents["far"].endpoint.protocol',
        reason: "UNSUPPORTED_REMOTE_BACKEND",
      }),
    ]),
  });
});
