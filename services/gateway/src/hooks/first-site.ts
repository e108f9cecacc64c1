import type { PlainSite } from "@reeve/platform/rpc/http/plain-site";

/** Returns a site that answers as the first of `sites` that answers. */
export function firstSite(sites: readonly PlainSite[]): PlainSite {
  return (request, response) => sites.some((site) => site(request, response));
}
