// A figure on the page: what moves in it with every frame, and how it is painted.

import { createRef } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Content } from "../document";
import { learnFrames } from "../frames";
import type { Connection, End, Transfer } from "../model";
import type { QueryClient } from "../query-client";
import type { Go, State } from "../url-state";
import { phases } from "../waterfall";
import { Answers } from "./answers";
import { type Palette, palette } from "./colors";
import type { Scene } from "./figure";
import { say } from "./readout";
import { Screen } from "./screen";
import { numbersOf } from "./sequence";
import { type Answer, laneOf, source } from "./series";

/** With fewer columns in sight there should be something finer. */
const COARSE = 500;

/** Seconds from the first packet. */
export type Range = [number, number];

export interface Props {
  content: Content;
  connection: Connection;
  transfer: Transfer | null;
  view: State;
  go: Go;
  queryClient: QueryClient | null;
}

/**
 * How the strips sum up: seconds of a rate, seconds of a bar (0 is what fits), and what a bar
 * counts.
 */
export interface Counts {
  average: number;
  interval: number;
  countBytes: boolean;
}

/**
 * What moves with every frame. It is kept outside of the state: the page is not laid out again for
 * it.
 */
export class Live {
  /** Of the sequence track: shares of its full height. */
  tall: Range = [0, 1];
  pointer: { x: number; y: number } | null = null;
  /** Where the pointer went down, pixels; null while it is up. */
  drag: number | null = null;
  /** Told of the range with every frame: the map above. */
  seen: ((range: Range) => void) | null = null;
  /** A drag moves the range, and chooses none. */
  pan = false;
  /** The frame that is asked for. */
  frame = 0;
  screen: Screen | null = null;
  answers: Answers | null = null;
  colors: Palette | null = null;
  readonly box = createRef<HTMLDivElement>();
  readonly readings = createRef<HTMLDListElement>();

  constructor(public zoom: Range) {}

  /** The line under the pointer, and what is there. */
  point(): void {
    const { pointer, drag, pan } = this;
    const told = this.screen?.point(pointer && { ...pointer, since: pan ? null : drag }) ?? [];
    if (this.readings.current) say(this.readings.current, told);
  }

  end(): void {
    cancelAnimationFrame(this.frame);
    this.screen?.end();
  }
}

export interface Figure {
  live: Live;
  /** What is seen now. */
  scene: () => Scene;
  /** Paints it with the next frame. */
  paint: () => void;
  isDrawn: boolean;
  /** A report holds no finer answer to what is seen. */
  isCoarse: boolean;
  /** Why there are no graphs. */
  why: string | null;
}

export function useFigure(props: Props, side: End, whole: Range, counts: Counts): Figure {
  const { connection, view, queryClient } = props;
  const [live] = useState(() => new Live(view.zoom ?? whole));
  const [isCoarse, setIsCoarse] = useState(false);
  const scene = useScene(live, props, side, counts);
  const paint = useCallback(() => {
    if (live.frame) return;
    live.frame = requestAnimationFrame(() => {
      live.frame = 0;
      const around = live.box.current;
      if (!around) return;
      const began = performance.now();
      live.screen ??= new Screen(around);
      const shown = scene();
      live.screen.paint(shown, view.graph);
      live.point();
      live.seen?.(live.zoom);
      live.answers?.want(shown.from, shown.to);
      // A report's own file answers at once: what is coarse now stays so.
      setIsCoarse(!queryClient && isCoarseIn(shown));
      around.dataset.frame = (performance.now() - began).toFixed(1);
      around.dataset.range = `${shown.from}~${shown.to}`;
    });
  }, [scene, view.graph, queryClient]);
  // Later callbacks use the newest function.
  const painter = useRef(paint);
  painter.current = paint;
  const repaint = useCallback(() => painter.current(), []);
  useEffect(paint, [paint]);
  useEffect(() => {
    live.tall = view.tall ?? [0, 1];
    repaint();
  }, [side, connection, view.tall]);
  const { isDrawn, why } = useAnswers(live, props, repaint);
  useEffect(() => () => live.end(), []);
  useEffect(() => watch(live, repaint), [why]);
  return { live, scene, paint, isDrawn, isCoarse, why };
}

function isCoarseIn({ answer, from, to }: Scene): boolean {
  return answer !== null && answer.points === null && to - from < COARSE * answer.width;
}

function useScene(live: Live, { connection, transfer, view }: Props, side: End, counts: Counts): () => Scene {
  const spans = useMemo(() => (transfer ? phases(transfer) : []), [transfer]);
  return useCallback(() => {
    const [from, to] = live.zoom;
    const answer = live.answers?.best(from, to) ?? null;
    const lane = laneOf(side);
    live.colors ??= palette();
    return {
      ...counts,
      connection,
      transfer,
      spans,
      answer,
      lane,
      from,
      to,
      tall: live.tall,
      absolute: view.absolute,
      numbers: answer && numbersOf(answer, lane, from, to, live.tall),
      palette: live.colors,
    };
  }, [connection, transfer, spans, side, view.absolute, counts]);
}

/**
 * Asks for the whole first, which tells which frame passed when; closer looks as they are wanted.
 */
function useAnswers(live: Live, { content, connection, queryClient }: Props, repaint: () => void) {
  const [isDrawn, setIsDrawn] = useState(false);
  const [why, setWhy] = useState<string | null>(null);
  const from = useMemo(() => source(content, queryClient), [content, queryClient]);
  useEffect(() => {
    const came = ({ index }: Answer) => {
      if (index.length > 0) learnFrames(connection.id, index);
      setIsDrawn(true);
      repaint();
    };
    const kept = new Answers(from, connection.id, came, setWhy);
    live.answers = kept;
    kept.start();
    return () => kept.end();
  }, [from, connection]);
  return { isDrawn, why };
}

/**
 * Paints again when the figure has another size, or the page other colours; gives what ends that.
 */
function watch(live: Live, repaint: () => void): (() => void) | undefined {
  const around = live.box.current;
  if (!around) return;
  const sized = new ResizeObserver(() => {
    live.screen?.measure();
    repaint();
  });
  const recolor = () => {
    live.colors = null;
    repaint();
  };
  sized.observe(around);
  addEventListener("themechange", recolor);
  addEventListener("langchange", recolor);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", recolor);
  return () => {
    sized.disconnect();
    removeEventListener("themechange", recolor);
    removeEventListener("langchange", recolor);
    dark.removeEventListener("change", recolor);
  };
}
