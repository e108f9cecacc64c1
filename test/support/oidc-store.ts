import type { Adapter, AdapterPayload } from "oidc-provider";

/** What a provider stores, in memory, so that another one can continue with it. */
export class OidcStore {
  readonly #models = new Map<string, Map<string, AdapterPayload>>();

  /** Returns the records of one kind. */
  readonly open = (model: string): Adapter => {
    const records = this.#records(model);
    const findBy = (isIt: (payload: AdapterPayload) => boolean) =>
      Promise.resolve([...records.values()].find(isIt));
    return {
      upsert: (id, payload) => Promise.resolve(void records.set(id, payload)),
      find: (id) => Promise.resolve(records.get(id)),
      findByUid: (uid) => findBy((payload) => payload.uid === uid),
      findByUserCode: (userCode) => findBy((payload) => payload.userCode === userCode),
      destroy: (id) => Promise.resolve(void records.delete(id)),
      consume: (id) => {
        const payload = records.get(id);
        if (payload !== undefined) records.set(id, { ...payload, consumed: true });
        return Promise.resolve();
      },
      revokeByGrantId: (grantId) => {
        for (const all of this.#models.values()) {
          for (const [id, payload] of all) if (payload.grantId === grantId) all.delete(id);
        }
        return Promise.resolve();
      },
    };
  };

  #records(model: string): Map<string, AdapterPayload> {
    const records = this.#models.get(model) ?? new Map<string, AdapterPayload>();
    this.#models.set(model, records);
    return records;
  }
}
