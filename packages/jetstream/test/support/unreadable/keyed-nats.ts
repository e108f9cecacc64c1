import { Kvm } from "@nats-io/kv";
import { TenantDataKeySchema } from "@reeve/contracts/sealing";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { DataKeys, maxUncheckedMs, periodMs, retryMs } from "../../../src/sealing/data-keys.ts";
import { keysUnavailable } from "../../../src/sealing/key-failures.ts";
import type { KeyStore } from "../../../src/sealing/key-store.ts";
import { MemoryKeyStore } from "../../../src/sealing/memory-key-store.ts";
import { payloadCipher, sealPayloads } from "../../../src/sealing/payload-cipher.ts";
import { openTable } from "../../../src/table/nats.ts";
import type { NatsBench } from "../nats-bench.ts";

const never = new AbortController().signal;

/** Processes with the keys of tenants, which come and go, over one server. */
export class KeyedNats {
  readonly keyStore = new MemoryKeyStore();
  /** What the processes have logged as errors. */
  readonly logged: object[] = [];
  readonly #bench: NatsBench;
  readonly #locked = new Set<string>();
  #nowMs = 100 * periodMs;

  constructor(bench: NatsBench) {
    this.#bench = bench;
  }

  /** Connects a process. */
  async connect(): Promise<Nats> {
    const nats = await this.#bench.connect();
    const log = createLogger("test", "silent");
    log.error = (fields: object) => void this.logged.push(fields);
    const rows = await openTable(nats, TenantDataKeySchema);
    const clock = { now: () => this.#nowMs };
    const keys = new DataKeys({ rows, keyStore: this.#store(), clock, mayCreate: true, log });
    sealPayloads(nats.connection, payloadCipher(keys, log));
    return nats;
  }

  /** Makes the key of a tenant unavailable, for so long that no process uses it any more. */
  lock(tenant: string): void {
    this.#locked.add(tenant);
    this.#nowMs += maxUncheckedMs + 1;
  }

  unlock(tenant: string): void {
    this.#locked.delete(tenant);
    this.#nowMs += retryMs + 1;
  }

  /** Damages the stored row of a key of a bucket. */
  async alter(bucket: string, key: string): Promise<void> {
    const { connection } = await this.#bench.connect();
    const values = await new Kvm(connection).open(bucket);
    const damaged = Uint8Array.from((await values.get(key))?.value ?? []);
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
    await values.put(key, damaged);
  }

  #store(): KeyStore {
    const { keyStore } = this;
    const assertOpen = (tenant: string) => {
      if (!this.#locked.has(tenant)) return;
      throw keysUnavailable("locked");
    };
    return {
      async wrap(tenant, dataKey, signal = never) {
        assertOpen(tenant);
        return await keyStore.wrap(tenant, dataKey, signal);
      },
      async unwrap(tenant, wrapped, signal = never) {
        assertOpen(tenant);
        return await keyStore.unwrap(tenant, wrapped, signal);
      },
    };
  }
}
