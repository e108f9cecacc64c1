import type { ErrorComponentProps } from "@tanstack/react-router";
import { Empty } from "./empty.tsx";

/** Shown in place of a screen that failed. */
export function Crash({ error }: ErrorComponentProps) {
  return (
    <Empty title="This screen failed">
      <p>{error instanceof Error ? error.message : String(error)}</p>
      <p>
        This is a bug of the console. Nothing was changed. <a href="/runs">Load the list of runs</a>
      </p>
    </Empty>
  );
}
