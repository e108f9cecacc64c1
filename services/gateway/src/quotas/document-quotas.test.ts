import { ErrorReason } from "@reeve/contracts/error";
import type { CollectionRecord } from "@reeve/contracts/extensions/knowledge";
import type { QuotaUsage } from "@reeve/contracts/quota";
import { MemoryObjects } from "@reeve/jetstream/objects/memory";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { CollectionEditor } from "@reeve/knowledge/collection-editor";
import { maxTextObjectBytes } from "@reeve/knowledge/records/knowledge-limits";
import type { ParseDocument } from "@reeve/knowledge/parse/parse-document";
import { SynonymEmbedder } from "@reeve/knowledge/test/synonym-embedder";
import { draftOf, parseText } from "@reeve/knowledge/test/text-parser";
import type { Embedder } from "@reeve/knowledge/vectors/embedder";
import { VectorRefresher } from "@reeve/knowledge/vectors/vector-refresher";
import { expect, test } from "vitest";
import { DocumentQuotas, documentsIn } from "./document-quotas.ts";
import type { Quota } from "./quota.ts";
import { RunQuotas } from "./run-quotas.ts";

const never = new AbortController().signal;
const ann = { tenant: "acme", subject: "ann" };
const bob = { tenant: "acme", subject: "bob" };
const eve = { tenant: "globex", subject: "ann" };
const exceeded = { kind: "exhausted", reason: ErrorReason.QUOTA_EXCEEDED };
const kib = 1_024;

function quota(given: Partial<Quota>): Quota {
  return { name: "q", tenants: undefined, subjects: undefined, per: "tenant", ...given };
}

/** Gateways that share collections, of which ann, bob, and eve have one each. */
async function world(...given: readonly Partial<Quota>[]) {
  const quotas = given.map(quota);
  const usage = new MemoryTable<QuotaUsage>();
  const table = new MemoryTable<CollectionRecord>();
  const objects = new MemoryObjects({ maxBytes: maxTextObjectBytes });
  const clock = { ms: 0, now: () => clock.ms };
  const room = () =>
    new DocumentQuotas({
      quotas: () => quotas,
      usage,
      clock,
      documentsOf: documentsIn(table),
    });
  const gateway = (embedder?: Embedder, parse: ParseDocument = parseText) =>
    new CollectionEditor({ table, objects }, { parse, now: clock.now, embedder, room: room() });
  for (const user of [ann, bob, eve]) {
    const draft = { collectionId: user.subject, title: "", readers: [] };
    await gateway().create(user, draft, never);
  }
  const add = async (user: typeof ann, name: string, text = name, from = gateway()) =>
    await from.addDocument(user, user.subject, draftOf(name, text), never);
  const stored = async () => (await objects.list(never)).length;
  const held = async () =>
    (await usage.list("", never)).flatMap(({ record }) => record.documents).length;
  return { table, objects, clock, room, gateway, add, stored, held };
}

// Requirement: KNOW-9
test("a tenant stores as many documents as its quota allows, and more when some are deleted", async () => {
  const { gateway, add, stored, held } = await world({ documents: 2 });
  const { document } = await add(ann, "a.md");
  await add(bob, "b.md");
  await expect(add(ann, "c.md")).rejects.toMatchObject({
    ...exceeded,
    message:
      "quota q allows tenant acme 2 documents of collections; delete documents or collections that nobody needs, or ask the operator for more",
    metadata: { quota: "q", limit: "documents", max: "2" },
  });
  expect([await stored(), await held()]).toEqual([2, 0]);
  await add(ann, "a.md", "replaced");
  await add(eve, "of another tenant.md");
  await gateway().deleteDocument(ann, "ann", document.documentId, never);
  await add(bob, "c.md");
});

// Requirement: KNOW-9
test("texts are stored up to the bytes of a quota, and nothing of what exceeds them", async () => {
  const { add, stored, gateway } = await world({ collectionBytes: 10 * kib });
  await add(ann, "a.md", "a ".repeat(4 * kib));
  // Small ones count 1 KiB.
  await add(bob, "b.md");
  await expect(add(bob, "c.md", "c ".repeat(kib))).rejects.toMatchObject(exceeded);
  expect(await stored()).toBe(2);
  await add(ann, "a.md", "smaller");
  await add(bob, "c.md", "c ".repeat(kib));
  await gateway().delete(bob, "bob", never);
});

