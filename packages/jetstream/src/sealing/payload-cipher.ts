import type { NatsConnection } from "@nats-io/transport-node";
import type { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { AlteredReports } from "./reports/altered-reports.ts";
import type { DataKeys } from "./data-keys.ts";
import { keysMissing, notAuthentic } from "./key-failures.ts";
import type { DataKey } from "./sealed-message.ts";
import { keyIdOf, openMessage, sealMessage } from "./sealed-message.ts";

/** Where a payload is stored. What was sealed for one place opens at no other. */
export interface Place {
  readonly tenant: string;
  /** A subject, or a bucket and a key. */
  readonly name: string;
}

/** Encrypts what is stored, with the keys of its tenant. */
export interface PayloadCipher {
  /** Whether payloads are sealed. If not, `seal` returns them as they are. */
  readonly isOn: boolean;
  seal(place: Place, data: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  /**
   * Returns what was sealed, and data that was never sealed as it is. Throws a Failure: of kind `precondition` with reason
   * TENANT_KEY_DELETED if its key was deleted, `data_loss` if it was sealed for another place or altered, and `unavailable` if
   * the keys are not available.
   */
  open(place: Place, data: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  /** Reports that what is stored at a place was altered, and returns the Failure of kind `data_loss` for it. */
  altered(place: Place, cause?: unknown): Failure;
  /** Returns the current key of a tenant, or that with an id, for content that is longer than a message. */
  key(tenant: string, id: string | undefined, signal: AbortSignal): Promise<DataKey>;
}

const ciphers = new WeakMap<NatsConnection, PayloadCipher>();

/** Seals everything that is stored over a connection from now on. Call it before anything is opened. */
export function sealPayloads(connection: NatsConnection, cipher: PayloadCipher): void {
  ciphers.set(connection, cipher);
}

/** Returns the cipher of a connection. Without one, payloads stay as they are, and sealed ones cannot be read. */
export function payloadCipherOf(connection: NatsConnection): PayloadCipher {
  return ciphers.get(connection) ?? withoutKeys;
}

/** Returns a cipher that seals with the data keys of tenants. */
export function payloadCipher(
  keys: Pick<DataKeys, "current" | "byId">,
  log: Pick<Logger, "error">,
): PayloadCipher {
  const reports = new AlteredReports(log);
  const altered = ({ tenant, name }: Place, cause?: unknown) => {
    reports.found(tenant, name);
    return notAuthentic(name, cause);
  };
  const key = (tenant: string, id: string | undefined, signal: AbortSignal) =>
    id === undefined ? keys.current(tenant, signal) : keys.byId(tenant, id, signal);
  return {
    isOn: true,
    key,
    altered,
    async seal(place, data, signal) {
      return sealMessage(await key(place.tenant, undefined, signal), textOf(place), data);
    },
    async open(place, data, signal) {
      const id = keyIdOf(data);
      if (id === undefined) return data;
      const opened = openMessage(await key(place.tenant, id, signal), textOf(place), data);
      if (opened === undefined) throw altered(place);
      return opened;
    },
  };
}

const withoutKeys: PayloadCipher = {
  isOn: false,
  key: (tenant) => Promise.reject(keysMissing(tenant)),
  altered: ({ name }, cause) => notAuthentic(name, cause),
  seal: (_, data) => Promise.resolve(data),
  open: ({ tenant }, data) =>
    keyIdOf(data) === undefined ? Promise.resolve(data) : Promise.reject(keysMissing(tenant)),
};

function textOf({ tenant, name }: Place): string {
  return `${tenant}\0${name}`;
}
