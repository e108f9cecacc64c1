import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { AgentService } from "@reeve/contracts/agent";
import { ApprovalService, ApprovalState } from "@reeve/contracts/approval";
import { ArtifactService } from "@reeve/contracts/artifact";
import type { RunEventSchema } from "@reeve/contracts/run";
import { RunService, RunStatus } from "@reeve/contracts/run";
import { MemoryService } from "@reeve/contracts/memory";
import { ThreadService } from "@reeve/contracts/thread";
import { ToolService, WorkspaceService } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import type { Reeve } from "../client.ts";
import { MemoryTerminal } from "../testing.ts";
import type { Deciding } from "./decide.ts";
import { playDemo } from "./play.ts";

type EventInit = MessageInitShape<typeof RunEventSchema>;

/** A server in memory whose one run waits for an approval, and publishes what it was given when it is approved. */
function smallReeve(): { readonly reeve: Reeve; readonly started: string[] } {
  const decision = Promise.withResolvers<boolean>();
  const started: string[] = [];
  let uploaded = "";
  let published = false;
  const transport = createRouterTransport((router) => {
    router.service(AgentService, {
      createAgent: ({ spec }) => ({ agent: { ...(spec && { spec }), revision: 1 } }),
    });
    router.service(ArtifactService, {
      uploadArtifact: async (parts) => {
        for await (const { part } of parts) {
          if (part.case === "chunk") uploaded += new TextDecoder().decode(part.value);
        }
        return { artifact: { artifactId: "art_given" } };
      },
      listArtifacts: () => ({ artifacts: published ? [{ artifactId: "art_report" }] : [] }),
      downloadArtifact: async function* () {
        yield { part: { case: "artifact", value: { artifactId: "art_report" } } };
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
        };
      },
    });
    router.service(ApprovalService, {
      decideApproval: ({ approved }) => {
        decision.resolve(approved);
        return {};
      },
    });
  });
  return {
    started,
    reeve: {
      address: { url: "http://memory", token: undefined },
      agents: createClient(AgentService, transport),
      approvals: createClient(ApprovalService, transport),
      artifacts: createClient(ArtifactService, transport),
      files: createClient(WorkspaceService, transport),
      memories: createClient(MemoryService, transport),
      runs: createClient(RunService, transport),
      threads: createClient(ThreadService, transport),
      tools: createClient(ToolService, transport),
      [Symbol.dispose]: () => undefined,
    },
  };
}

async function play(deciding: Deciding, answers: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), "reeve-play-"));
  const csvFile = join(folder, "a.csv");
  const agentFile = join(folder, "agent.yaml");
  const reportPath = join(folder, "report.md");
  writeFileSync(csvFile, "a,b\n1,2\n");
  writeFileSync(agentFile, "id: writer\nname: Writer\nmodel: default\n");
  const terminal = new MemoryTerminal({ answers });
  const { reeve, started } = smallReeve();
  const cli = { terminal, signal: new AbortController().signal };
  const code = await playDemo(cli, reeve, { agentFile, csvFile, reportPath, deciding });
  return { code, said: terminal.said, started, reportPath };
}

test("applies the agent, uploads the file, and saves the report that was approved", async () => {
  const { code, said, started, reportPath } = await play("approve");
  expect(started).toEqual(["writer", "art_given data.csv"]);
  expect(readFileSync(reportPath, "utf8")).toBe("report of a,b\n1,2\n");
  expect(said).toContain(`The report is in ${reportPath}`);
  expect(code).toBe(0);
});

test("publishes nothing when it was said to reject", async () => {
  const { code, said, reportPath } = await play("reject");
  expect(said).toContain("As you decided, no report was published.");
  expect(() => readFileSync(reportPath)).toThrow("ENOENT");
  expect(code).toBe(0);
});

test("asks until the answer is yes or no", async () => {
  const { said, reportPath } = await play("ask", ["", "perhaps", "Y"]);
  expect(said.match(/approve publish_report\? \[y\/n\]/g)).toHaveLength(3);
  expect(readFileSync(reportPath, "utf8")).toContain("report of");
});
