import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { AgentSchema, AgentSpecSchema } from "@reeve/contracts/agent";
import { StartRunRequestSchema } from "@reeve/contracts/run";
import type { RunningServer } from "@reeve/platform/rpc/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../src/run-cli.ts";
import { deletedRun, EvaluatedAgents } from "./support/evaluated-agents.ts";
import { MemoryTerminal } from "./support/memory-terminal.ts";

const end = new AbortController();
const service = new EvaluatedAgents();
const { answers, verdicts, created, requests } = service;
let server: RunningServer;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "reeve-eval-"));
  server = await service.serve(end.signal);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function evalRun(...args: readonly string[]) {
  const terminal = new MemoryTerminal();
  const line = ["--url", server.url, "--token", "t", "eval", "run", ...args];
  const code = await runCli(line, { terminal, environment: {}, signal: end.signal });
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

const support = `name: support
agent: helper
concurrency: 2
cases:
  - id: refund
    input: How do I get a refund?
    graders:
      - contains: 30 days
      - not_contains: sorry
      - matches: ^\\w+
  - id: order
    input: Order 7 as JSON
    graders:
      - json_schema: { type: object, required: [id] }
  - id: tone
    input: Be kind
    graders:
      - model: { agent: judge, rubric: The answer is kind. }
`;

// Requirement: TRIG-7
test("an eval grades all answers, and exits with 1 if a case fails", async () => {
  answers.set("How do I get a refund?", "Within 30 days.");
  answers.set("Order 7 as JSON", '{"id":7}');
  answers.set("Be kind", "a kind answer");
  const path = write("support.yaml", support);
  const baseline = join(folder, "before.json");
  const first = await evalRun(path, "--output", baseline);
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("3 of 3 passed") });
  expect(JSON.parse(readFileSync(baseline, "utf8"))).toMatchObject({
    format: 1,
    name: "support",
    cases: [{ id: "refund", passed: true }, { id: "order" }, { id: "tone" }],
  });
  answers.set("Order 7 as JSON", "seven");
  const second = await evalRun(path);
  expect(second.code).toBe(1);
  expect(second.stdout).toMatch(/order +FAIL.*json_schema: the answer is no JSON/);
});

// Requirement: TRIG-7
test("with a baseline, only a regression is a failure", async () => {
  answers.set("How do I get a refund?", "Never.");
  answers.set("Order 7 as JSON", "seven");
  answers.set("Be kind", "a kind answer");
  const path = write("support.yaml", support);
  const bad = join(folder, "bad.json");
  expect((await evalRun(path, "-o", bad)).code).toBe(1);
  const same = await evalRun(path, "--baseline", bad);
  expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining("no case changed") });
  answers.set("How do I get a refund?", "Within 30 days.");
  answers.set("Be kind", "an answer");
  const changed = await evalRun(path, "--baseline", bad);
  expect(changed.code).toBe(1);
  expect(changed.stdout).toMatch(/refund +fixed +contains "30 days"/);
  expect(changed.stdout).toMatch(/tone +regressed +model judge: The answer is kind\./);
});

/** Returns an eval whose only case has a grader with code. */
const withCode = (python: string) => `name: coded
agent: helper
cases:
  - id: refund
    input: How do I get a refund?
    expected: { days: 30 }
    graders: [{ code: { name: days, python: ${JSON.stringify(python)} } }]
`;

