import type { HttpRequest, HttpResponse } from "./http-handler.ts";

/**
 * Answers requests for the pages of a site, and returns true; returns false for requests that are for no page. Sees only
 * requests that are for no method of the API.
 */
export type PlainSite = (request: HttpRequest, response: HttpResponse) => boolean;
