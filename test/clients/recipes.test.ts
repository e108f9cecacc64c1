import { execFile } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Deployment } from "../system/support/deployment.ts";
import { build, cachesFolder, prepared } from "../system/support/language-providers.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/clients.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "reeve-recipes-"));
const grpcurl = await prepareGrpcurl();
const root = join(import.meta.dirname, "../..");
const data = "examples/csv-report/sales.csv";
let deployment: Deployment;
let runId = "";
let artifactId = "";
/** What the recipe with curl printed. */
let answers: readonly unknown[];

beforeAll(async () => {
  deployment = await Deployment.start();
  await deployment.agent("csv-report", { model: "scripted:talk" });
  mkdirSync(join(folder, ".reeve"));
  writeFileSync(join(folder, ".reeve/token"), `${deployment.token}\n`);
  mkdirSync(join(folder, "examples/csv-report"), { recursive: true });
  copyFileSync(join(root, data), join(folder, data));
  answers = await followed("curl -sS --fail-with-body");
  const [uploaded, started] = answers as readonly {
    readonly artifact?: { readonly artifactId: string };
    readonly run?: { readonly runId: string };
  }[];
  artifactId = uploaded?.artifact?.artifactId ?? "";
  runId = started?.run?.runId ?? "";
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the recipe of docs/clients.md that uses `program` exactly as written, except for the server's address and the run id. */
async function followed(program: string): Promise<readonly unknown[]> {
  return jsonValues(await outputOf(program));
}

/** Returns what the recipe prints. */
async function outputOf(program: string): Promise<string> {
  const recipe = [...page.matchAll(/```sh\n([^`]*)```/g)]
    .map(([, script = ""]) => script)
    .find((script) => new RegExp(`^${program} `, "m").test(script));
  if (recipe === undefined) throw new Error(`docs/clients.md has no recipe with ${program}`);
  const script = recipe
    .replaceAll("127.0.0.1:4680", new URL(deployment.url).host)
    .replaceAll("run_…", runId);
  const env = {
    ...process.env,
    TOKEN: deployment.token,
    FILE: artifactId,
    PATH: `${process.env["PATH"]}:${grpcurl.kind === "ready" ? grpcurl.bin : ""}`,
  };
  const args = ["-euo", "pipefail", "-c", script];
  const { stdout } = await promisify(execFile)("bash", args, { cwd: folder, env, timeout: 60_000 });
  return stdout;
}

/** Parses a sequence of JSON values with or without whitespace between them. */
function jsonValues(text: string): readonly unknown[] {
  const values: unknown[] = [];
  for (let from = 0, to = 1; to <= text.length; to++) {
    try {
      values.push(JSON.parse(text.slice(from, to)));
      from = to;
    } catch {
      // Not a complete value yet.
    }
  }
  return values;
}

describe("the recipe in docs/clients.md", () => {
  test("with curl uploads a file, starts a run with it, and reads the run", () => {
    expect(answers).toHaveLength(3);
    expect(runId).toMatch(/^run_/);
    expect(answers.at(-1)).toMatchObject({ run: { runId, agentId: "csv-report" } });
  });

  test("without a protocol starts the run once for repeated requests, reads it, and streams its events in both formats", async () => {
    const said = await outputOf("curl -sSN --fail-with-body");
    expect(said).toContain(`"agentId":"csv-report"`);
    const [events = "", lines = ""] = said.split(/event: end\ndata: .*RUN_STATUS_COMPLETED.*\n\n/);
    const sequences = [...events.matchAll(/^id: (\d+):\S+$/gm)].map(([, id]) => Number(id));
    expect(sequences.length).toBeGreaterThan(5);
    const messages = jsonValues(lines) as readonly {
      readonly events?: readonly { readonly sequence: number }[];
      readonly endStatus?: string;
    }[];
    expect(messages.at(-1)?.endStatus).toBe("RUN_STATUS_COMPLETED");
    const resumed = messages.flatMap(({ events: some = [] }) => some.map((each) => each.sequence));
    expect(Math.min(...resumed)).toBeGreaterThan(12);
  });

  const why = grpcurl.kind === "missing" ? ` (skipped: ${grpcurl.reason})` : "";
  test.skipIf(grpcurl.kind === "missing")(
    `with grpcurl watches a run, and resumes from sequence 12${why}`,
    async () => {
      const messages = (await followed("grpcurl")) as readonly {
        readonly events?: readonly { readonly sequence: number }[];
        readonly endStatus?: string;
      }[];
      const end = messages.findIndex(({ endStatus }) => endStatus !== undefined);
      const sequences = (from: number, to?: number) =>
        messages
          .slice(from, to)
          .flatMap(({ events = [] }) => events.map(({ sequence }) => sequence));
      const first = sequences(0, end + 1);
      expect(first.length).toBeGreaterThan(5);
      expect(sequences(end + 1)).toEqual(first.filter((sequence) => sequence > 12));
      expect(messages.at(-1)?.endStatus).toBe("RUN_STATUS_COMPLETED");
    },
  );
});

/** Builds grpcurl with the go command; distributions have no package of it. */
async function prepareGrpcurl() {
  return await prepared(async () => {
    const version = "1.9.3";
    const bin = join(cachesFolder, `grpcurl-${version}`);
    if (!existsSync(join(bin, "grpcurl"))) {
      const env = { ...process.env, GOBIN: bin, GOFLAGS: "" };
      await build("go", ["install", `github.com/fullstorydev/grpcurl/cmd/grpcurl@v${version}`], {
        env,
      });
    }
    return { bin };
  });
}
