import type { DescField, DescMethod, Registry } from "@bufbuild/protobuf";
import type { PlainRoute } from "@reeve/platform/rpc/plain/plain-route";
import type { Schema } from "./json-schema.ts";
import { commentOf, described, JsonSchemas } from "./json-schema.ts";

/** Returns the OpenAPI document of `routes`. `contracts` has their methods with comments. */
export function openapiDocument(routes: readonly PlainRoute[], contracts: Registry): object {
  const schemas = new JsonSchemas(new Set(routes.map(({ method }) => method.input.typeName)));
  const paths: Record<string, Record<string, Schema>> = {};
  for (const route of routes) {
    const { parent, localName } = route.method;
    const method = contracts.getService(parent.typeName)?.method[localName];
    if (method === undefined) throw new Error(`no method ${localName} in ${parent.typeName}`);
    paths[route.path] ??= {};
    Object.assign(paths[route.path] ?? {}, {
      [route.verb.toLowerCase()]: operationOf(route, method, schemas),
    });
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Reeve",
      version: "1",
      description,
      license: { name: "Apache 2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { Error: error, ...schemas.all() },
    },
  };
}

const description =
  "Requests and answers are messages of the contracts as JSON. A field that has its default is left out of an answer; " +
  "a request with an unknown field is refused.";

const error: Schema = {
  type: "object",
  description: "Why the server refused or failed.",
  required: ["code"],
  properties: {
    code: { type: "string", description: "Code of Connect, for example not_found." },
    message: { type: "string", description: "What is wrong, and what to do." },
    details: {
      type: "array",
      description:
        "google.rpc.ErrorInfo with the reason, and where they apply, google.rpc.BadRequest and google.rpc.RetryInfo.",
      items: {
        type: "object",
        properties: {
          type: { type: "string", description: "Name of the message." },
          value: { type: "string", description: "The message in base64 without padding." },
          debug: { description: "The message as JSON." },
        },
      },
    },
  },
};

function operationOf({ verb, path, events }: PlainRoute, method: DescMethod, schemas: JsonSchemas) {
  const isGet = verb === "GET";
  const input = schemas.reference(method.input);
  const isStream = events !== undefined;
  return {
    operationId: method.localName,
    tags: [method.parent.name],
    ...described(method),
    ...(isGet && { parameters: parametersOf(path, method, { isStream, schemas }) }),
    ...(!isGet && {
      requestBody: { required: true, content: { "application/json": { schema: input } } },
    }),
    responses: {
      "200": {
        description: commentOf(method.output),
        content: isStream
          ? streamOf(schemas.reference(method.output))
          : { "application/json": { schema: schemas.reference(method.output) } },
      },
      ...(isStream && { "204": { description: "A resumed stream has nothing more to send." } }),
      default: {
        description: "An error.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

interface Place {
  readonly isStream: boolean;
  readonly schemas: JsonSchemas;
}

/** Returns the fields of the request: in the path, or one value each in the query. */
function parametersOf(path: string, method: DescMethod, { isStream, schemas }: Place) {
  const inPath = new Set(path.match(/(?<=\{)\w+(?=\})/g));
  const parameters = method.input.fields.filter(isSingle).map((field) => {
    const { description: text, ...schema } = schemas.ofField(field);
    const isPart = inPath.has(field.name);
    return {
      name: isPart ? field.name : field.jsonName,
      in: isPart ? "path" : "query",
      required: isPart,
      ...(text !== undefined && { description: text }),
      schema,
    };
  });
  return isStream ? [...parameters, lastEventId] : parameters;
}

const lastEventId = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description:
    "Id of the last server-sent event that the client has. The stream continues after it.",
  schema: { type: "string" },
};

function isSingle({ fieldKind }: DescField): boolean {
  return fieldKind === "scalar" || fieldKind === "enum";
}

function streamOf(message: Schema) {
  return {
    "text/event-stream": {
      schema: {
        type: "string",
        description:
          "One event of the run per server-sent event, as JSON. A comment is a heartbeat. The last one has the name end, " +
          "or error with an Error.",
      },
    },
    "application/x-ndjson": { schema: message },
  };
}
