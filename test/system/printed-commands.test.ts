import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseSpecFile } from "@reeve/agent/spec/spec-file";
import { startEmbedded } from "@reeve/cli/embedded";
import { runCli } from "@reeve/cli/run-cli";
import { MemoryTerminal } from "@reeve/cli/test/support/memory-terminal";
import type { Client } from "@reeve/client";
import { ApprovalState, connect, RunStatus } from "@reeve/client";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PrintedCommand } from "./support/printed/printed-commands.ts";
import { printedCommands, reeveArguments } from "./support/printed/printed-commands.ts";
import { writePrintedFiles } from "./support/printed/printed-files.ts";
import { changedReceipts, receiptLanguages, verifiedBy } from "./support/receipt-programs.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "reeve-printed-"));
const { signal } = new AbortController();
const resources = new AsyncDisposableStack();
resources.defer(async () => rmSync(folder, { recursive: true, force: true }));
let environment: NodeJS.ProcessEnv;
let reeve: Client;
/** A run that has ended and has files. */
let ended: string;
/** A call of another run, which a person approved. */
let decided: { readonly runId: string; readonly approvalId: string };

interface ReeveCommand extends PrintedCommand {
  readonly args: readonly string[];
}

/** Other tests run these: they need another server, or start one. */
const elsewhere: readonly (readonly [pattern: RegExp, test: string])[] = [
  [/^(demo|up)$/, "test/system/terminal.test.ts"],
  [/^--url https:\S+ (login|runs|logout)\b/, "cli/test/sign-in.test.ts"],
  [/^--url https:\S+ --cert-file /, "cli/test/tls.test.ts"],
  [/^rebuild /, "cli/test/rebuild.test.ts"],
  [/^completion /, "cli/src/commands/completion.test.ts"],
  [/^answer /, "cli/test/answer.test.ts"],
  [/ --answer /, "cli/test/approve.test.ts"],
  [/ --scope |^grants( |$)/, "cli/test/grants.test.ts"],
  [/^tenants /, "cli/src/commands/operate/tenants.test.ts"],
  [/^notifications /, "services/approvals/test/notifications.test.ts"],
  // Needs providers that the file of the runtime permits.
  [/^models (apply|delete) /, "cli/test/models.test.ts"],
  // Needs models that generate.
  [/ examples\/media\/|^run illustrator /, "test/system/examples.test.ts"],
];

const printed: readonly ReeveCommand[] = printedCommands().flatMap((command) => {
  const args = reeveArguments(command.line);
  return args === undefined ? [] : [{ ...command, args }];
});
const commands = printed.filter(
  ({ args, line }, index) =>
    !elsewhere.some(([pattern]) => pattern.test(args.join(" "))) &&
    printed.findIndex((other) => other.line === line) === index,
);

beforeAll(async () => {
  // A sandbox of root runs as another user.
  chmodSync(folder, 0o711);
  writePrintedFiles(folder);
  const { url, token } = resources.use(
    await startEmbedded(
      {
        listen: "127.0.0.1:0",
        dataDir: join(folder, "data"),
        settings: { REEVE_SCRIPTS: join(folder, "scripts"), REEVE_SANDBOX: "bubblewrap" },
        log: createLogger("test", "silent"),
      },
      signal,
    ),
  );
  environment = { REEVE_URL: url, REEVE_TOKEN: token };
  reeve = resources.adopt(connect({ address: url, token }), (client) => client.close());
  const approvalPolicy = { breakGlass: { people: ["me"], allowRequester: true } };
  const writer = { id: "writer", name: "Writer", model: "default" };
  const spec = { ...writer, hitlTools: ["write_file"], approvalPolicy };
  await reeve.agents.apply(spec, { signal });
  ended = await endedRun("answer");
  for (const path of ["report.md", "data.bin"]) {
    await reeve.files.write(ended, path, Buffer.from("text"), { signal });
  }
  decided = await waitingRun();
  await reeve.decide({ approvalId: decided.approvalId, approved: true }, { signal });
  await untilEnd(decided.runId);
}, 120_000);

