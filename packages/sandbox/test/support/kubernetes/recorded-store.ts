import type { ServerResponse } from "node:http";
import type { Answer } from "./recorded-answers.ts";
import { answers } from "./recorded-answers.ts";

export interface Stored {
  metadata: {
    name: string;
    uid?: string;
    resourceVersion?: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    ownerReferences?: readonly object[];
  };
  status?: object;
}

/** Stores objects of one kind, with resource versions and watches. */
export class RecordedStore {
  readonly objects = new Map<string, Stored>();
  readonly #kind: string;
  readonly #watches = new Set<{ readonly name: string; readonly response: ServerResponse }>();
  #version = 1;
  /** Whether watches omit all changes. */
  isSilent = false;

  constructor(kind: string) {
    this.#kind = kind;
  }

  answer(method: string, name: string | undefined, query: URLSearchParams, body: Stored): Answer {
    if (name === undefined && method === "GET") {
      return { status: 200, body: { items: this.#selected(query.get("labelSelector") ?? "") } };
    }
    if (method === "POST") {
      if (this.objects.has(body.metadata.name)) {
        return answers.conflict(this.#kind, body.metadata.name);
      }
      this.put(body, "ADDED");
      return { status: 201, body };
    }
    const found = this.objects.get(name ?? "");
    if (found === undefined) return answers.notFound(this.#kind, name ?? "");
    if (method === "PUT") {
      const isCurrent = body.metadata.resourceVersion === found.metadata.resourceVersion;
      if (!isCurrent) return answers.conflict(this.#kind, name ?? "");
      this.put(body);
      return { status: 200, body };
    }
    if (method === "DELETE") this.remove(found.metadata.name);
    return { status: 200, body: found };
  }

  put(object: Stored, type: "ADDED" | "MODIFIED" = "MODIFIED"): void {
    object.metadata.resourceVersion = String(++this.#version);
    object.metadata.uid ??= `${this.#kind}-${this.#version}`;
    this.objects.set(object.metadata.name, object);
    this.#notify(type, object);
  }

  remove(name: string): void {
    const object = this.objects.get(name);
    if (object === undefined) return;
    this.objects.delete(name);
    this.#notify("DELETED", object);
  }

  watch(query: URLSearchParams, response: ServerResponse): void {
    const name = (query.get("fieldSelector") ?? "").replace("metadata.name=", "");
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    const watch = { name, response };
    this.#watches.add(watch);
    response.once("close", () => this.#watches.delete(watch));
    // Report a change between the read and the watch.
    const object = this.objects.get(name);
    if (object === undefined) return void response.end();
    if (object.metadata.resourceVersion !== query.get("resourceVersion")) {
      this.#notify("MODIFIED", object);
    }
    setTimeout(() => response.end(), Number(query.get("timeoutSeconds")) * 1_000).unref();
  }

  /** Sends an event to all watches. */
  sendEvent(type: string, object: object): void {
    for (const { response } of this.#watches) response.write(line(type, object));
  }

  #notify(type: string, object: Stored): void {
    if (this.isSilent) return;
    for (const { name, response } of this.#watches) {
      if (name === object.metadata.name) response.write(line(type, object));
    }
  }

  #selected(selector: string): readonly Stored[] {
    const requirements = selector.split(",").map((each) => each.split("="));
    return [...this.objects.values()].filter(({ metadata: { labels = {} } }) =>
      requirements.every(([key = "", value]) =>
        value === undefined ? key in labels : labels[key] === value,
      ),
    );
  }
}

function line(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}
