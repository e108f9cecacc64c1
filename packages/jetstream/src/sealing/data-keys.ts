import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { TenantDataKey } from "@reeve/contracts/sealing";
import { TenantDataKeySchema } from "@reeve/contracts/sealing";
import type { Clock } from "@reeve/platform/async/clock";
import { abortable } from "@reeve/platform/async/abortable";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "../table/port.ts";
import { keyBytes } from "./aes-gcm.ts";
import {
  dataKeyMissing,
  dataKeyReplaced,
  isKeysUnavailable,
  isTenantKeyDeleted,
  tenantKeyDeleted,
} from "./key-failures.ts";
import { KeyReports } from "./reports/key-reports.ts";
import type { KeyStore, WrappedKey } from "./key-store.ts";
import { proveTenantKey } from "./prove-tenant-key.ts";
import type { DataKey } from "./sealed-message.ts";
import { listDataKeys, tombstoneKeyOf } from "./tenant-tombstone.ts";

/** After how long a tenant gets another data key: long before random nonces of one key may repeat. */
export const periodMs = 30 * 86_400_000;
/** After how long the store of keys is asked again whether the tenant's key still exists. */
export const checkMs = 30_000;
/** How long a data key is used while the store of keys does not answer. */
export const maxUncheckedMs = 600_000;
/** For how long a failed check is not repeated, so that operations do not wait for a dead store one after the other. */
export const retryMs = 5_000;
/** How many periods a process that may not create keys looks back: three years. */
const maxPeriodsBack = 36;
/** How many data keys are kept in memory. */
const maxKept = 10_000;

export interface DataKeysOptions {
  readonly rows: Pick<Table<TenantDataKey>, "get" | "create" | "list" | "update">;
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
  readonly #failed = new Map<string, { readonly error: unknown; readonly atMs: number }>();
  readonly #reports: KeyReports;

  constructor(options: DataKeysOptions) {
    this.#options = options;
    this.#reports = new KeyReports(options.log, options.clock);
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
    throw dataKeyMissing(`tenant ${tenant} has no data key yet`);
  }

  /** Returns the key with an id. */
  async byId(tenant: string, id: string, signal: AbortSignal): Promise<DataKey> {
    const found = await this.#find(tenant, id, false, signal);
    if (found === undefined)
      throw dataKeyMissing(`the data key ${id} of tenant ${tenant} is missing`);
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
    const failed = this.#failed.get(name);
    if (failed !== undefined && Math.abs(nowMs - failed.atMs) < retryMs) {
      if (isOutage(failed.error) && isUsable(kept, nowMs)) return kept.key;
      throw failed.error;
    }
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
    const { clock } = this.#options;
    const nowMs = clock.now();
    const name = `${tenant}.${id}`;
    try {
      const bytes = await this.#unwrapped(tenant, id, mayCreate, kept);
      if (bytes === undefined && kept === undefined) return undefined;
      if (bytes === undefined)
        throw dataKeyMissing(`the data key ${id} of tenant ${tenant} is missing`);
      if (kept !== undefined && !Buffer.from(bytes).equals(kept.key.bytes))
        throw dataKeyReplaced(tenant, id);
      this.#reports.succeeded(tenant);
      this.#failed.delete(name);
      const key = { id, bytes };
      setBounded(this.#kept, name, { key, checkedMs: nowMs });
      return key;
    } catch (error) {
      if (isTenantKeyDeleted(error)) this.#forget(tenant, error, nowMs);
      else this.#reports.failed(tenant, error);
      const isKeptFailure = isOutage(error) || isKeysUnavailable(error);
      if (isKeptFailure) setBounded(this.#failed, name, { error, atMs: clock.now() });
      if (isOutage(error) && isUsable(kept, nowMs)) return kept.key;
      throw error;
    }
  }

  async #unwrapped(
    tenant: string,
    id: string,
    mayCreate: boolean,
    kept: Kept | undefined,
  ): Promise<Uint8Array | undefined> {
    const { keyStore } = this.#options;
    const wrapped = await this.#wrapped(tenant, id, mayCreate, kept);
    if (wrapped === undefined) return undefined;
    try {
      return await keyStore.unwrap(tenant, wrapped, neverAborts);
    } catch (error) {
      if (isTenantKeyDeleted(error)) throw error;
      // An operator may have rotated the tenant's key meanwhile.
      const again = await this.#wrapped(tenant, id, false, undefined);
      if (again === undefined || again.version === wrapped.version) throw error;
      return await keyStore.unwrap(tenant, again, neverAborts);
    }
  }

  /** Reads the row of a key, and creates it if that is permitted. One that was lost is stored again as it was. */
  async #wrapped(
    tenant: string,
    id: string,
    mayCreate: boolean,
    kept: Kept | undefined,
  ): Promise<WrappedKey | undefined> {
    const { rows } = this.#options;
    const rowKey = bucketOf(TenantDataKeySchema).key({ tenant, key: id });
    const [tombstone, row] = await Promise.all([
      rows.get(tombstoneKeyOf(tenant), neverAborts),
      rows.get(rowKey, neverAborts),
    ]);
    if (tombstone !== undefined) throw tenantKeyDeleted(tenant);
    if (row !== undefined) return wrappedOf(row.record);
    const mayRestore = this.#options.mayCreate && kept !== undefined;
    if (!mayCreate && !mayRestore) return undefined;
    return await this.#create(tenant, rowKey, kept?.key.bytes ?? randomBytes(keyBytes));
  }

