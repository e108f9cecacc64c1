// The program of the thread that reads one page, which `readPage` starts.
import { parentPort, workerData } from "node:worker_threads";
import { pageText } from "./page-text.ts";
import type { PageSource } from "./page-text.ts";

// `readPage` passes a source.
parentPort?.postMessage(await pageText(workerData as PageSource), []);
