import type { StreamAPI } from "@nats-io/jetstream";
import { sleep } from "@reeve/platform/async/sleep";
import { callStore } from "../streams/call-store.ts";
import { isNotFound } from "../streams/errors.ts";

/** Interval between checks whether a bucket was replaced. */
const checkMs = 5_000;

/**
 * Returns what identifies a bucket: one that was deleted and created again has another identity. Undefined: there is no such
 * bucket.
 */
export async function readBucketInstance(
  streams: StreamAPI,
  bucket: string,
): Promise<string | undefined> {
  return await callStore(async () => {
    try {
      return (await streams.info(`KV_${bucket}`)).created;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  });
}

/**
 * Resolves when the bucket is not the one with this identity any more. A consumer of a deleted bucket receives nothing, and
 * no error. Rejects with the signal's reason.
 */
export async function bucketReplaced(
  streams: StreamAPI,
  bucket: string,
  instance: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await sleep(checkMs, signal);
    // While the store does not answer, nothing is known.
    const now = await readBucketInstance(streams, bucket).catch(() => instance);
    if (now !== instance) return;
  }
}