  async #create(
    tenant: string,
    rowKey: string,
    dataKey: Uint8Array,
  ): Promise<WrappedKey | undefined> {
    const { rows, keyStore, clock } = this.#options;
    const others = await listDataKeys(rows, tenant, neverAborts);
    await proveTenantKey(others, keyStore, tenant, neverAborts);
    const { version, bytes } = await keyStore.wrap(tenant, dataKey, neverAborts);
    const createTime = timestampFromMs(clock.now());
    const record = create(TenantDataKeySchema, { wrappedKey: bytes, version, createTime });
    const created = await rows.create(rowKey, record, neverAborts);
    if (created !== undefined) {
      // A rotation between the two did not see the row, and may delete the version.
      const now = await keyStore.wrap(tenant, dataKey, neverAborts);
      const renewed = { ...record, version: now.version, wrappedKey: now.bytes };
      const after = create(TenantDataKeySchema, renewed);
      if (now.version !== version) await rows.update(rowKey, after, created.revision, neverAborts);
    }
    // Another process may have been first, and a rotation may have changed it.
    const current = await rows.get(rowKey, neverAborts);
    return current && wrappedOf(current.record);
  }

  #forget(tenant: string, error: unknown, nowMs: number): void {
    for (const name of this.#kept.keys()) {
      if (name.startsWith(`${tenant}.`)) this.#kept.delete(name);
    }
    setBounded(this.#deleted, tenant, { error, untilMs: nowMs + checkMs });
  }
}

/** Sets an entry. Of too many, the oldest is dropped. */
function setBounded<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= maxKept) break;
    map.delete(oldest);
  }
}

/** Whether a store does not answer. A key that was replaced, or that does not decrypt, is no outage. */
function isOutage(error: unknown): boolean {
  return error instanceof Failure && error.kind === "unavailable";
}

/** Whether a key may be used although the store of keys does not answer. */
function isUsable(kept: Kept | undefined, nowMs: number): kept is Kept {
  return kept !== undefined && nowMs - kept.checkedMs < maxUncheckedMs;
}

function idOf(period: number): string {
  return `p${period}`;
}

function wrappedOf({ version, wrappedKey }: TenantDataKey): WrappedKey {
  return { version, bytes: wrappedKey };
}