// Requirement: TRIG-7
test.each([
  ["true", 0, /refund +pass/],
  ["0.5", 0, /refund +pass/],
  ["0.4", 1, /refund +FAIL .*code days: 0.4/],
  ['[false, "14 days"]', 1, /refund +FAIL .*code days: 14 days/],
  ['{"score": 0.1, "reason": "late"}', 1, /refund +FAIL .*code days: 0.1: late/],
  ["yes", 1, /refund +ERROR .*code days: its code gave no verdict/],
  ["7", 1, /refund +ERROR .*code days: its code gave no verdict/],
])(
  "code gets input, answer, and expected value, and its verdict %j counts",
  async (given, code, shown) => {
    answers.set("How do I get a refund?", "Within 30 days.");
    const python = `def grade(*_): return ${given}`;
    verdicts.set(python, given);
    const result = await evalRun(write("coded.yaml", withCode(python)));
    expect(result).toMatchObject({ code, stdout: expect.stringMatching(shown) });
    const last = [...requests.values()].at(-1);
    expect(last?.labels).toMatchObject({ eval: "coded", eval_case: "refund" });
    expect(JSON.parse(last?.input ?? "")).toEqual({
      python,
      input: "How do I get a refund?",
      answer: "Within 30 days.",
      expected: { days: 30 },
    });
    expect([...created.keys()]).toEqual(["eval-code-grader-1"]);
  },
);

// Requirement: TRIG-7
test("code that crashes is an error of its case, with its exception", async () => {
  answers.set("How do I get a refund?", "Within 30 days.");
  const stderr =
    "Traceback (most recent call last):\n  File 1\nZeroDivisionError: division by zero\n\n[the time limit is 30 s]";
  const problem = `node "grade" failed: ${JSON.stringify({ stderr, success: false })}`;
  verdicts.set("crash", { problem });
  const { code, stdout } = await evalRun(write("coded.yaml", withCode("crash")));
  expect(code).toBe(1);
  expect(stdout).toMatch(/ERROR .*code days: its code failed: ZeroDivisionError: division by zero/);
  const raised = { problem: problem.replace("division by zero", "division\\n  by\\nzero") };
  verdicts.set("lines", raised);
  const lines = await evalRun(write("coded.yaml", withCode("lines")));
  expect(lines.stdout).toMatch(/its code failed: ZeroDivisionError: division /);
  const syntax = JSON.stringify({ stderr: '  File "grader.py"\n    1 +\nSyntaxError: invalid' });
  verdicts.set("syntax", { problem: `node "grade" failed: ${syntax}` });
  const unread = await evalRun(write("coded.yaml", withCode("syntax")));
  expect(unread.stdout).toMatch(/its code failed: SyntaxError: invalid/);
  verdicts.set("late", { problem: "took longer than 60 seconds" });
  const late = await evalRun(write("coded.yaml", withCode("late")));
  expect(late.stdout).toMatch(/ERROR .*code days: its code failed: took longer than 60 seconds/);
});

// Requirement: TRIG-7
test("an agent of somebody else with the id of the code grader gets no answer", async () => {
  const own = created.get("eval-code-grader-1") ?? create(AgentSchema);
  const spec = { ...(own.spec ?? create(AgentSpecSchema)), hitlTools: ["execute_code"] };
  created.set("eval-code-grader-1", { ...own, spec, revision: 2, createdBy: "eve" });
  const before = requests.size;
  const { code, stderr } = await evalRun(write("coded.yaml", withCode("True")));
  expect(code).toBe(1);
  expect(stderr).toMatch(/eval-code-grader-1 \(revision 2 by eve\) is not the one that grades/);
  expect(requests.size).toBe(before);
  created.set("eval-code-grader-1", own);
});

test("a run that fails is a failed case, and the others go on", async () => {
  answers.set("How do I get a refund?", "");
  answers.set("Order 7 as JSON", '{"id":7}');
  const { code, stdout } = await evalRun(write("support.yaml", support));
  expect(code).toBe(1);
  expect(stdout).toMatch(/refund +FAIL.*the provider failed/);
  expect(stdout).toMatch(/order +pass/);
});

test("no more runs are open than the file permits", () => {
  expect(service.maxOpen).toBeLessThanOrEqual(2);
});

