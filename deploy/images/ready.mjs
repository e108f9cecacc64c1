// Health check of a container: `node ready.mjs PORT` succeeds if the service on this port of the machine is ready. Does not check
// the certificate of the port, which is one for other names.
import { once } from "node:events";
import { get as getPlain } from "node:http";
import { get as getSecure } from "node:https";
import process from "node:process";

const [port] = process.argv.slice(2);
const signal = AbortSignal.timeout(4_000);

/** Whether a request of the port succeeds. */
async function isReady(get, scheme) {
  const options = { signal, rejectUnauthorized: false };
  try {
    const [response] = await once(get(`${scheme}://127.0.0.1:${port}/readyz`, options), "response");
    response.resume();
    return response.statusCode === 200;
  } catch {
    return false;
  }
}

// The ports of runtime and toolhost have no TLS, whatever the settings say.
const ready =
  (process.env["REEVE_TLS_CERT_FILE"] && (await isReady(getSecure, "https"))) ||
  (await isReady(getPlain, "http"));
process.exit(ready ? 0 : 1);
