import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import { RunStatus } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { withAppendObserver } from "@reeve/jetstream/log/with-append-observer";
import { appendExternal } from "@reeve/run/commands/append-external";
import { runOf } from "@reeve/run/head/run-of";
import { turnHistory } from "@reeve/run/thread/history/turn-history";
import { describe, expect, test } from "vitest";
import { asText, GuardedRun, guardrails } from "../../../test/support/guarded-run.ts";
import { endOf } from "../../../test/support/plugins/plugin-bench.ts";
import { expectWhole, key, resultsOf } from "../../../test/support/worker-bench.ts";

const hello = [{ text: "Hello." }];
const mail = "ann@example.org";

const finishing = (who: string) => ({
  calls: [["finish_subtask", JSON.stringify({ who })]] as const,
});

// Requirement: RES-13
describe("a guard of the input", () => {
  test("stops a run before its first step, and says what it found without repeating it", async () => {
    const input = [{ name: "no-mail", detect: ["email"], action: "stop" }];
    const run = await new GuardedRun(hello).drive(guardrails({ input }), { input: mail });
    expect(run.requests).toEqual([]);
    const { error } = await endOf(run.bench);
    expect(error?.reason).toBe("guardrail_tripped");
    expect(error?.message).toContain('the guard "no-mail" stopped the run: it contains a text of');
    expect(error?.message).not.toContain(mail);
  });

  test("replaces what the model and the planner read, and what later turns read", async () => {
    const input = [{ name: "no-mail", detect: ["email"], action: "redact" }];
    const spec = { planningEnabled: true, ...guardrails({ input }) };
    const created = {
      input: `I am ${mail}.`,
      messages: [{ role: Role.USER, text: `Was ${mail}.` }],
    };
    const run = await new GuardedRun(hello).drive(spec, created);
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    expect(run.requests.length).toBe(2);
    for (const index of [0, 1]) {
      expect(run.read(index)).toContain("I am [redacted: email].");
      expect(run.read(index)).toContain("Was [redacted: email].");
      expect(run.read(index)).not.toContain(mail);
    }
    const history = JSON.stringify(turnHistory(await run.bench.events()), asText);
    expect(history).toContain("I am [redacted: email].");
    expect(history).not.toContain(mail);
  });
});

test("a guard of the input looks at messages that are sent later", async () => {
  const input = [{ name: "no-mail", detect: ["email"], action: "redact" }];
  const run = new GuardedRun(hello);
  await run.bench.create(guardrails({ input }));
  const message = { role: Role.USER, text: `Ask ${mail}.` };
  const facts = [{ case: "messageSubmitted" as const, value: { messageId: "m", message } }];
  const ports = { log: run.bench.log, dispatch: run.bench.dispatch };
  await appendExternal(ports, key, () => facts, new AbortController().signal);
  await run.bench.drive("w");
  expectWhole(await run.bench.events(), RunStatus.COMPLETED);
  expect(run.read(0)).toContain("Ask [redacted: email].");
  expect(JSON.stringify(turnHistory(await run.bench.events()), asText)).not.toContain(mail);
});

test("guards of a delegate look at its task, its calls, and its answer; those of the agent at its calls", async () => {
  const run = new GuardedRun(({ messages, tools }) => {
    const isLead = tools.some(({ name }) => name === "agent_run_helper");
    const turns = messages.filter(({ role }) => role === "verbatim").length;
    if (isLead) {
      const prompt = JSON.stringify({ prompt: `Ask ${mail}.` });
      return turns === 0 ? { calls: [["agent_run_helper", prompt]] } : { text: "Done." };
    }
    if (turns === 0) return { calls: [["count", '{"q":"x"}']] };
    return { text: turns === 1 ? "damn" : "Sorry." };
  });
  const ofHelper = {
    input: [{ name: "no-mail", detect: ["email"], action: "redact" }],
    output: [{ name: "tone", literals: ["damn"], action: "refuse" }],
  };
  const helper = { id: "helper", name: "helper", model: "test:x", ...guardrails(ofHelper) };
  const tools = [{ name: "no-x", tools: ["count"], literals: ["x"], action: "refuse" }];
  await run.drive(
    { delegates: ["helper"], ...guardrails({ tools }) },
    { delegates: [{ agentId: "helper", revision: 1, spec: helper }] },
  );
  expectWhole(await run.bench.events(), RunStatus.COMPLETED);
  expect(await run.verdicts()).toEqual(["no-mail: REDACT", "no-x: REFUSE", "tone: REFUSE"]);
  expect(run.read(1)).toContain("Ask [redacted: email].");
  expect((await resultsOf(run.bench)).at(-1)).toBe("Sorry.");
});

