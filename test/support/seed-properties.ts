/**
 * Gives property tests the same random inputs in every run, so that a commit that passes passes again. `REEVE_SEED` names
 * other inputs: an integer, or `random`, which the nightly run uses. A property that fails prints its seed.
 */
import process from "node:process";
import { configureGlobal } from "fast-check";

const seed = process.env["REEVE_SEED"];
if (seed !== "random") configureGlobal({ seed: Number(seed ?? 20_261_123) });
