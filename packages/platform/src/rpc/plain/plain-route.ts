import type { DescMethod, JsonObject } from "@bufbuild/protobuf";

/**
 * An address of a method for clients without a library. The body of a POST is the request message as JSON. The request
 * message of a GET has the parameters of the path and of the query as its fields. The answer is the response message as JSON,
 * or of a stream, server-sent events or one JSON message per line.
 */
export interface PlainRoute {
  readonly verb: "GET" | "POST";
  /** `{name}` is a parameter: `/v1/runs/{run_id}`. */
  readonly path: string;
  readonly method: DescMethod;
  /** How the messages of a stream become server-sent events. */
  readonly events?: PlainEvents;
}

export interface PlainEvents {
  /** Returns the fields of the request with which a stream continues after the event with this id. */
  resume(lastEventId: string): JsonObject;
  /** Returns the server-sent events of a message. */
  render(message: JsonObject): string;
  /** Whether a stream that was resumed has nothing more to send, so that its client stops to reconnect. */
  isOver(first: JsonObject): boolean;
}

/** A request for a plain route. */
export interface PlainMatch {
  readonly route: PlainRoute;
  /** The path of the method. */
  readonly path: string;
  /** The request message of a GET. Undefined: it is the body. */
  readonly message: JsonObject | undefined;
}

/** The parts of a request that select a route and are part of its message. */
export interface PlainRequest {
  readonly verb: string;
  /** The path and query. */
  readonly url: string;
  readonly lastEventId: string | undefined;
}

/** Returns the route of a request, with its message. Undefined: the request is for no plain route. */
export function matchPlainRoute(
  routes: readonly PlainRoute[],
  { verb, url, lastEventId }: PlainRequest,
): PlainMatch | undefined {
  const [path = "", query = ""] = url.split("?", 2);
  for (const route of routes) {
    const parameters = route.verb === verb ? parametersOf(route.path, path) : undefined;
    if (parameters === undefined) continue;
    const resumed = lastEventId === undefined ? {} : (route.events?.resume(lastEventId) ?? {});
    const message = {
      ...fieldsOf(query, spellings(route.method, resumed)),
      ...resumed,
      ...parameters,
    };
    return {
      route,
      path: `/${route.method.parent.typeName}/${route.method.name}`,
      message: verb === "GET" ? message : undefined,
    };
  }
  return undefined;
}

/** Returns the verbs with which the routes of a path are requested. None: there is no route with this path. */
export function verbsOf(routes: readonly PlainRoute[], url: string): readonly string[] {
  const [path = ""] = url.split("?", 1);
  return routes
    .filter((route) => parametersOf(route.path, path) !== undefined)
    .map(({ verb }) => verb);
}

/** Returns the parameters of a path, or undefined if it has another form. */
function parametersOf(pattern: string, path: string): JsonObject | undefined {
  const names = pattern.split("/");
  const values = path.split("/");
  if (names.length !== values.length) return undefined;
  const parameters: JsonObject = {};
  for (const [index, name] of names.entries()) {
    const value = values[index] ?? "";
    const [, parameter] = /^\{(\w+)\}$/.exec(name) ?? [];
    if (parameter !== undefined) parameters[parameter] = decoded(value);
    else if (name !== value) return undefined;
  }
  return parameters;
}

/** The text of a part of a path. One that is not well-formed is the id of nothing. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the names of fields as JSON accepts them: `afterSequence` and `after_sequence`. */
function spellings({ input }: DescMethod, fields: JsonObject): ReadonlySet<string> {
  const same = input.fields.filter(({ jsonName }) => Object.hasOwn(fields, jsonName));
  return new Set(same.flatMap(({ jsonName, name }) => [jsonName, name]));
}

/**
 * The query as fields of a message, without those that a resumed client replaces. JSON accepts numbers as text, but not `true`
 * and `false`.
 */
function fieldsOf(query: string, replaced: ReadonlySet<string>): JsonObject {
  const words: Readonly<Record<string, boolean>> = { true: true, false: false };
  const fields = [...new URLSearchParams(query)]
    .filter(([name]) => !replaced.has(name))
    .map(([name, value]) => [name, Object.hasOwn(words, value) ? (words[value] ?? value) : value]);
  return Object.fromEntries(fields) as JsonObject;
}
