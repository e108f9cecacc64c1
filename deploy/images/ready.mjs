// Health check of a container: `node ready.mjs PORT` succeeds if the service on this port of the machine is ready.
import process from "node:process";

const [port] = process.argv.slice(2);
try {
  const { ok } = await fetch(`http://127.0.0.1:${port}/readyz`, {
    signal: AbortSignal.timeout(4_000),
  });
  process.exitCode = ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
