// The health check of a container: whether the service on a port of this machine is ready. `node ready.mjs PORT`.
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
