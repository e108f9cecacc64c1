import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GatewayBench } from "@reeve/gateway/test/support/gateway-bench";
import { openGatewayBench, tokens } from "@reeve/gateway/test/support/gateway-bench";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MemoryTerminalOptions } from "./support/memory-terminal.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";
import { typeReeve } from "./support/type-reeve.ts";

let bench: GatewayBench;
const folder = mkdtempSync(join(tmpdir(), "reeve-apply-"));

beforeAll(async () => {
  bench = await openGatewayBench({ REEVE_AUDIT_TENANT: "acme" });
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await bench[Symbol.asyncDispose]();
});

const agents = (...args: readonly string[]) => reeve("agents", ...args);

const reeve = (...args: readonly string[]) => typed({}, "--token", tokens.acme, ...args);

const typed = (options: MemoryTerminalOptions, ...args: readonly string[]) =>
  typeReeve(new MemoryTerminal(options), bench.url, args);

// Requirement: CFG-15
test("apply creates and updates the agents of a folder, in the order of their delegates", async () => {
  const team = join(folder, "team");
  mkdirSync(team);
  const write = (name: string, text: string) => writeFileSync(join(team, `${name}.yaml`), text);
  write("a-lead", "id: lead\nname: Lead\nmodel: known\ndelegates: [helper]\n");
  write("b-helper", "id: helper\nname: Helper\nmodel: known\n");
  const apply = (...args: readonly string[]) =>
    reeve("apply", "-f", team, "--set", "team", ...args);

  const planned = await apply("--dry-run", "--exit-code");
  expect(planned).toMatchObject({ code: 6, stdout: expect.stringContaining("2 to create") });
  const created = await apply();
  expect(created.stdout).toMatch(/agent helper created \(revision 1\)\nagent lead created/);
  expect(await apply("--dry-run", "--exit-code")).toMatchObject({ code: 0 });

  write("b-helper", "id: helper\nname: Helper\nmodel: known\ninstructions: Be brief.\n");
  const updated = await apply();
  expect(updated.stdout).toMatch(/~ update helper .*: instructions\n[\s\S]* {4}\+instructions: Be/);
  expect(updated.stdout).toContain("agent helper updated (revision 2)");

  write("c-bad", "id: bad\nname: Bad\nmodel: known\nsudo: true\ndelegates: [lead, nobody]\n");
  write("d-cycle", "id: cycle\nname: C\nmodel: known\ndelegates: [cycle]\n");
  write("b-helper", "id: helper\nname: Changed\nmodel: known\n");
  const refused = await apply();
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/2 of the files cannot be applied; nothing was changed/);
  expect(refused.stderr).toMatch(/c-bad\.yaml +sudo +/);
  expect(refused.stderr).toMatch(/c-bad\.yaml +delegates\[1\] +agent "nobody"/);
  expect(refused.stderr).toMatch(/d-cycle\.yaml +delegates\[0\] +.*DELEGATE_CYCLE/);
  expect((await agents("get", "helper")).stdout).toContain("name: Helper");

  for (const name of ["a-lead", "c-bad", "d-cycle"]) rmSync(join(team, `${name}.yaml`));
  expect(await apply("--prune")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--yes"),
  });
  const pruned = await apply("--prune", "--yes", "--json");
  expect(JSON.parse(pruned.stdout)).toMatchObject({
    agents: [
      {
        agent: "helper",
        action: "update",
        applied: true,
        revision: 3,
        fields: [{}, { field: "name" }],
      },
      { agent: "lead", action: "delete", applied: true },
    ],
    problems: [],
  });
  expect((await agents("get", "lead")).code).toBe(1);
  expect((await agents("get", "valid")).stderr).not.toContain("team");
  expect(await reeve("apply", "-f", team, "--prune")).toMatchObject({ code: 2 });
});

