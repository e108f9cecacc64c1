import { execFile, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packNpm } from "../../scripts/release/pack-npm.ts";
import { inheritedEnv } from "../support/inherited-env.ts";
import { chunk, done } from "../support/model-answers.ts";
import { startModelServer } from "../support/model-server.ts";
import type { OnTerminal } from "../support/on-terminal.ts";
import { onTerminal } from "../support/on-terminal.ts";
import { userPath } from "../support/user-path.ts";

const root = join(import.meta.dirname, "../..");
/** An empty project of a user, outside of the repository. */
const project = mkdtempSync(join(tmpdir(), "reeve-install-"));
const authorities = process.env["NODE_EXTRA_CA_CERTS"];
/** The optional package with the Node that runs the command line where that of the user is older. */
const pinnedNode = `node-linux-${process.arch}`;
const environment = {
  ...inheritedEnv,
  PATH: userPath,
  // The home folder of that user.
  HOME: project,
  // For npm, where a proxy with an authority of its own is between this machine and the registry.
  ...(authorities !== undefined && { NODE_EXTRA_CA_CERTS: authorities }),
  npm_config_audit: "false",
  npm_config_fund: "false",
};

/** The tests of root run as an ordinary user, who may write into no folder but its own. */
const user = ordinaryUser();

function ordinaryUser(): { readonly uid: number; readonly gid: number } | undefined {
  const nobody = { uid: 65_534, gid: 65_534 };
  if (process.getuid?.() !== 0) return undefined;
  const { stdout } = spawnSync(process.execPath, ["--version"], {
    ...nobody,
    env: environment,
    cwd: "/",
    encoding: "utf8",
  });
  // A clone in the home folder of root has a Node that nobody else can start.
  return stdout.trim() === process.version ? nobody : undefined;
}

beforeAll(async () => {
  chmodSync(project, 0o700);
  if (user !== undefined) chownSync(project, user.uid, user.gid);
  const archives: string[] = [];
  for (const name of ["@reeve/cli", "@reeve/local"]) {
    archives.push(await packNpm(root, name, project));
  }
  // The optional packages are the pinned Node, which this machine has.
  const flags = ["--omit=optional", "--prefer-offline", "--silent"];
  await inProject(["npm", "install", ...flags, ...archives]);
  const installed = join(root, "node_modules", pinnedNode);
  if (existsSync(installed)) symlinkSync(installed, join(project, "node_modules", pinnedNode));
}, 300_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

async function inProject(
  [program = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { cwd: project, env: { ...environment, ...env }, timeout: 240_000, ...user };
  const { stdout } = await promisify(execFile)(program, args, options);
  return stdout;
}

function onScreen(command: string): OnTerminal {
  return onTerminal(command, { cwd: project, environment, ...user });
}

describe("the packed command line, installed into an empty project", () => {
  test("contains all packages that it imports, with their licenses", () => {
    const folder = join(project, "node_modules/@reeve/cli");
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    expect(manifest).not.toHaveProperty("dependencies");
    const licenses = readFileSync(join(folder, "programs/licenses.md"), "utf8");
    expect(licenses).toMatch(/^## commander \S+ \(MIT\)\n\n\(The MIT License\)/m);
    expect(licenses).toMatch(/^## @bufbuild\/protobuf .*\n\nCopyright 2008 Google Inc\./m);
    const sections = licenses.split(/^## /m).slice(1);
    expect(sections.filter((text) => text.trim().split("\n").length < 3)).toEqual([]);
  });

  test("plays the demo", async () => {
    const said = await inProject(["npx", "@reeve/cli", "demo", "--yes"]);
    expect(said).toContain("✓ completed");
    expect(readFileSync(join(project, "report.md"), "utf8")).toContain("120 rows");
  });

  test("starts a server, and each command that it prints works in another terminal", async () => {
    using up = onScreen("REEVE_LISTEN=127.0.0.1:0 npx @reeve/cli up");
    const said = await up.until(/Press Ctrl-C to stop/);
    const printed = said.split("\n").filter((line) => line.startsWith("  npx @reeve/cli "));
    expect(printed).toHaveLength(3);
    for (const command of printed.slice(0, -1)) {
      using running = onScreen(command.trim());
      expect({ code: await running.code, said: running.said() }).toMatchObject({ code: 0 });
    }
    using run = onScreen(printed.at(-1)?.trim() ?? "");
    const waiting = await run.until(/is waiting for approval[^]* reject /);
    const approve = waiting.split("\n").find((line) => line.includes(" approve run_"));
    using approved = onScreen(approve?.trim() ?? "");
    expect({ code: await approved.code, said: approved.said() }).toMatchObject({ code: 0 });
    expect({ code: await run.code, said: run.said() }).toMatchObject({ code: 0 });
    up.type("\x03");
    // npx ends with 130 after Ctrl-C, whatever its command returns.
    expect([0, 130]).toContain(await up.code);
  });
});

describe("the packed library runs", () => {
  test("the first program of its README, in TypeScript", async () => {
    await using model = await startModelServer();
    const said = await runProgram("ts", model.url);
    expect(said).toMatch(/^\S.*\n$/);
    expect(model.requests).toHaveLength(1);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("What is a river?");
  });

  test("the program of its README with a tool", async () => {
    await using model = await startModelServer();
    const call = { name: "stock", arguments: '{"article":"chair"}' };
    const calls = [{ index: 0, id: "1", type: "function", function: call }];
    model.program({ body: [chunk({ tool_calls: calls }), chunk({}, "tool_calls"), done] });
    const said = await runProgram("mjs", model.url);
    expect(said).toMatch(/\ncompleted\n$/);
    expect(model.requests).toHaveLength(2);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("pieces");
  });
});

/** Runs the program of the README in TypeScript, or the one in JavaScript, and returns what it prints. */
async function runProgram(extension: "ts" | "mjs", modelUrl: string): Promise<string> {
  const readme = readFileSync(join(root, "packages/local/README.md"), "utf8");
  const language = extension === "ts" ? "ts" : "js";
  const [, program = ""] =
    new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "m").exec(readme) ?? [];
  writeFileSync(join(project, `program.${extension}`), program);
  return await inProject([process.execPath, `program.${extension}`], {
    OPENAI_API_KEY: "key",
    OPENAI_BASE_URL: modelUrl,
    OPENAI_MODEL: "text:20",
  });
}
