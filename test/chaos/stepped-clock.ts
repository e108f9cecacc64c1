// Preloaded into a process under test: shifts its wall clock by the milliseconds in the file that CHAOS_CLOCK_FILE names. Only
// JavaScript's Date is shifted; monotonic clocks and timers are those of the machine.
import { readFileSync, watchFile } from "node:fs";
import process from "node:process";

const intervalMs = 100;
const path = process.env["CHAOS_CLOCK_FILE"] ?? "";
const real = Date;
let aheadMs = 0;

function look(): void {
  try {
    // Times are whole milliseconds.
    aheadMs = Math.round(Number(readFileSync(path, "utf8")));
  } catch {
    aheadMs = 0;
  }
}

const now = () => real.now() + aheadMs;
look();
watchFile(path, { interval: intervalMs, persistent: false }, look);
globalThis.Date = new Proxy(real, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  apply: () => new real(now()).toString(),
  get: (target, key): unknown => (key === "now" ? now : Reflect.get(target, key)),
});
