import type { Transport } from "@connectrpc/connect";
import type { HttpRequest, HttpResponse } from "./http-handler.ts";

/**
 * Answers requests of another protocol, and returns true; returns false for requests that are none. `openApi` returns a transport that
 * calls methods of this server as the caller of the request: with its credential, address, and certificate. So everything that
 * holds for calls of a client holds for them: authentication, roles, quotas, validation, and the audit trail. Errors are those that
 * a client receives.
 */
export type ApiSite = (
  request: HttpRequest,
  response: HttpResponse,
  openApi: () => Transport,
) => boolean;