// Requirement: KNOW-9
test("a document counts for the creator of its collection", async () => {
  const { add, gateway } = await world({ documents: 1, per: "subject" });
  await add(ann, "a.md");
  await add(bob, "b.md");
  const operator = { ...bob, isOperator: true };
  const added = gateway().addDocument(operator, "ann", draftOf("b.md", "text"), never);
  await expect(added).rejects.toMatchObject({
    message: expect.stringMatching(/^quota q allows ann of tenant acme 1 document of collections/),
  });
});

// Requirement: KNOW-9
test("gateways that race store exactly what a quota allows", async () => {
  const { add, gateway } = await world({ documents: 3 }, { name: "r", documents: 4 });
  const racing = Array.from({ length: 8 }, (_, index) => add(ann, `${index}.md`));
  const settled = await Promise.allSettled(racing);
  expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  expect((await gateway().get(ann, "ann", never)).documents).toHaveLength(3);
});

// Requirement: KNOW-9
test("a document that is removed while its successor is read gives its room to one document only", async () => {
  const { add, gateway, stored } = await world({ documents: 1 });
  const { document } = await add(ann, "a.md");
  const reading = gateway(undefined, async (...given) => {
    await gateway().deleteDocument(ann, "ann", document.documentId, never);
    await add(bob, "b.md");
    return await parseText(...given);
  });
  await expect(add(ann, "a.md", "replaced", reading)).rejects.toMatchObject(exceeded);
  expect(await stored()).toBe(1);
});

// Requirement: KNOW-9
test("embeddings without room are left out with a warning, also later, and are made when there is room", async () => {
  const { add, gateway, table, objects, room, clock } = await world({ collectionBytes: 3 * kib });
  const embedder = new SynonymEmbedder();
  await add(ann, "a.md", "a ".repeat(kib));
  const { document, warnings } = await add(ann, "b.md", "vacation", gateway(embedder));
  expect(document.embeddingModel).toBe("");
  expect(warnings).toEqual([
    expect.stringMatching(/no embeddings yet, .*: a quota has no room for them; delete documents/),
  ]);
  const log = { warn: () => undefined, info: () => undefined };
  const ports = { table, objects, embedder, room: room(), now: clock.now, log };
  const refresh = async () => {
    const refresher = new VectorRefresher(ports, never);
    const row = await table.get("acme.ann", never);
    if (row !== undefined) refresher.notice(row);
    await refresher.idle;
    const { documents } = await gateway().get(ann, "ann", never);
    return documents.filter(({ embeddingModel }) => embeddingModel !== "").length;
  };
  expect(await refresh()).toBe(0);
  await add(ann, "a.md", "smaller");
  expect(await refresh()).toBe(2);
});

// Requirement: KNOW-9
test("a document is stored while runs change the count of the same quota all the time", async () => {
  const usage = new MemoryTable<QuotaUsage>();
  const ports = {
    quotas: () => [quota({ documents: 1, runsPerDay: 1_000 })],
    usage,
    clock: { now: () => 0 },
  };
  const runs = new RunQuotas({
    ...ports,
    exists: async () => true,
    countOpen: async () => ({ open: 0, queued: 0, missing: [] }),
    costOf: async () => 0,
    bytesOf: async () => 0,
  });
  let started = 0;
  const stored = { documents: 0, bytes: 0 };
  const documentsOf = async () => {
    await runs.admit(ann, `run_${(started += 1)}`, never);
    return stored;
  };
  const room = new DocumentQuotas({ ...ports, documentsOf });
  await using held = await room.hold(ann, { documents: 1, bytes: 0 }, never);
  expect(await held.extend(1, never)).toBe(true);
});

test("room of a gateway that died is given back after ten minutes", async () => {
  const { add, room, clock, held } = await world({ documents: 1 });
  await room().hold(ann, { documents: 1, bytes: 0 }, never);
  await expect(add(ann, "a.md")).rejects.toMatchObject(exceeded);
  clock.ms = 600_001;
  await add(ann, "a.md");
  expect(await held()).toBe(0);
});