// Requirement: RES-13
describe("a guard of the output", () => {
  const output = [{ name: "tone", literals: ["damn"], action: "refuse", reason: "be polite" }];

  test("has the model answer once more, and voids what was shown", async () => {
    const run = await new GuardedRun([{ text: "damn" }, { text: "Sorry." }]).drive(
      guardrails({ output }),
    );
    const head = await endOf(run.bench);
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    expect(runOf(head).output).toBe("Sorry.");
    expect(run.read(1)).toContain('the guard \\"tone\\" refuses this answer: be polite');
    const events = await run.bench.events();
    expect(events.filter(({ event }) => event.case === "textVoided")).toHaveLength(1);
    expect(JSON.stringify(turnHistory(events), asText)).not.toContain("damn");
  });

  test("ends the run at the second refusal in a row", async () => {
    const run = await new GuardedRun([{ text: "damn" }]).drive(guardrails({ output }));
    expect(run.requests).toHaveLength(2);
    const head = await endOf(run.bench);
    expect(head.error).toMatchObject({
      reason: "guardrail_tripped",
      message: expect.stringContaining("2 answers in a row were refused"),
    });
    expect(runOf(head).output).toBe("");
  });

  test("refuses a turn whose calls would stop the run", async () => {
    const turns = [{ text: "damn", calls: [["count", "{}"]] as const }, { text: "Sorry." }];
    const sections = { stop: fromJson(ValueSchema, { tools: ["count"] }) };
    const guarded = guardrails({ output }).sections;
    const run = await new GuardedRun(turns).drive({ sections: { ...guarded, ...sections } });
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    expect(run.bench.executed).toEqual([]);
    expect(runOf(await endOf(run.bench)).output).toBe("Sorry.");
  });

  test("refuses the calls of a refused turn", async () => {
    const turns = [{ text: "damn", calls: [["count", "{}"]] as const }, { text: "Sorry." }];
    const run = await new GuardedRun(turns).drive(guardrails({ output }));
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    expect(run.bench.executed).toEqual([]);
    expect(await resultsOf(run.bench)).toEqual([expect.stringContaining("be polite")]);
  });

  test("with hold shows nothing that it refuses", async () => {
    const run = await new GuardedRun([{ text: "damn" }, { text: "Sorry." }]).drive(
      guardrails({ hold: true, output }),
    );
    const texts = (await run.bench.events()).flatMap(({ event }) =>
      event.case === "text" ? [event.value.text] : [],
    );
    expect(texts).toEqual(["Sorry."]);
    expect(await run.verdicts()).toEqual(["tone: REFUSE"]);
  });

  test("with hold replaces parts of what people and later steps read", async () => {
    const redact = [{ name: "no-mail", detect: ["email"], action: "redact" }];
    const turns = [{ text: `Ask ${mail}.`, calls: [["count", "{}"]] as const }, ...hello];
    const run = await new GuardedRun(turns).drive(guardrails({ hold: true, output: redact }));
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    const log = JSON.stringify(await run.bench.events(), asText);
    expect(log).toContain("Ask [redacted: email].");
    expect(log).not.toContain(mail);
    expect(run.read(1)).toContain("Ask [redacted: email].");
    expect(run.read(1)).not.toContain(mail);
  });

  test("checks an answer by a schema", async () => {
    const schema = { type: "object", required: ["n"] };
    const typed = [{ name: "typed", schema, action: "refuse" }];
    const run = await new GuardedRun([{ text: "one" }, { text: '{"n":1}' }]).drive(
      guardrails({ output: typed }),
    );
    expect(runOf(await endOf(run.bench)).output).toBe('{"n":1}');
    expect(run.read(1)).toContain("it is not JSON");
  });

  test("refuses a result with a schema, so that the model gives another one", async () => {
    const outputSchema = { type: "object", properties: { who: { type: "string" } } };
    const run = await new GuardedRun([finishing("damn"), finishing("ann")]).drive({
      outputSchema,
      ...guardrails({ output }),
    });
    const head = await endOf(run.bench);
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    expect(runOf(head).structuredOutput).toEqual({ who: "ann" });
  });
});

