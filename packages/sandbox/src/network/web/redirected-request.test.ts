import { expect, test } from "vitest";
import type { WebRequest } from "./redirected-request.ts";
import { redirectedRequest } from "./redirected-request.ts";

/** Returns the request that follows redirects to these addresses, one after the other, or why none does. */
function followed(
  first: WebRequest,
  addresses: readonly string[],
  status = 302,
): WebRequest | string {
  let request: WebRequest | string = first;
  for (const address of addresses) {
    if (typeof request === "string") return request;
    request = redirectedRequest(request, new URL(address), status);
  }
  return request;
}

// Requirement: WEB-1
test("a redirect that comes back to the first origin has no credential and no own header any more", () => {
  const headers = { accept: "text/plain", "x-key": "secret" };
  const first: WebRequest = { url: new URL("https://a.test/one"), method: "GET", headers };
  expect(followed(first, ["https://a.test/two"])).toMatchObject({ headers });
  const back = followed(first, ["https://b.test/", "https://a.test/two"]);
  expect(back).toMatchObject({ isAnonymous: true, headers: { accept: "text/plain" } });
  expect(back).not.toMatchObject({ headers: { "x-key": "secret" } });
  expect(followed(first, ["https://b.test/", "https://b.test/two"], 303)).toMatchObject({
    isAnonymous: true,
  });
});
