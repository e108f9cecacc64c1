import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Bar } from "./run-intervals.ts";

const height = 96;

type ColorProperty = "color" | "caretColor" | "columnRuleColor" | "outlineColor";

interface RunChartProps {
  readonly bars: readonly Bar[];
  readonly intervalMs: number;
}

/** Bars of the runs of each interval; the part of those that failed is drawn in front. */
export function RunChart({ bars, intervalMs }: RunChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  useEffect(() => {
    const { current: element } = box;
    if (element === null) return undefined;
    const plot = new uPlot(optionsFor(element, intervalMs), [[], [], []], element);
    chart.current = plot;
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
      chart.current = undefined;
    };
  }, [intervalMs]);
  useEffect(() => {
    chart.current?.setData([
      bars.map(({ startMs }) => startMs / 1_000),
      bars.map(({ runs }) => runs),
      bars.map(({ failed }) => failed),
    ]);
  }, [bars]);
  return <div ref={box} />;
}

function optionsFor(element: HTMLElement, intervalMs: number): uPlot.Options {
  // Read while drawing, so that a change of the theme changes the chart with its next bars. A canvas needs colors that the browser
  // has computed, which custom properties are not: the style sheet gives these properties of the element the colors of the chart.
  const color = (name: ColorProperty) => () => getComputedStyle(element)[name];
  const bars = uPlot.paths.bars?.({ size: [0.75, 24], align: 1 });
  const axis = {
    stroke: color("color"),
    font: "11px system-ui, sans-serif",
    ticks: { show: false },
  };
  const series = (label: string, fill: ColorProperty) => ({
    label,
    fill: color(fill),
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  });
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    padding: [6, 0, 0, 0],
    scales: {
      x: { range: (_, min, max) => [min, max + intervalMs / 1_000] },
      y: { range: (_, __, max) => [0, Math.max(1, max)] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 22 },
      {
        ...axis,
        size: 36,
        grid: { stroke: color("columnRuleColor"), width: 1 },
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000],
      },
    ],
    series: [{}, series("runs", "caretColor"), series("failed", "outlineColor")],
  };
}