// Requirement: TRIG-7
test("the runs of an eval are cases of another one without those that grade by code", async () => {
  answers.set("c", "30 days");
  const labels = { eval: "coded", eval_case: "c" };
  const grading = create(StartRunRequestSchema, {
    agentId: "eval-code-grader-1",
    input: "{}",
    labels,
  });
  requests.set("run_grading", grading);
  requests.set("run_c", create(StartRunRequestSchema, { agentId: "helper", input: "c", labels }));
  service.recorded = ["run_grading", "run_c"];
  const text = ofRuns.replace("agent: helper, limit", "labels: { eval: coded }, limit");
  const { code, stdout } = await evalRun(write("again.yaml", text));
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("1 of 1 passed"),
  });
});

const ofRuns = `name: recorded
agent: helper
from_runs: { agent: helper, limit: 2 }
graders: [{ contains: 30 days }]
`;

// Requirement: TRIG-7
test("the inputs of recorded runs are cases, each once, without those of evals", async () => {
  for (const input of ["a", "b", "c"]) answers.set(input, "30 days");
  const path = write("recorded.yaml", ofRuns);
  service.recorded = [
    deletedRun,
    service.record("run_a", "a"),
    service.record("run_again", "a"),
    service.record("run_b", "b"),
  ];
  const results = join(folder, "recorded.json");
  const { code, stdout } = await evalRun(path, "--json", "--output", results);
  expect(code).toBe(0);
  const { cases } = JSON.parse(stdout) as { readonly cases: readonly { run_id: string }[] };
  expect(cases).toMatchObject([{ passed: true }, { passed: true }]);
  // The same cases, although the newest runs are those of the eval now, and one regresses.
  service.recorded = [...cases.map(({ run_id }) => run_id), ...service.recorded];
  answers.set("b", "never");
  const second = await evalRun(path, "--baseline", results);
  expect(second.code).toBe(1);
  expect(second.stdout).toMatch(/input-[0-9a-f]{16} +regressed/);
  expect(second.stdout).not.toContain("gone");
});

test("at most ten runs are read for each case that is wanted", async () => {
  answers.set("a", "30 days");
  service.recorded = Array.from({ length: 25 }, (_, index) =>
    service.record(`run_same_${index}`, "a"),
  );
  const path = write("recorded.yaml", ofRuns);
  const { code, stderr } = await evalRun(path);
  expect(code).toBe(0);
  expect(stderr).toContain("from_runs: 1 of 2 cases; read the last 20 runs that match\n");
});

// Requirement: TRIG-7
test("cases that are gone since the baseline fail, unless they may be gone", async () => {
  const path = write("recorded.yaml", ofRuns);
  service.recorded = [service.record("run_a", "a"), service.record("run_c", "c")];
  const results = join(folder, "gone.json");
  expect((await evalRun(path, "--output", results)).code).toBe(0);
  service.recorded = ["run_a"];
  const { code, stdout } = await evalRun(path, "--baseline", results);
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/ +gone/) });
  expect((await evalRun(path, "--baseline", results, "--allow-gone")).code).toBe(0);
});

// Requirement: TRIG-7
test("an eval without cases is a failure", async () => {
  service.recorded = [];
  const { code, stderr } = await evalRun(write("recorded.yaml", ofRuns));
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("has no cases") });
});

test.each([
  ["name: x\nagent: y\n", "has no cases"],
  ["name: x\nagent: y\ncases: [{ id: a, input: b }]\n", "has no grader"],
  ["name: x\nagent: y\ncases: [{ id: a, input: b, graders: [{ matches: '(' }] }]\n", "graders"],
  ["name: x\nagent: y\nfrom_runs: {}\n", "needs `graders`"],
  [withCode("a").replace("name: days", "name: days, timeout_s: 301"), "graders"],
])("a file with mistakes starts no run: %j", async (text, problem) => {
  const before = requests.size;
  const { code, stderr } = await evalRun(write("bad.yaml", text));
  expect(code).toBe(1);
  expect(stderr).toContain(problem);
  expect(requests.size).toBe(before);
});