// Requirement: CFG-15
test("apply stores models before the agents that name them, shows what differs, and deletes the rest last", async () => {
  const lab = join(folder, "lab");
  mkdirSync(lab);
  const write = (name: string, text: string) => writeFileSync(join(lab, `${name}.yaml`), text);
  const apply = (...args: readonly string[]) => reeve("apply", "-f", lab, "--set", "lab", ...args);
  const registry = (models: string) =>
    write(
      "registry",
      `providers: [{ name: lab, base_url: "https://models.example.org/v1" }]\nmodels: [${models}]\n`,
    );
  registry("{ id: deep, provider: lab, context_window: 32000 }, { id: old, provider: lab }");
  write("reader", "id: reader\nname: Reader\nmodel: deep\n");
  write("other", "id: other\nname: Other\nmodel: old\n");
  expect(await apply("--dry-run", "--exit-code")).toMatchObject({
    code: 6,
    stdout: expect.stringMatching(
      /\+ create provider lab\n\+ create model deep\n[\s\S]*2 to create/,
    ),
  });
  expect((await apply()).stdout).toMatch(/models and providers stored[\s\S]*agent reader created/);
  expect(await apply("--dry-run", "--exit-code")).toMatchObject({ code: 0 });

  // What is exported is the same as the files.
  const exported = await reeve("models", "export");
  expect(exported.stdout).toContain("context_window: 32000");
  write("registry", exported.stdout);
  expect(await apply("--prune-models", "--dry-run", "--exit-code")).toMatchObject({ code: 0 });

  registry("{ id: deep, provider: lab, context_window: 64000 }, { id: bad, provider: nobody }");
  const refused = await apply("--prune-models", "--yes");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/registry\.yaml +models\[1\]\.provider +.*nobody/);
  expect((await reeve("models", "get", "deep")).stdout).toContain("32000");

  registry("{ id: deep, provider: lab, context_window: 64000 }");
  // The agent names a model that would be deleted.
  expect((await apply("--prune-models", "--yes")).stderr).toMatch(/other\.yaml +model +/);
  write("other", "id: other\nname: Other\nmodel: deep\n");
  expect((await apply("--prune-models")).stderr).toContain("one entry would be deleted");
  const pruned = await apply("--prune-models", "--yes");
  expect(pruned.stdout).toMatch(/~ update model deep {2}context_window\n- delete model old\n/);
  expect(pruned.stdout).toMatch(
    /models and providers stored\nagent other updated \(revision 2\)\nmodels and providers deleted/,
  );
  expect((await reeve("models", "get", "old")).stderr).toContain("model old is not stored");
  expect((await reeve("models", "get", "deep")).stdout).toContain("64000");
});

async function isStored(model: string): Promise<boolean> {
  return (await reeve("models", "get", model)).code === 0;
}

// Requirement: CFG-15
test("apply deletes stored models only with --prune-models, and never all of them", async () => {
  const shared = join(folder, "shared");
  mkdirSync(shared);
  const write = (text: string) => writeFileSync(join(shared, "registry.yaml"), text);
  const apply = (...args: readonly string[]) => reeve("apply", "-f", shared, ...args);
  const provider = 'providers: [{ name: shared, base_url: "https://models.example.org/v1" }]\n';
  write(`${provider}models: [{ id: mine, provider: shared }, { id: theirs, provider: shared }]\n`);
  expect(await apply()).toMatchObject({ code: 0 });
  write(`${provider}models: [{ id: mine, provider: shared, context_window: 32000 }]\n`);
  const entry = { kind: "model", id: "mine", action: "update" };
  for (const [applied, ...args] of [[false, "--dry-run"], [true]] as const) {
    const { registry } = JSON.parse((await apply("--json", ...args)).stdout);
    expect(registry).toMatchObject([{ ...entry, applied }]);
  }
  for (const args of [[], [], ["--set", "shared", "--prune", "--yes"]]) {
    expect(await apply(...args)).toMatchObject({ code: 0 });
    expect(await isStored("theirs")).toBe(true);
  }

  expect((await apply("--prune-models")).stderr).toMatch(/\d+ entries would be deleted/);
  write("models: []\n");
  const emptied = await apply("--prune-models", "--yes");
  expect(emptied.code).toBe(2);
  expect(emptied.stderr).toContain("these have none");
  expect(await isStored("theirs")).toBe(true);
});

