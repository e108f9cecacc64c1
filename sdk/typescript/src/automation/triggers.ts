import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Firing, Trigger, TriggerSpecSchema } from "#contracts/trigger";
import { FiringSchema, TriggerSchema } from "#contracts/trigger";
import { randomUUID } from "node:crypto";
import type { CallOptions, ListOptions } from "../call-options.ts";
import type { Requests } from "../requests.ts";

type SpecInit = MessageInitShape<typeof TriggerSpecSchema>;

/** A new trigger. */
export interface CreatedTrigger {
  readonly trigger: Trigger;
  /** The secret that signs its webhooks, which is never returned again. Empty if it has a schedule. */
  readonly webhookSecret: string;
}

export interface FireOptions extends CallOptions {
  /** The same id means the same run. Default: a new id. */
  readonly requestId?: string;
  /** The body to fire a trigger with a webhook with. Default: empty. */
  readonly body?: Uint8Array;
}

/** What starts runs by itself: schedules and webhooks. */
export class Triggers {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Stores a new trigger. Not repeated if the connection breaks, because its secret is returned once. */
  async create(spec: SpecInit, options: CallOptions = {}): Promise<CreatedTrigger> {
    const { trigger, webhookSecret } = await this.#requests.once(
      ({ triggers }, call) => triggers.createTrigger({ spec }, call),
      options,
    );
    return { trigger: trigger ?? create(TriggerSchema), webhookSecret };
  }

  /**
   * Replaces the spec of a trigger. `revision` is the one that the caller has seen; default: any. The caller becomes the owner. If the
   * trigger had another one, the secrets of its webhook are not valid anymore.
   */
  async update(
    spec: SpecInit,
    { revision = 0, ...options }: CallOptions & { readonly revision?: number } = {},
  ): Promise<Trigger> {
    const { trigger } = await this.#requests.once(
      ({ triggers }, call) => triggers.updateTrigger({ spec, revision }, call),
      options,
    );
    return trigger ?? create(TriggerSchema);
  }

  async get(triggerId: string, options: CallOptions = {}): Promise<Trigger> {
    const { trigger } = await this.#requests.repeatable(
      ({ triggers }, call) => triggers.getTrigger({ triggerId }, call),
      options,
    );
    return trigger ?? create(TriggerSchema);
  }

  /** Lists triggers, ordered by id. */
  list(options: ListOptions = {}): AsyncGenerator<Trigger, void, undefined> {
    return this.#requests.list(async ({ triggers }, page, call) => {
      const { triggers: items, nextPageToken } = await triggers.listTriggers(page, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Deletes a trigger. Not repeated if the connection breaks. */
  async delete(triggerId: string, options: CallOptions = {}): Promise<void> {
    await this.#requests.once(
      ({ triggers }, call) => triggers.deleteTrigger({ triggerId }, call),
      options,
    );
  }

  async pause(triggerId: string, options: CallOptions = {}): Promise<Trigger> {
    const { trigger } = await this.#requests.repeatable(
      ({ triggers }, call) => triggers.pauseTrigger({ triggerId }, call),
      options,
    );
    return trigger ?? create(TriggerSchema);
  }

  /**
   * Lets a trigger fire again. The caller becomes its owner. If it had another one, the secrets of its webhook are not valid anymore.
   */
  async resume(triggerId: string, options: CallOptions = {}): Promise<Trigger> {
    const { trigger } = await this.#requests.repeatable(
      ({ triggers }, call) => triggers.resumeTrigger({ triggerId }, call),
      options,
    );
    return trigger ?? create(TriggerSchema);
  }

  /** Starts a run of the trigger now. */
  async fire(
    triggerId: string,
    { requestId = randomUUID(), body = new Uint8Array(), ...options }: FireOptions = {},
  ): Promise<Firing> {
    const { firing } = await this.#requests.repeatable(
      ({ triggers }, call) => triggers.fireTrigger({ triggerId, requestId, body }, call),
      options,
    );
    return firing ?? create(FiringSchema);
  }

  /**
   * Replaces the secret of a trigger with a webhook, and returns it. The caller becomes the owner. The secret before stays valid for a
   * day, unless the trigger had another owner.
   */
  async rotateSecret(triggerId: string, options: CallOptions = {}): Promise<string> {
    const { webhookSecret } = await this.#requests.once(
      ({ triggers }, call) => triggers.rotateTriggerSecret({ triggerId }, call),
      options,
    );
    return webhookSecret;
  }

  /** Returns the last 100 firings of a trigger, the newest first. */
  async firings(triggerId: string, options: CallOptions = {}): Promise<readonly Firing[]> {
    const { firings } = await this.#requests.repeatable(
      ({ triggers }, call) => triggers.listFirings({ triggerId }, call),
      options,
    );
    return firings;
  }
}
