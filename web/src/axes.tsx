// What graphs of bytes by time share: their width, and their axes.

import { useEffect, useRef, useState } from "preact/hooks";
import "./axes.css";
import { roundBytes } from "./format";
import { place, type Scale, ticks, tickTime } from "./tracks/scale";

/** The width of a box as it is laid out, in pixels, and at least so much. */
export function useWidth(least: number) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(900);
  useEffect(() => {
    const around = box.current;
    if (!around) return;
    const watch = new ResizeObserver(() => setWidth(Math.max(least, around.clientWidth)));
    watch.observe(around);
    return () => watch.disconnect();
  }, [least]);
  return { box, width };
}

/** Lines with their figures: seconds below, from zero on, and bytes at the left. */
export function Axes({ x, y, since }: { x: Scale; y: Scale; since: string }) {
  const [left, right] = x.at;
  const [foot, top] = y.at;
  const times = ticks(0, x.high, Math.max(2, (right - left) / 100));
  const step = (times[1] ?? 1) - (times[0] ?? 0);
  return (
    <>
      {times.map((at) => (
        <g key={at}>
          <line class="gridline" x1={place(x, at)} x2={place(x, at)} y1={top} y2={foot} />
          <text class="tick" x={place(x, at)} y={foot + 16} text-anchor="middle">
            {tickTime(at, step)}
          </text>
        </g>
      ))}
      {ticks(0, y.high, 6).map((at) => (
        <g key={at}>
          <line class="gridline" x1={left} x2={right} y1={place(y, at)} y2={place(y, at)} />
          <text class="tick" x={left - 7} y={place(y, at) + 4} text-anchor="end">
            {roundBytes(at)}
          </text>
        </g>
      ))}
      <text class="tick" x={(left + right) / 2} y={foot + 33} text-anchor="middle">
        {since}
      </text>
    </>
  );
}
