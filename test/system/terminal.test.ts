import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@reeve/client";
import { afterAll, describe, expect, test } from "vitest";
import type { OnTerminal } from "../support/on-terminal.ts";
import { onTerminal, shellEnvironment } from "../support/on-terminal.ts";

const clone = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "reeve-terminal-"));
const report = join(folder, "report.md");
const ctrlC = "\x03";
const folders = [folder];

afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true, force: true });
});

/** Runs a command as a person does: in the clone, on a terminal. */
function typed(command: string, environment: Readonly<Record<string, string>> = {}) {
  const place = { cwd: clone, environment: shellEnvironment(environment) };
  return onTerminal(command, place);
}

/** Returns the printed command that contains `verb`. */
function printed(said: string, verb: string): string {
  const line = said
    .split("\n")
    .find((each) => each.includes(" npx @reeve/cli ") && each.includes(verb));
  if (line === undefined) throw new Error(`no command with ${verb} was printed:\n${said}`);
  return line.trim();
}

async function expectSuccess(command: OnTerminal): Promise<void> {
  expect({ code: await command.code, said: command.said() }).toMatchObject({ code: 0 });
}

describe("the demo on a terminal", () => {
  test("continues when the command that it prints approves in another terminal", async () => {
    using demo = typed(`npm run --silent demo -- --output ${report}`);
    const said = await demo.until(/approve\? \[y\]es\/\[n\]o/);
    using other = typed(printed(said, " approve "));
    await expectSuccess(other);
    await expectSuccess(demo);
    // The question is gone, because somebody has answered it: its line is erased, and not ended.
    expect(demo.said()).not.toMatch(/approve\? \[y\]es\/\[n\]o *\n/);
    expect(readFileSync(report, "utf8")).toContain("Summary");
  });

  test("stores the run on Ctrl-C, and the commands that it prints continue it", async () => {
    using demo = typed(`npm run --silent demo -- --output ${report}`);
    await demo.until(/approve\? \[y\]es\/\[n\]o/);
    demo.type(ctrlC);
    expect(await demo.code).toBe(130);
    const said = demo.said();
    expect(said).not.toContain("error:");
    const [, dataDir = ""] = /the data is in (\S+)/.exec(said) ?? [];
    folders.push(dataDir);
    // It does not use the usual address, which may belong to another server.
    expect(printed(said, " up")).toContain("--listen 127.0.0.1:0");
    using up = typed(printed(said, " up"));
    await up.until(/Press Ctrl-C to stop/);
    using watch = typed(printed(said, " watch "));
    await watch.until(/is waiting for approval[^]* reject [^]*approve\? \[y\]es\/\[n\]o/);
    watch.type("y\r");
    await expectSuccess(watch);
    up.type(ctrlC);
    // npx ends with 130 after Ctrl-C, whatever its command returns.
    expect([0, 130]).toContain(await up.code);
  });
});

describe("npm start on a terminal", () => {
  test("waits on Ctrl-C for the model, says so, and ends at once on the second", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "reeve-terminal-data-"));
    folders.push(dataDir);
    const settings = {
      REEVE_LISTEN: "127.0.0.1:0",
      REEVE_DATA_DIR: dataDir,
      REEVE_SCRIPTS: join(import.meta.dirname, "support/scripts"),
    };
    using up = typed("npm --silent start", settings);
    // The scripts that the user has chosen do not answer the example.
    expect(await up.until(/Press Ctrl-C to stop/)).not.toContain("csv-report");
    const read = (name: string) => readFileSync(join(dataDir, name), "utf8").trim();
    using reeve = connect({ address: read("url"), token: read("token") });
    const { signal } = new AbortController();
    await reeve.agents.apply(
      { id: "ponder", name: "ponder", model: "scripted:ponder" },
      { signal },
    );
    const { runId } = await reeve.startRun({ agentId: "ponder", input: "ponder" }, { signal });
    for await (const { event } of reeve.watch(runId, { signal })) {
      if (event.case === "step") break;
    }
    up.type(ctrlC);
    await up.until(/waiting for the model calls of 1 run, at most 30 s; press Ctrl-C again/);
    up.type(ctrlC);
    expect(await up.code).toBe(130);
    expect(up.said()).not.toMatch(/NATS|    at |"level"/);
  });
});
