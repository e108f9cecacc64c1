import { ErrorReason } from "@reeve/contracts/error";
import type { QuotaUsage } from "@reeve/contracts/quota";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { ArtifactQuotas, countedBytesOf, maxUploadsOfSubject } from "./artifact-quotas.ts";
import type { Quota } from "./quota.ts";

const never = new AbortController().signal;
const ann = { tenant: "acme", subject: "ann" };
const bob = { tenant: "acme", subject: "bob" };
const exceeded = { kind: "exhausted", reason: ErrorReason.QUOTA_EXCEEDED };
const kib = 1024;
const mib = 1024 * 1024;

function quota(given: Partial<Quota>): Quota {
  return { name: "q", tenants: undefined, subjects: undefined, per: "tenant", ...given };
}

/** Quotas of gateways that share a store of artifacts. */
function world(...quotas: readonly Quota[]) {
  const usage = new MemoryTable<QuotaUsage>();
  const artifacts = new MemoryArtifactStore({ maxBytes: 1_000 * mib });
  const clock = { ms: 86_400_000 * 20_000, now: () => clock.ms };
  const gateway = () =>
    new ArtifactQuotas({
      quotas: () => quotas,
      usage,
      clock,
      bytesOf: async ({ tenant, subjects }) =>
        (await artifacts.list(tenant, never))
          .filter(({ createdBy }) => subjects?.has(createdBy) !== false)
          .reduce((sum, { sizeBytes }) => sum + countedBytesOf(sizeBytes), 0),
    });
  const upload = (quotasOfOne: ArtifactQuotas, content: AsyncIterable<Uint8Array>, by = ann) =>
    quotasOfOne.store(
      by,
      content,
      (counted) => {
        const draft = { name: "a", mediaType: "", runId: "", createdBy: by.subject };
        return artifacts.put(by.tenant, draft, counted, never);
      },
      never,
    );
  const held = async () =>
    (await usage.list("", never)).flatMap(({ record }) =>
      record.uploads.map(({ bytes }) => Number(bytes)),
    );
  return { usage, artifacts, clock, gateway, upload, held };
}

async function* chunks(...sizes: readonly number[]): AsyncIterable<Uint8Array> {
  for (const size of sizes) yield await Promise.resolve(new Uint8Array(size * kib));
}

test("uploads store as many bytes as a quota allows, and more when some are deleted", async () => {
  const { gateway, upload, artifacts, held } = world(quota({ artifactBytes: 100 * kib }));
  const quotas = gateway();
  const first = await upload(quotas, chunks(30, 30));
  await upload(quotas, chunks(40));
  await expect(upload(quotas, chunks(1))).rejects.toMatchObject({
    ...exceeded,
    metadata: { quota: "q", limit: "artifact_bytes", max: "102400" },
    retryAfterMs: 60_000,
  });
  expect(await held()).toEqual([]);
  await artifacts.delete("acme", first.artifactId, never);
  await upload(quotas, chunks(60));
});

test("an upload that exceeds a quota in the middle stores nothing, and gives its room back", async () => {
  const { gateway, upload, artifacts, held } = world(quota({ artifactBytes: 100 * kib }));
  await expect(upload(gateway(), chunks(50, 50, 1))).rejects.toMatchObject(exceeded);
  expect(await artifacts.list("acme", never)).toEqual([]);
  expect(await held()).toEqual([]);
  await upload(gateway(), chunks(100));
});

test("gateways that race store exactly what a quota allows", async () => {
  const { gateway, upload, artifacts } = world(quota({ artifactBytes: 70 * kib }));
  const gateways = [gateway(), gateway(), gateway()];
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, (_, turn) => {
      const [one = gateway()] = gateways.slice(turn % 3);
      return upload(one, chunks(10)).catch((error: unknown) => error);
    }),
  );
  expect(outcomes.filter((outcome) => outcome instanceof Failure)).toHaveLength(23);
  expect(await artifacts.list("acme", never)).toHaveLength(7);
});

test("gateways that race with uploads in many chunks never store more than a quota allows", async () => {
  const { gateway, upload, artifacts } = world(quota({ artifactBytes: 70 * kib }));
  const gateways = [gateway(), gateway(), gateway()];
  await Promise.allSettled(
    Array.from({ length: 30 }, (_, turn) => {
      const [one = gateway()] = gateways.slice(turn % 3);
      return upload(one, chunks(1, 2, 3, 4));
    }),
  );
  expect((await artifacts.list("acme", never)).length).toBeLessThanOrEqual(7);
});

test("artifacts without bytes count too, so their number is limited", async () => {
  const { gateway, upload, artifacts } = world(quota({ artifactBytes: 5 * kib }));
  for (let stored = 0; stored < 5; stored++) await upload(gateway(), chunks());
  await expect(upload(gateway(), chunks())).rejects.toMatchObject(exceeded);
  expect(await artifacts.list("acme", never)).toHaveLength(5);
});

test("one subject cannot hold all uploads of its tenant", async () => {
  const { gateway, upload, held } = world(quota({ artifactBytes: 1_000 * mib }));
  const one = gateway();
  const last = Promise.withResolvers<Uint8Array>();
  async function* waiting() {
    yield new Uint8Array(1);
    yield await last.promise;
  }
  const uploads = Array.from({ length: maxUploadsOfSubject }, () => upload(one, waiting()));
  while ((await held()).length < maxUploadsOfSubject) await new Promise(setImmediate);
  await expect(upload(one, chunks(1))).rejects.toMatchObject({
    ...exceeded,
    metadata: { quota: "q", limit: "uploads", max: String(maxUploadsOfSubject) },
  });
  await upload(one, chunks(1), bob);
  last.resolve(new Uint8Array(1));
  await Promise.all(uploads);
});

test("what toolhosts store counts, for its tenant and for who started the run", async () => {
  const { gateway, upload, artifacts } = world(quota({ artifactBytes: 100 * kib, per: "subject" }));
  const draft = { name: "report", mediaType: "", runId: "run_1", createdBy: "ann" };
  await artifacts.put("acme", draft, chunks(95), never);
  await expect(upload(gateway(), chunks(10))).rejects.toMatchObject(exceeded);
  await upload(gateway(), chunks(10), bob);
});

test("an upload asks for room in blocks, and for what it needs where a block does not fit", async () => {
  const { gateway, upload, held } = world(quota({ artifactBytes: 10 * mib }));
  const seen: number[] = [];
  async function* watched() {
    for (const size of [mib, mib, mib, mib, mib, mib, 2 * mib, 2 * mib]) {
      yield new Uint8Array(size);
      seen.push(...(await held()).map((bytes) => bytes / mib));
    }
  }
  await upload(gateway(), watched());
  expect(seen).toEqual([1, 6, 6, 6, 6, 6, 8, 10]);
});

test("the upload of a gateway that died is forgotten, and a slow one is refused if its room is gone", async () => {
  const { gateway, upload, clock } = world(quota({ artifactBytes: 100 * kib }));
  const slow = gateway();
  async function* pausing() {
    yield new Uint8Array(60 * kib);
    clock.ms += 600_001;
    await upload(gateway(), chunks(60));
    yield new Uint8Array(1 * kib);
  }
  await expect(upload(slow, pausing())).rejects.toMatchObject(exceeded);
});

test("a principal without a quota of bytes writes no count", async () => {
  const { gateway, upload, usage } = world(quota({ openRuns: 1 }));
  await upload(gateway(), chunks(10));
  expect(await usage.list("", never)).toEqual([]);
});
