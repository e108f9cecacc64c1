import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { RunStatus } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import type { ModelServer } from "../support/model-server.ts";
import { startModelServer } from "../support/model-server.ts";
import { Deployment } from "./support/deployment.ts";
import type { Exposed } from "./support/promql.ts";
import { exposedIn, legendProblems, queryProblems } from "./support/promql.ts";
import type { SpanReceiver } from "./support/span-receiver.ts";
import { receiveSpans } from "./support/span-receiver.ts";
import { approve, eventOf, watchToEnd } from "./support/watching.ts";

const monitoring = join(import.meta.dirname, "../../deploy/k8s/components/monitoring");
const services = ["gateway", "runtime", "toolhost", "approvals"] as const;
const registry = `
models:
  - id: priced
    provider: openai
    upstream_name: text:5
    context_window: 100000
    max_output_tokens: 1000
    pricing: { input_usd_per_million: 10, output_usd_per_million: 10 }
`;

let models: ModelServer;
let receiver: SpanReceiver;
let deployment: Deployment;
let exposed: Exposed;
let texts: readonly string[];

beforeAll(async () => {
  models = await startModelServer();
  receiver = await receiveSpans();
  deployment = await Deployment.start(
    {
      OPENAI_API_KEY: "sk-never-to-be-seen",
      OPENAI_BASE_URL: models.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: "50",
      REEVE_TRACE_CONTENT: "true",
    },
    { REEVE_MODELS: registry },
  );
  await deployment.agent("publish", {
    permissionClasses: ["execute"],
    hitlTools: ["publish_report"],
    deepAgent: { allowedImports: fromJson(ListValueSchema, ["time", "pathlib"]) },
  });
  await deployment.agent("talker", { model: "priced" });
  await runToEnd("talker");
  await runToEnd("publish");
  // The index behind the metrics follows the logs with a short delay.
  await vi.waitUntil(
    async () => (await metricsOf("gateway")).includes('reeve_runs_total{status="completed"} 2'),
    { timeout: 20_000, interval: 100 },
  );
  texts = await Promise.all(services.map(metricsOf));
  exposed = exposedIn(texts);
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

async function runToEnd(agentId: string): Promise<void> {
  const { run } = await deployment.reeve.runs.startRun({ agentId, input: "please report" });
  const runId = run?.runId ?? "";
  if (agentId === "publish") {
    await eventOf(deployment, runId, "runParked");
    await approve(deployment, runId);
  }
  await watchToEnd(deployment, runId);
  // The same run, watched again by another client.
  for await (const { endStatus } of deployment.reeve.runs.watchRun({ runId, afterSequence: 2 })) {
    if (endStatus !== RunStatus.UNSPECIFIED) break;
  }
}

async function metricsOf(name: (typeof services)[number]): Promise<string> {
  return await (await fetch(`${await deployment.probesOf(name)}/metrics`)).text();
}

/** Returns the value of a metric with exactly these labels, in the service's order. */
function valueOf(series: string): number {
  const line = texts
    .flatMap((text) => text.split("\n"))
    .find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length));
}

interface Query {
  readonly expr: string;
  readonly legendFormat?: string;
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly Query[] }[];
}
interface Rules {
  readonly spec: {
    readonly groups: readonly { readonly rules: readonly { expr: string }[] }[];
  };
}

function queriesOf(dashboard: string, rules: string): readonly Query[] {
  // Both files are part of this repository; an unexpected structure appears as a missing query.
  const { panels } = JSON.parse(dashboard) as Dashboard;
  const { spec } = parse(rules) as Rules;
  return [
    ...panels.flatMap(({ targets = [] }) => targets),
    ...spec.groups.flatMap(({ rules }) => rules),
  ];
}

function problemsOf(queries: readonly Query[]): readonly string[] {
  return queries.flatMap(({ expr, legendFormat = "" }) => [
    ...queryProblems(expr, exposed),
    ...legendProblems(legendFormat, expr),
  ]);
}

const dashboard = readFileSync(join(monitoring, "dashboard.json"), "utf8");
const rules = readFileSync(join(monitoring, "rules.yaml"), "utf8");

describe("the metrics of a deployment", () => {
  test("report runs, tools, models, approvals, and sandboxes correctly", () => {
    expect(valueOf('reeve_tool_calls_total{tool="execute_code",outcome="success"}')).toBe(1);
    expect(valueOf('reeve_tool_calls_total{tool="publish_report",outcome="success"}')).toBe(1);
    expect(valueOf('reeve_approval_wait_seconds_count{outcome="approved"}')).toBe(1);
    expect(valueOf("reeve_approvals_pending")).toBe(0);
    expect(valueOf("reeve_runs_active")).toBe(0);
    expect(valueOf('reeve_run_duration_seconds_count{status="completed"}')).toBe(2);
    expect(valueOf('reeve_sandbox_start_seconds_count{start="cold"}')).toBeGreaterThan(0);
    expect(valueOf("reeve_stream_resumes_total")).toBe(2);
    expect(valueOf('reeve_model_calls_total{model="text:5",outcome="answered"}')).toBe(1);
    expect(valueOf('reeve_model_cost_usd_total{model="scripted"}')).toBeGreaterThan(0);
  });

  // Requirement: OPS-3
  test("have no run and no tenant as label values", () => {
    const own = texts
      .flatMap((text) => text.split("\n"))
      .filter((line) => line.startsWith("reeve_"));
    expect(own.length).toBeGreaterThan(20);
    expect(own.filter((line) => /run_[a-z2-7]{26}|acme|tester/.test(line))).toEqual([]);
  });

  // Requirement: OPS-3
  test("include each metric and label that the dashboard and the alerts query", () => {
    const queries = queriesOf(dashboard, rules);
    expect(queries.length).toBeGreaterThan(20);
    expect(problemsOf(queries)).toEqual([]);
  });

  test.each([
    ["a metric", "reeve_runs_active", "reeve_runs_alive", "no metric reeve_runs_alive exists"],
    ["a label", 'status=\\"error\\"', 'state=\\"error\\"', "reeve_runs_total has no label state"],
    ["a grouping", "by (model, kind)", "by (model, type)", "has no label type to group by"],
    ["a legend", "{{start}}", "{{begin}}", "the legend shows begin"],
    ["an alert", "nodejs_eventloop_lag_p99", "nodejs_lag_p99", "no metric nodejs_lag_p99_seconds"],
    ["a label of an alert", 'outcome!~"answered', 'result!~"answered', "has no label result"],
    ["a query", "sum by (le, start) (rate(", "sum by (le, start) (rate((", "cannot be read"],
  ])("a query check finds a wrong %s", (_, right, wrong, said) => {
    expect(`${dashboard}${rules}`).toContain(right);
    const broken = [dashboard, rules].map((file) => file.replaceAll(right, wrong));
    expect(problemsOf(queriesOf(broken[0] ?? "", broken[1] ?? "")).join("\n")).toContain(said);
  });
});

test("spans contain contents only if enabled, and never secrets", async () => {
  const has = (name: string, part: string) =>
    receiver.spans.some(({ attributes }) => String(attributes[name]).includes(part));
  // Each process exports independently.
  const spans = await receiver.until(
    () =>
      has("gen_ai.tool.call.result", "report") &&
      has("gen_ai.tool.call.arguments", "counter.txt") &&
      has("gen_ai.input.messages", "please report"),
  );
  expect(spans.length).toBeGreaterThan(0);
  const all = Buffer.concat(receiver.raw).toString("latin1");
  for (const secret of ["sk-never-to-be-seen", deployment.token]) {
    expect(all).not.toContain(secret);
  }
});
