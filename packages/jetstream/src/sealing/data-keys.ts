import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { TenantDataKey } from "@reeve/contracts/sealing";
import { TenantDataKeySchema } from "@reeve/contracts/sealing";
import type { Clock } from "@reeve/platform/async/clock";
import { abortable } from "@reeve/platform/async/abortable";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "../table/port.ts";
import { keyBytes } from "./aes-gcm.ts";
import { isTenantKeyDeleted } from "./key-failures.ts";
import type { KeyStore, WrappedKey } from "./key-store.ts";
import type { DataKey } from "./sealed-message.ts";

/** After how long a tenant gets another data key: long before random nonces of one key may repeat. */
export const periodMs = 30 * 86_400_000;
/** After how long the store of keys is asked again whether the tenant's key still exists. */
export const checkMs = 30_000;
/** How long a data key is used while the store of keys does not answer. */
export const maxUncheckedMs = 600_000;
/** How many periods a process that may not create keys looks back: three years. */
const maxPeriodsBack = 36;
/** How many data keys are kept in memory. */
const maxKept = 10_000;

export interface DataKeysOptions {
  readonly rows: Pick<Table<TenantDataKey>, "get" | "create">;
  readonly keyStore: KeyStore;
  /** Wall-clock time, so that all processes agree on the period. */
  readonly clock: Pick<Clock, "now">;
  /** Whether this process may create data keys. Others use those that exist. */
  readonly mayCreate: boolean;
  readonly log: Pick<Logger, "info" | "error">;
}

interface Kept {
  readonly key: DataKey;
  readonly checkedMs: number;
}

/** The data keys of tenants: one for each period, stored encrypted by the key of the tenant. */
export class DataKeys {
  readonly #options: DataKeysOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #deleted = new Map<string, { readonly error: unknown; readonly untilMs: number }>();
  readonly #loading = new Map<string, Promise<DataKey | undefined>>();
  /** Whether the log already says that the keys are not available. */
  #isReported = false;

  constructor(options: DataKeysOptions) {
    this.#options = options;
  }

  /** Returns the key with which payloads of a tenant are encrypted now. */
  async current(tenant: string, signal: AbortSignal): Promise<DataKey> {
    const { clock, mayCreate } = this.#options;
    const period = Math.floor(clock.now() / periodMs);
    const found = await this.#find(tenant, idOf(period), mayCreate, signal);
    return found ?? (await this.#earlier(tenant, period, signal));
  }

  /** Returns the last key before a period: nobody has stored anything for the tenant in the period yet. */
  async #earlier(tenant: string, period: number, signal: AbortSignal): Promise<DataKey> {
    for (let back = 1; back <= maxPeriodsBack; back++) {
      const found = await this.#find(tenant, idOf(period - back), false, signal);
      if (found !== undefined) return found;
    }
    throw unavailable(`tenant ${tenant} has no data key yet`);
  }

  /** Returns the key with an id. */
  async byId(tenant: string, id: string, signal: AbortSignal): Promise<DataKey> {
    const found = await this.#find(tenant, id, false, signal);
    if (found === undefined) throw unavailable(`the data key ${id} of tenant ${tenant} is missing`);
    return found;
  }

  async #find(
    tenant: string,
    id: string,
    mayCreate: boolean,
    signal: AbortSignal,
  ): Promise<DataKey | undefined> {
    const nowMs = this.#options.clock.now();
    const deleted = this.#deleted.get(tenant);
    if (deleted !== undefined && nowMs < deleted.untilMs) throw deleted.error;
    const name = `${tenant}.${id}`;
    const kept = this.#kept.get(name);
    if (kept !== undefined && Math.abs(nowMs - kept.checkedMs) < checkMs) return kept.key;
    // It serves all who wait, so the end of one does not end it.
    const work = `${name} ${mayCreate}`;
    const loading =
      this.#loading.get(work) ??
      this.#load(tenant, id, mayCreate, kept).finally(() => this.#loading.delete(work));
    this.#loading.set(work, loading);
    return await abortable(loading, signal);
  }

  async #load(
    tenant: string,
    id: string,
    mayCreate: boolean,
    kept: Kept | undefined,
  ): Promise<DataKey | undefined> {
    const nowMs = this.#options.clock.now();
    try {
      const bytes = await this.#unwrapped(tenant, id, mayCreate);
      if (bytes === undefined) return undefined;
      if (this.#isReported) this.#options.log.info("the keys of tenants are available again");
      this.#isReported = false;
      const key = { id, bytes };
      this.#keep(`${tenant}.${id}`, { key, checkedMs: nowMs });
      return key;
    } catch (error) {
      if (isTenantKeyDeleted(error)) this.#forget(tenant, error, nowMs);
      const isUnavailable = error instanceof Failure && error.kind === "unavailable";
      if (isUnavailable && !this.#isReported) {
        this.#isReported = true;
        this.#options.log.error({ err: error, tenant }, "the keys of tenants are not available");
      }
      const isUsable = kept !== undefined && nowMs - kept.checkedMs < maxUncheckedMs;
      if (isUnavailable && isUsable) return kept.key;
      throw error;
    }
  }

  async #unwrapped(
    tenant: string,
    id: string,
    mayCreate: boolean,
  ): Promise<Uint8Array | undefined> {
    const { keyStore } = this.#options;
    const wrapped = await this.#wrapped(tenant, id, mayCreate);
    if (wrapped === undefined) return undefined;
    try {
      return await keyStore.unwrap(tenant, wrapped, neverAborts);
    } catch (error) {
      if (isTenantKeyDeleted(error)) throw error;
      // An operator may have rotated the tenant's key meanwhile.
      const again = await this.#wrapped(tenant, id, false);
      if (again === undefined || again.version === wrapped.version) throw error;
      return await keyStore.unwrap(tenant, again, neverAborts);
    }
  }

  /** Reads the row of a key, and creates it if that is permitted. */
  async #wrapped(tenant: string, id: string, mayCreate: boolean): Promise<WrappedKey | undefined> {
    const { rows, keyStore, clock } = this.#options;
    const rowKey = bucketOf(TenantDataKeySchema).key({ tenant, key: id });
    const row = await rows.get(rowKey, neverAborts);
    if (row !== undefined) return wrappedOf(row.record);
    if (!mayCreate) return undefined;
    const { version, bytes } = await keyStore.wrap(tenant, randomBytes(keyBytes), neverAborts);
    const createTime = timestampFromMs(clock.now());
    const record = create(TenantDataKeySchema, { wrappedKey: bytes, version, createTime });
    const created = await rows.create(rowKey, record, neverAborts);
    // Another process was first.
    const current = created ?? (await rows.get(rowKey, neverAborts));
    return current && wrappedOf(current.record);
  }

  #keep(name: string, kept: Kept): void {
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= maxKept) break;
      this.#kept.delete(oldest);
    }
  }

  #forget(tenant: string, error: unknown, nowMs: number): void {
    for (const name of this.#kept.keys()) {
      if (name.startsWith(`${tenant}.`)) this.#kept.delete(name);
    }
    this.#deleted.delete(tenant);
    this.#deleted.set(tenant, { error, untilMs: nowMs + checkMs });
    for (const oldest of this.#deleted.keys()) {
      if (this.#deleted.size <= maxKept) break;
      this.#deleted.delete(oldest);
    }
  }
}

function idOf(period: number): string {
  return `p${period}`;
}

function wrappedOf({ version, wrappedKey }: TenantDataKey): WrappedKey {
  return { version, bytes: wrappedKey };
}

function unavailable(problem: string): Failure {
  const message = `a payload cannot be encrypted or decrypted now: ${problem}; try again later`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
