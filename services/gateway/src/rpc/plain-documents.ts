import type { PlainDocument } from "@reeve/platform/rpc/http/plain-http";
import openapi from "./openapi.json" with { type: "json" };

const welcome = `This is a gateway of Reeve. It serves an API for programs: gRPC, Connect, and plain HTTP.

/openapi.json    the addresses of plain HTTP, as OpenAPI
/readyz          whether it serves requests
/metrics         its metrics

reeve --url with this address is the command line for people.
`;

/** What the gateway answers to a browser and to tools that read OpenAPI. Nothing of it concerns a tenant. */
export const plainDocuments: ReadonlyMap<string, PlainDocument> = new Map([
  ["/", { type: "text/plain; charset=utf-8", text: welcome }],
  ["/openapi.json", { type: "application/json", text: JSON.stringify(openapi) }],
]);