test("guards of the operator's policy hold beside those of the agent, and are named", async () => {
  const run = new GuardedRun(hello);
  const rules = [
    { name: "base", guardrails: { input: [{ name: "go", literals: ["go"], action: "stop" }] } },
  ];
  run.bench.policy = parsePolicyFile(JSON.stringify({ rules }), "policy.yaml");
  await run.drive({});
  expect((await endOf(run.bench)).error?.message).toContain(
    'the guard "go" of the operator\'s policy',
  );
});

/** Drives a run of an agent with a spec under a policy that denies a model, and has a part of a rule more. */
async function drivenWithout(
  model: string,
  rule: object,
  spec: Parameters<GuardedRun["drive"]>[0],
) {
  const run = new GuardedRun(hello);
  const rules = [{ name: "base", deny: { models: [model] }, ...rule }];
  run.bench.policy = parsePolicyFile(JSON.stringify({ rules }), "policy.yaml");
  return await run.drive(spec);
}

// Requirement: RES-13
test("the policy withholds no model from its own guards", async () => {
  const judge = { name: "j", model: { id: "test:judge", policy: "p" }, action: "stop" };
  const own = await drivenWithout("test:judge", { guardrails: { input: [judge] } }, {});
  expectWhole(await own.bench.events(), RunStatus.COMPLETED);
  expect(own.checked).toEqual(["go"]);
  const ofAgent = await drivenWithout("test:judge", {}, guardrails({ input: [judge] }));
  expect((await endOf(ofAgent.bench)).error?.message).toContain("withholds the model");
});

// Requirement: RES-11, RES-13
test("no guard checks again what has a verdict in the log, wherever its worker dies", async () => {
  const judged = { name: "j", model: { policy: "p" } };
  const spec = guardrails({
    input: [{ ...judged, action: "stop" }],
    output: [{ ...judged, name: "k", action: "refuse" }],
    tools: [{ ...judged, name: "l", action: "refuse" }],
  });
  const turns = [{ text: "Counting.", calls: [["count", "{}"]] as const }, ...hello];
  const run = new GuardedRun(turns);
  await run.bench.create(spec);
  for (let worker = 1; worker < 40; worker++) {
    if ((await endOf(run.bench)).endSequence !== undefined) break;
    const now = new AbortController();
    const ports = run.bench.ports(`w${worker}`);
    let appends = 0;
    const log = withAppendObserver(ports.log, () => {
      if (++appends === 2) now.abort();
    });
    const stop = { now: now.signal, drain: new AbortController().signal };
    await run.bench.drive(`w${worker}`, 1, stop, worker, { ...ports, log });
  }
  expectWhole(await run.bench.events(), RunStatus.COMPLETED);
  const ids = (await run.bench.events()).flatMap(({ event }) =>
    event.case === "pluginHookFinished" ? [event.value.hookId] : [],
  );
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(5);
});
