import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { connect } from "@reeve/client";
import { AgentService } from "@reeve/contracts/agent";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import type { RunEventSchema } from "@reeve/contracts/run";
import { RunService, RunStatus } from "@reeve/contracts/run";
import { serve } from "@reeve/platform/rpc/server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { MemoryTerminal } from "../../test/support/memory-terminal.ts";
import type { DecisionMode } from "../decisions/decide.ts";
import { playDemo } from "./play-demo.ts";

type EventInit = MessageInitShape<typeof RunEventSchema>;

const services = [AgentService, ApprovalService, ArtifactService, RunService];

/** The API of a server whose only run waits for an approval, and publishes the uploaded file when it is approved. */
function smallReeve() {
  const decision = Promise.withResolvers<boolean>();
  const started: string[] = [];
  let uploaded = "";
  let published = false;
  const routes = (router: ConnectRouter) => {
    router.service(AgentService, {
      createAgent: ({ spec }) => ({ agent: { ...(spec && { spec }), revision: 1 } }),
    });
    router.service(ArtifactService, {
      uploadArtifact: async (parts) => {
        for await (const { part } of parts) {
          if (part.case === "chunk") uploaded += new TextDecoder().decode(part.value);
        }
        return { artifact: { artifactId: "art_0000000000000001" } };
      },
      listArtifacts: () => ({
        artifacts: published ? [{ artifactId: "art_0000000000000002" }] : [],
      }),
      downloadArtifact: async function* () {
        yield { part: { case: "artifact", value: { artifactId: "art_0000000000000002" } } };
        yield { part: { case: "chunk", value: new TextEncoder().encode("report of ") } };
        yield { part: { case: "chunk", value: new TextEncoder().encode(uploaded) } };
      },
    });
    router.service(RunService, {
      startRun: ({ agentId, files }) => {
        started.push(agentId, ...files.map(({ artifactId, path }) => `${artifactId} ${path}`));
        return { run: { runId: "run_1" } };
      },
      watchRun: async function* () {
        const approval = { approvalId: "run_1-3-0", call: { name: "publish_report" } };
        const events = (...inits: readonly EventInit["event"][]) =>
          inits.map((event) => ({ sequence: ++sequence, event }) as EventInit);
        let sequence = 0;
        yield {
          events: events(
            { case: "runPrepared", value: { scripted: true } },
            {
              case: "approval",
              value: { approval: { ...approval, state: ApprovalState.PENDING } },
            },
          ),
        };
        published = await decision.promise;
        const state = published ? ApprovalState.APPROVED : ApprovalState.REJECTED;
        yield {
          events: events(
            { case: "approval", value: { approval: { ...approval, state } } },
            { case: "status", value: { status: RunStatus.COMPLETED } },
          ),
          endStatus: RunStatus.COMPLETED,
        };
      },
    });
    router.service(ApprovalService, {
      listApprovals: () => ({}),
      decideApproval: ({ approved }) => {
        decision.resolve(approved);
        return {};
      },
    });
  };
  return { started, routes };
}

async function play(mode: DecisionMode, answers: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), "reeve-play-"));
  const csvFile = join(folder, "a.csv");
  const agentFile = join(folder, "agent.yaml");
  const reportPath = join(folder, "report.md");
  writeFileSync(csvFile, "a,b\n1,2\n");
  writeFileSync(agentFile, "id: writer\nname: Writer\nmodel: default\n");
  const terminal = new MemoryTerminal({ answers });
  const { started, routes } = smallReeve();
  const { signal } = new AbortController();
  const log = createLogger("test", "silent");
  await using server = await serve(routes, { host: "127.0.0.1", port: 0, services, log }, signal);
  using reeve = connect({ address: server.url });
  const options = { agentFile, csvFile, reportPath, mode, listen: "127.0.0.1:0" };
  const code = await playDemo(
    { terminal, signal, environment: {}, reeve: "npx @reeve/cli" },
    reeve,
    options,
  );
  return { code, stdout: terminal.stdout, started, reportPath };
}

test("applies the agent, uploads the file, and saves the report after an approval", async () => {
  const { code, stdout, started, reportPath } = await play("approve");
  expect(started).toEqual(["writer", "art_0000000000000001 data.csv"]);
  expect(readFileSync(reportPath, "utf8")).toBe("report of a,b\n1,2\n");
  expect(stdout).toContain(`The report is in ${reportPath}`);
  expect(code).toBe(0);
});

test("publishes nothing after a rejection", async () => {
  const { code, stdout, reportPath } = await play("reject");
  expect(stdout).toContain("No report was published, as you decided.");
  expect(() => readFileSync(reportPath)).toThrow("ENOENT");
  expect(code).toBe(0);
});

test("asks until the answer is yes or no", async () => {
  const { stdout, reportPath } = await play("ask", ["", "perhaps", "Y"]);
  expect(stdout.match(/approve\? \[y\]es\/\[n\]o /g)).toHaveLength(3);
  expect(readFileSync(reportPath, "utf8")).toContain("report of");
});