afterAll(() => resources.disposeAsync());

async function started(input: string): Promise<string> {
  const { runId } = await reeve.startRun({ agentId: "writer", input }, { signal });
  return runId;
}

async function endedRun(input: string): Promise<string> {
  const runId = await started(input);
  await untilEnd(runId);
  return runId;
}

async function untilEnd(runId: string): Promise<void> {
  for await (const _ of reeve.watch(runId, { signal }));
}

/** Starts a run that waits for a person, and returns its id and that of its approval. */
async function waitingRun(): Promise<{ readonly runId: string; readonly approvalId: string }> {
  const runId = await started("wait");
  for await (const { event } of reeve.watch(runId, { signal })) {
    if (event.case !== "approval") continue;
    return { runId, approvalId: event.value.approval?.approvalId ?? "" };
  }
  throw new Error(`${runId} ended without an approval`);
}

/** Returns the arguments with the ids and the local files that stand for those of the page. */
async function filledIn({ args }: ReeveCommand): Promise<readonly string[]> {
  const [verb = "", action] = args.filter((word) => !word.startsWith("-"));
  const filled: string[] = [];
  for (const [index, word] of args.entries()) {
    const before = args[index - 1] ?? "";
    filled.push(
      word === "RUN" || word === "run_…"
        ? await runFor(verb)
        : word === "CALL"
          ? decided.approvalId
          : word === "ID"
            ? await idFor(action)
            : word === "art_…"
              ? await artifact()
              : isLocal(word, before, verb)
                ? join(folder, word)
                : word === "http://127.0.0.1:4680"
                  ? (environment["REEVE_URL"] ?? "")
                  : word,
    );
  }
  return filled;
}

/** Whether a word is the path of a local file that is not a part of the repository. */
function isLocal(word: string, before: string, verb: string): boolean {
  if (word === "csv-report") return verb === "init";
  return (
    /^(csv-report|my-agent)\/|^\.\/|^(agent|greeting)\.yaml$|^agents\/$/.test(word) ||
    before === "-o" ||
    (verb === "verify" && /^receipt\.json$|^keys\.pem$|^log\.jsonl$/.test(word)) ||
    (before === "--file" && verb === "tokens")
  );
}

async function idFor(action: string | undefined): Promise<string> {
  if (action !== "revoke") return (await waitingRun()).approvalId;
  const tokens = readFileSync(join(folder, "tokens"), "utf8");
  return /sha256:([0-9a-f]{12})/.exec(tokens)?.[1] ?? "";
}

async function artifact(): Promise<string> {
  const content = Buffer.from("text");
  return (await reeve.upload({ name: "a.txt", content }, { signal })).artifactId;
}

async function runFor(verb: string): Promise<string> {
  if (verb === "send" || verb === "cancel") return (await waitingRun()).runId;
  // A script that refuses the first call: the second succeeds.
  if (verb === "retry") return await endedRun("fail");
  if (verb === "delete") return await endedRun("answer");
  if (verb === "export") return decided.runId;
  return ended;
}

describe("each printed command of the command line works", () => {
  test.each(commands.map((command) => [command.page, command.line, command] as const))(
    "%s: %s",
    async (_, __, command) => {
      const args = await filledIn(command);
      if (args[0] === "init") rmSync(args[1] ?? "", { recursive: true, force: true });
      const terminal = new MemoryTerminal();
      const approving = new AbortController();
      const approved = args.includes("--watch") ? approveAll(approving.signal) : undefined;
      const code = await runCli(args, { terminal, environment, signal });
      approving.abort();
      await approved;
      const { stdout, stderr } = terminal;
      expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
      expect(stderr).not.toMatch(/error|warning/);
    },
  );
});

/** Approves what the run of a command asks for, as a person in another terminal does. */
async function approveAll(stopped: AbortSignal): Promise<void> {
  try {
    for await (const approval of reeve.watchApprovals({ signal: stopped })) {
      if (approval.agentId === "writer" || approval.state !== ApprovalState.PENDING) continue;
      await reeve.decide({ approvalId: approval.approvalId, approved: true }, { signal });
    }
  } catch (error) {
    if (!stopped.aborted) throw error;
  }
}

