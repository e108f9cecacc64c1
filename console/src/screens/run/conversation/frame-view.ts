import type { ReactNode } from "react";
import type { Frame, RunModel } from "../../../run/run-model.ts";

/** Renders what happened in a frame. Passed down, because frames contain calls, and calls contain frames. */
export type FrameView = (frame: Frame, run: RunModel) => ReactNode;
