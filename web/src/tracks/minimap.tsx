// The whole connection on one line: what limited it when, and which part of it is seen.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { limitClass } from "../limits";
import type { Connection } from "../model";
import { t } from "../texts";
import { phases } from "../waterfall";
import type { Live, Range } from "./live";
import type { Movement } from "./movement";

export function Minimap({ connection, live, movement }: { connection: Connection; live: Live; movement: Movement }) {
  const box = useRef<HTMLDivElement>(null);
  const [start, length] = [connection.start_s, Math.max(connection.duration_s, 1e-9)];
  const spans = useMemo(() => connection.transfers.flatMap(phases).filter((span) => span.seconds > 0), [connection]);
  const share = (at: number) => `${(100 * (at - start)) / length}%`;
  const seen = useRef<HTMLElement>(null);
  useEffect(() => {
    live.seen = ([from, to]: Range) => {
      if (!seen.current) return;
      const inside = (at: number) => Math.max(0, Math.min(1, (at - start) / length));
      seen.current.style.left = `${100 * inside(from)}%`;
      seen.current.style.right = `${100 * (1 - inside(to))}%`;
    };
    live.seen(live.zoom);
    return () => {
      live.seen = null;
    };
  }, [live, start, length]);
  const go = (event: PointerEvent) => {
    const bounds = box.current?.getBoundingClientRect();
    if (!bounds || !(event.buttons & 1)) return;
    const at = start + ((event.clientX - bounds.left) / bounds.width) * length;
    const half = (live.zoom[1] - live.zoom[0]) / 2;
    movement.move([at - half, at + half], event.type === "pointerdown");
  };
  return (
    <div
      ref={box}
      class="minimap"
      title={t`The whole connection; the frame is the range shown below: drag it`}
      aria-hidden="true"
      onPointerDown={(event) => {
        box.current?.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={go}
    >
      {spans.map((span, at) => (
        <i
          key={at}
          class={`span ${limitClass(span.limit)}`}
          style={{ left: share(span.start_s), width: `${(100 * span.seconds) / length}%` }}
        />
      ))}
      <b ref={seen} class="seen" />
    </div>
  );
}