/** Recipes, with functions that start their runs and return the ids. */
const recipes: readonly (readonly [string, () => Promise<string>])[] = [
  ["README.md with --thread", startedInThread],
  ["docs/clients.md with curl", startedWithCurl],
];

test.each(recipes)("the recipe of %s ends with the figures of its file", async (_, start) => {
  const agent = parseSpecFile(readFileSync(join(folder, "agent.yaml"), "utf8"), "agent.yaml");
  await reeve.agents.apply(agent, { signal });
  const stop = new AbortController();
  const approved = approveAll(stop.signal);
  const runId = await start();
  await untilEnd(runId);
  stop.abort();
  await approved;
  const { output, status } = await reeve.getRun(runId, { signal });
  expect({ status, output }).toEqual({
    status: RunStatus.COMPLETED,
    output: expect.stringContaining("120 rows and 9 columns"),
  });
});

async function startedInThread(): Promise<string> {
  const args = printed.find(({ args: words }) => words.includes("--thread"))?.args ?? [];
  const terminal = new MemoryTerminal();
  // Not in the thread of the command, which has a turn in progress.
  const other = args.map((word) => (word === "sales" ? "other" : word));
  expect(await runCli(other, { terminal, environment, signal })).toBe(0);
  return terminal.stdout.trim();
}

async function startedWithCurl(): Promise<string> {
  mkdirSync(join(folder, ".reeve"));
  writeFileSync(join(folder, ".reeve/token"), `${environment["REEVE_TOKEN"]}\n`);
  mkdirSync(join(folder, "examples/csv-report"), { recursive: true });
  copyFileSync(join(folder, "prices.csv"), join(folder, "examples/csv-report/sales.csv"));
  const page = readFileSync(join(root, "docs/clients.md"), "utf8");
  const [, recipe = ""] = /```sh\n(TOKEN=[^`]*)```/.exec(page) ?? [];
  const script = recipe.replaceAll("http://127.0.0.1:4680", environment["REEVE_URL"] ?? "");
  const { stdout } = await promisify(execFile)("bash", ["-euc", script], { cwd: folder });
  return /"runId":"(run_[a-z0-9]*)"/.exec(stdout)?.[1] ?? "";
}

test.for(receiptLanguages)(
  "the program in %s on the page about receipts verifies one, and refuses it with any byte changed",
  async (language, { skip }) => {
    const receipt = (await printedBy(["receipt", decided.approvalId])).trimEnd();
    const receipts = [receipt, ...changedReceipts(receipt)];
    const keys = await printedBy(["receipt-keys", "--pem"]);
    const said = await verifiedBy(language, keys, receipts);
    if (said === undefined) return skip(`${language} is not installed`);
    expect(said[0]).toBe(`verified ${decided.approvalId}`);
    expect(said).toHaveLength(receipts.length);
    expect(said.slice(1).filter((line) => !line.startsWith("refused "))).toEqual([]);
  },
);

test("plain HTTP gives the receipt that the command line gives", async () => {
  const { runId, approvalId } = decided;
  const url = `${environment["REEVE_URL"]}/v1/runs/${runId}/calls/${approvalId}/receipt`;
  const headers = { authorization: `Bearer ${environment["REEVE_TOKEN"]}` };
  const answer = (await (await fetch(url, { headers })).json()) as { readonly envelope: object };
  const receipt = await printedBy(["receipt", approvalId]);
  expect(JSON.stringify(answer.envelope)).toBe(receipt.trimEnd());
});

async function printedBy(args: readonly string[]): Promise<string> {
  const terminal = new MemoryTerminal();
  expect(await runCli(args, { terminal, environment, signal })).toBe(0);
  return terminal.stdout;
}

test("the commands that other tests run have these tests", () => {
  for (const [pattern, file] of elsewhere) {
    expect(printed.some(({ args }) => pattern.test(args.join(" ")))).toBe(true);
    expect({ file, exists: existsSync(join(root, file)) }).toEqual({ file, exists: true });
  }
});