test("apply stops at an agent that was changed meanwhile, and names what is left", async () => {
  const edited = join(folder, "edited");
  mkdirSync(edited);
  const write = (name: string, text: string) =>
    writeFileSync(join(edited, `${name}.yaml`), `id: ${name}\nname: N\nmodel: known\n${text}`);
  const names = ["edit-a", "edit-b", "edit-c"];
  for (const name of names) write(name, "");
  const set = ["apply", "-f", edited, "--set", "edited"];
  expect((await reeve(...set)).code).toBe(0);
  for (const name of names) write(name, "instructions: New.\n");
  const meanwhile = "id: edit-b\nname: By hand\nmodel: known\n";
  const terminal = new (class extends MemoryTerminal {
    override async ask(): Promise<string> {
      const token = ["--token", tokens.acme];
      await typed({ input: meanwhile }, ...token, "agents", "apply", "-f", "-");
      return "y";
    }
  })({ answers: [] });
  const args = ["--token", tokens.acme, ...set];
  expect((await typeReeve(terminal, bench.url, args)).code).toBe(1);
  expect(terminal.stdout).toContain("agent edit-a updated (revision 2)");
  expect(terminal.stderr).toContain("not applied: edit-b, edit-c");
  expect((await agents("get", "edit-b")).stdout).toContain("name: By hand");
});

test("--prune deletes nothing while a file cannot be read, and no agents of other sets", async () => {
  const kept = join(folder, "kept");
  mkdirSync(kept);
  const write = (name: string, text: string) => writeFileSync(join(kept, `${name}.yaml`), text);
  write("one", "id: kept-one\nname: N\nmodel: known\n");
  write("two", "id: kept-two\nname: N\nmodel: known\n");
  const apply = (set: string, ...args: readonly string[]) =>
    reeve("apply", "-f", kept, "--set", set, "--yes", "--json", ...args);
  expect((await apply("kept")).code).toBe(0);
  write("two", "id: [");
  const refused = await apply("kept", "--prune");
  expect(refused.code).toBe(1);
  expect(refused.stdout).not.toContain('"delete"');
  expect((await agents("get", "kept-two")).code).toBe(0);
  rmSync(join(kept, "two.yaml"));
  rmSync(join(kept, "one.yaml"));
  write("three", "id: kept-three\nname: N\nmodel: known\n");
  expect((await apply("another", "--prune")).code).toBe(0);
  expect((await agents("get", "kept-two")).code).toBe(0);
  expect((await agents("get", "kept-one")).code).toBe(0);
});

test("apply asks a person on a terminal, and changes nothing without a yes", async () => {
  const asked = join(folder, "asked.yaml");
  writeFileSync(asked, "id: asked\nname: Asked\nmodel: known\n");
  const apply = (...answers: readonly string[]) =>
    typed({ answers }, "--token", tokens.acme, "apply", "-f", asked);
  expect(await apply("n")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("Apply these changes? [y/N]"),
    stderr: expect.stringContaining("nothing was changed"),
  });
  expect(await apply()).toMatchObject({ code: 1 });
  expect((await apply("y")).stdout).toContain("agent asked created (revision 1)");
});

test("revisions of an agent are listed, compared, and stored again", async () => {
  expect((await agents("revisions", "helper")).stdout.match(/^\d/gm)).toEqual(["3", "2", "1"]);
  expect((await agents("diff", "helper")).stdout).toContain("-instructions: Be brief.");
  const { fields } = JSON.parse((await agents("diff", "helper", "1", "2", "--json")).stdout) as {
    fields: object[];
  };
  expect(fields).toEqual([{ field: "instructions", after: "Be brief." }]);
  const rolled = await agents("rollback", "helper", "2");
  expect(rolled.stdout).toContain("has the spec of revision 2 again (revision 4)");
  expect((await agents("rollback", "helper", "2")).stdout).toContain("nothing was changed");
  expect((await agents("diff", "helper", "9")).stderr).toContain("it has 1 to 4");
});
