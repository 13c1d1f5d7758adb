// The pointer over the figure: it reads off, chooses a range, moves, and its wheel zooms.

import { useEffect } from "preact/hooks";
import { layout } from "./figure";
import type { Live } from "./live";
import type { Movement } from "./movement";
import { type Scale, value } from "./scale";

/** A shorter drag is a click, pixels. */
const LEAST_DRAG = 4;

/** Where in the figure an event is. */
function spot({ box }: Live, event: MouseEvent): { x: number; y: number } {
  const bounds = box.current?.getBoundingClientRect();
  return { x: event.clientX - (bounds?.left ?? 0), y: event.clientY - (bounds?.top ?? 0) };
}

function scale({ box, zoom }: Live, graph: number | null): Scale {
  return layout(box.current?.clientWidth ?? 1, box.current?.clientHeight ?? 1, ...zoom, graph).x;
}

/** `click`: the pointer went down and up at one place. */
export function usePointer(
  live: Live,
  movement: Movement,
  graph: number | null,
  click: (at: { x: number; y: number }) => void,
) {
  const { move, zoomBy, panBy } = movement;
  useEffect(() => {
    const around = live.box.current;
    // The page scrolls as ever; with Ctrl, or once the graphs have the focus, the wheel zooms.
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && document.activeElement !== around) return;
      event.preventDefault();
      const x = scale(live, graph);
      const at = Math.max(0, Math.min(1, (spot(live, event).x - x.at[0]) / (x.at[1] - x.at[0])));
      const isLevel = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (isLevel) panBy((event.deltaX || event.deltaY) / 800);
      else zoomBy(Math.exp(event.deltaY * 0.002), at, false);
    };
    around?.addEventListener("wheel", wheel, { passive: false });
    return () => around?.removeEventListener("wheel", wheel);
  }, [zoomBy, panBy, graph]);
  return {
    onPointerDown(event: PointerEvent) {
      if (event.button > 1) return;
      live.box.current?.setPointerCapture(event.pointerId);
      live.drag = spot(live, event).x;
      live.pan = event.shiftKey || event.button === 1;
    },
    onPointerMove(event: PointerEvent) {
      const here = spot(live, event);
      if (live.drag !== null && live.pan) {
        const x = scale(live, graph);
        const shift = value(x, live.drag) - value(x, here.x);
        live.drag = here.x;
        move([live.zoom[0] + shift, live.zoom[1] + shift], false);
      }
      live.pointer = here;
      live.point();
    },
    onPointerUp(event: PointerEvent) {
      const { drag, pan } = live;
      live.drag = null;
      const at = spot(live, event);
      const here = at.x;
      if (drag !== null && Math.abs(here - drag) <= LEAST_DRAG) click(at);
      else if (drag !== null && !pan) {
        const x = scale(live, graph);
        const inside = (at: number) => value(x, Math.max(x.at[0], Math.min(x.at[1], at)));
        move([inside(Math.min(drag, here)), inside(Math.max(drag, here))], true);
      }
      live.point();
    },
    onPointerLeave() {
      live.pointer = null;
      live.point();
    },
  };
}
