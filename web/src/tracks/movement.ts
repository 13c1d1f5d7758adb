// Moving in time: the figure follows at once, the address at rest, and with it the page.

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { frameTime } from "../frames";
import type { Frame } from "../model";
import type { Go, State } from "../url-state";
import type { Figure, Live, Props, Range } from "./live";

/** Milliseconds of rest before the address and the data follow a movement. */
const REST = 180;
/** The narrowest range, seconds. */
const LEAST = 1e-7;
/** Steps back that are kept. */
const MOST_STEPS = 100;

interface Steps {
  timer: number;
  tallTimer: number;
  /** Moved, and not yet told; whether it is a step that the browser's way back undoes. */
  pending: { step: boolean } | null;
  told: Range | null;
  back: Range[];
}

export interface Movement {
  /** Goes on in the address; where it was moved to since is told with it. */
  go: Go;
  /** Goes to a range. */
  move: (zoom: Range, step: boolean) => void;
  zoomBy: (factor: number, at?: number, step?: boolean) => void;
  panBy: (share: number) => void;
  tallBy: (factor: number, shift: number) => void;
  toFrame: (wanted: Frame) => void;
  all: () => void;
  /** All of it, with no way back. */
  reset: () => void;
  /** To the range before the last step. */
  back: () => void;
}

export function useMovement(figure: Figure, props: Props, whole: Range): Movement {
  const { live, paint } = figure;
  const { connection, view, go: tell } = props;
  const [steps] = useState<Steps>(() => ({ timer: 0, tallTimer: 0, pending: null, told: null, back: [] }));
  const go = useCallback(
    (change: Partial<State>, keep = false) => {
      clearTimeout(steps.timer);
      const moved = steps.pending;
      steps.pending = null;
      if (change.zoom !== undefined) live.zoom = change.zoom ?? whole;
      steps.told = live.zoom;
      tell(moved ? { zoom: live.zoom, ...change } : change, keep && !moved?.step);
      paint();
    },
    [tell, paint, whole],
  );
  const move = useCallback(
    ([start, end]: Range, step: boolean) => {
      if (step) steps.back = [...steps.back.slice(1 - MOST_STEPS), live.zoom];
      live.zoom = end - start < LEAST ? [(start + end - LEAST) / 2, (start + end + LEAST) / 2] : [start, end];
      paint();
      steps.pending = { step: step || (steps.pending?.step ?? false) };
      clearTimeout(steps.timer);
      steps.timer = window.setTimeout(() => go({ zoom: live.zoom }, true), REST);
    },
    [go, paint],
  );
  const rest = useCallback(() => {
    clearTimeout(steps.tallTimer);
    const isAll = () => live.tall[0] === 0 && live.tall[1] === 1;
    steps.tallTimer = window.setTimeout(() => go({ tall: isAll() ? null : live.tall }, true), REST);
  }, [go]);
  // Another control has moved the view: a finding that was clicked, the browser's back button.
  useEffect(() => {
    if (view.zoom === null || view.zoom !== steps.told) {
      clearTimeout(steps.timer);
      steps.pending = null;
      live.zoom = view.zoom ?? whole;
    }
    paint();
  }, [view.zoom, whole]);
  useEffect(
    () => () => {
      clearTimeout(steps.timer);
      clearTimeout(steps.tallTimer);
    },
    [],
  );
  return useMemo(
    () => ({ go, move, ...returns(live, steps, go, whole), ...gestures(figure, props, move, rest) }),
    [go, move, rest, whole, connection],
  );
}

/** Ways back to where one was. */
function returns(live: Live, steps: Steps, go: Go, whole: Range) {
  const all = () => {
    live.tall = [0, 1];
    go({ zoom: null, tall: null });
  };
  const reset = () => {
    steps.back = [];
    all();
  };
  const back = () => {
    const last = steps.back.pop();
    if (last) go({ zoom: last[0] === whole[0] && last[1] === whole[1] ? null : last }, true);
  };
  return { all, reset, back };
}

function gestures({ live, paint }: Figure, { connection }: Props, move: Movement["move"], rest: () => void) {
  return {
    zoomBy(factor: number, at = 0.5, step = true) {
      const [start, end] = live.zoom;
      const center = start + (end - start) * at;
      move([center - (center - start) * factor, center + (end - center) * factor], step);
    },
    panBy(share: number) {
      const [start, end] = live.zoom;
      move([start + (end - start) * share, end + (end - start) * share], false);
    },
    tallBy(factor: number, shift: number) {
      const [low, high] = live.tall;
      const [middle, half] = [(low + high) / 2 + shift * (high - low), ((high - low) / 2) * factor];
      live.tall = half >= 0.5 && shift === 0 ? [0, 1] : [middle - half, middle + half];
      paint();
      rest();
    },
    toFrame(wanted: Frame) {
      const at = frameTime(connection, wanted);
      if (at === null) return;
      const [start, end] = live.zoom;
      const half = Math.min((end - start) / 2, Math.max((connection.rtt_ms.p50 ?? 100) / 1e3 / 2, 1e-4));
      move([at - half, at + half], true);
    },
  };
}
