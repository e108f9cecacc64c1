import type { Policy } from "@reeve/agent/policy/policy";
import { parsePolicyFile } from "@reeve/agent/policy/policy-file";
import type { CollectionRecord } from "@reeve/contracts/extensions/knowledge";
import { MemoryObjects } from "@reeve/jetstream/objects/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { CollectionEditor } from "@reeve/knowledge/collection-editor";
import { draftOf, parseText } from "@reeve/knowledge/test/text-parser";
import { expect, test } from "vitest";
import { callingModel } from "../../test/support/models.ts";
import { WorkerBench } from "../../test/support/worker-bench.ts";
import type { ModelProvider } from "../ports/model-provider.ts";

const never = new AbortController().signal;
const ann = { tenant: "acme", subject: "ann" };

/** A collection of ann, which names `readers`. */
async function handbook(readers: readonly string[] = []): Promise<CollectionEditor> {
  const table = new MemoryTable<CollectionRecord>();
  const objects = new MemoryObjects({ maxBytes: 1_000_000 });
  const knowledge = new CollectionEditor({ table, objects }, { parse: parseText, now: () => 0 });
  const draft = { collectionId: "handbook", title: "", readers: [...readers] };
  await knowledge.create(ann, draft, never);
  const text = "# Go\nNorth.\n# Leave\nThirty days of vacation.";
  await knowledge.addDocument(ann, "handbook", draftOf("a.md", text), never);
  return knowledge;
}

interface StartedRun {
  readonly startedBy?: string;
  readonly excluded?: string[];
  readonly collections?: string[];
  readonly policy?: Policy;
  /** Default: true. */
  readonly isRestricted?: boolean;
}

/** Runs an agent that searches for vacation. Returns its prompts and its events. */
async function run(
  knowledge: CollectionEditor | undefined,
  {
    startedBy = "ann",
    excluded = [],
    collections = ["handbook"],
    policy,
    isRestricted = true,
  }: StartedRun = {},
) {
  const notes: string[] = [];
  const toolNames: string[] = [];
  const model = callingModel([["search_knowledge", '{"query":"vacation"}']], () => undefined);
  const recording: ModelProvider = {
    ...model,
    stream: (request, signal) => {
      notes.push(
        ...request.messages.flatMap((each) => ("notes" in each ? (each.notes ?? []) : [])),
      );
      toolNames.push(...request.tools.map(({ name }) => name));
      return model.stream(request, signal);
    },
  };
  const spec = { excludedTools: excluded };
  const bench = new WorkerBench(recording);
  bench.policy = policy;
  await bench.create(spec, { startedBy, collections, collectionsRestricted: isRestricted });
  const { knowledge: _, ...ports } = bench.ports("w");
  const given = knowledge === undefined ? ports : { ...ports, knowledge };
  await bench.drive("w", 1, { now: never, drain: never }, 1, given);
  const events = await bench.events();
  return {
    notes,
    toolNames,
    passages: events.flatMap(({ event }) =>
      event.case === "runPrepared" ? event.value.passages.map(({ text }) => text) : [],
    ),
    results: events.flatMap(({ event }) =>
      event.case === "toolResult" && event.value.result ? [event.value.result] : [],
    ),
    warnings: events.flatMap(({ event }) =>
      event.case === "runPrepared" ? event.value.warnings : [],
    ),
    errors: events.flatMap(({ event }) => (event.case === "error" ? [event.value.message] : [])),
  };
}

// Requirement: CHAT-3
test("a run with collections starts with the passages that match its input, and searches for more", async () => {
  const { notes, passages, results, toolNames } = await run(await handbook());
  expect(passages).toEqual(["# Go\nNorth."]);
  expect(notes[0]).toContain('[handbook/a.md, lines 1-2]: "# Go\\nNorth."');
  expect(toolNames).toContain("search_knowledge");
  expect(results).toMatchObject([
    {
      isError: false,
      content: expect.stringContaining("[handbook/a.md, lines 3-4]"),
      citations: [{ collectionId: "handbook", documentName: "a.md", firstLine: 3, lastLine: 4 }],
    },
  ]);
});

test("an agent that excludes the tool still starts with passages", async () => {
  const { passages, toolNames } = await run(await handbook(), { excluded: ["search_knowledge"] });
  expect(passages).toEqual(["# Go\nNorth."]);
  expect(toolNames).not.toContain("search_knowledge");
});

test("the operator's policy keeps both the tool and the passages from a run", async () => {
  const rules = "rules: [{ name: no-search, deny: { tools: [search_knowledge] } }]";
  const policy = parsePolicyFile(rules, "policy.yaml");
  const { passages, warnings, toolNames } = await run(await handbook(), { policy });
  expect(passages).toEqual([]);
  expect(toolNames).not.toContain("search_knowledge");
  expect(warnings.join()).toContain("collections: they are not searched: the rule");
});

// Requirement: KNOW-3
test("a run that everybody reads finds nothing of a collection that has readers of its own since", async () => {
  const knowledge = await handbook(["ann"]);
  const shared = await run(knowledge, { isRestricted: false });
  expect(shared.errors).toEqual([expect.stringContaining("readers of its own since")]);
  expect(shared.passages).toEqual([]);
});

test("a run without collections has no tool that searches them", async () => {
  expect((await run(await handbook(), { collections: [] })).toolNames).not.toContain(
    "search_knowledge",
  );
});

test("a run fails when its user may not read a collection, or the process has none", async () => {
  const denied = await run(await handbook(["carl"]), { startedBy: "bob" });
  expect(denied.errors).toEqual([expect.stringContaining("collection handbook not found")]);
  const without = await run(undefined);
  expect(without.errors).toEqual([expect.stringContaining("this process has no collections")]);
});
