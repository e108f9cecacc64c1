import { afterAll, expect, test } from "vitest";
import { PluginModules } from "../../test/support/plugin-modules.ts";
import { readPluginConfig } from "./plugin-config.ts";

const modules = new PluginModules();

afterAll(() => modules[Symbol.dispose]());

const read = (text: string, environment: Record<string, string> = {}) =>
  readPluginConfig(modules.write("plugins.yaml", text), environment);

test("modules are found relative to the file, and variables of the environment fill metadata", async () => {
  const text = `
plugins:
  guard: { package: ./guard.ts, on_failure: continue }
  audit: { target: "audit:1", metadata: { authorization: "Bearer \${TOKEN}" } }
`;
  expect(await read(text, { TOKEN: "secret-token\n" })).toMatchObject([
    { id: "guard", ignoresFailures: true, module: { pathname: `${modules.folder}/guard.ts` } },
    { id: "audit", ignoresFailures: false, metadata: { authorization: "Bearer secret-token" } },
  ]);
  expect(await readPluginConfig(undefined, {})).toEqual([]);
});

test.each([
  ["two kinds", "plugins: { a: { package: ./a.ts, target: b } }", "has both package and target"],
  ["no kind", "plugins: { a: { on_failure: stop } }", "needs package, or target"],
  ["an unknown setting", "plugins: { a: { package: ./a.ts, pakage: b } }", `"pakage"`],
  ["an unknown setting of TLS", "plugins: { a: { target: b, tls: { cas: x } } }", `"cas"`],
  ["another value", "plugins: { a: { target: b, on_failure: ignore } }", `at plugins.a.on_failure`],
  ["no settings", "plugins: { a: 1 }", "at plugins.a"],
  ["an id of the runtime", "plugins: { retry: { package: ./a.ts } }", `"retry" is a plugin`],
  ["an id that is none", "plugins: { A_B: { package: ./a.ts } }", "lowercase letters"],
  ["a missing package", "plugins: { a: { package: nowhere } }", "nowhere is not installed"],
  [
    "a missing variable",
    `plugins: { a: { target: "b:1", metadata: { x: "\${NONE}" } } }`,
    "the environment has no NONE",
  ],
  ["no YAML", "plugins: [", "cannot be read"],
])("a file with %s is refused by name", async (_, text, problem) => {
  await expect(read(text)).rejects.toThrow(problem);
  await expect(read(text)).rejects.toThrow("REEVE_PLUGINS");
});
