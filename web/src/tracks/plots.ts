// The strips on the screen: uPlot draws them. Zoom, pan and pointer come from the figure, which all
// tracks share.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Area, Scene } from "./figure";
import { boundaries, GUTTER, RIGHT } from "./figure";
import { CanvasPainter, FONT_OF } from "./painter";
import { place, type Scale, ticks } from "./scale";
import { Stairs } from "./stairs";
import type { Line, Strip } from "./strips";

/** Above and below the lines, so that the figures of the axis are whole, pixels. */
const EDGE = 7;

const linear = uPlot.paths.linear!();
const bars = uPlot.paths.bars!({ align: 1, size: [1, Infinity, 1], gap: 0 });

/**
 * Steps: uPlot's own draw every one of them, however many share a pixel. A value holds until the
 * next, the last until `end`.
 */
function steps(end: () => number): uPlot.Series.PathBuilder {
  return (plot, series, first, last) => {
    const [across, up] = scales(plot);
    const [t, values] = [plot.data[0], plot.data[series]!];
    const stairs = new Stairs();
    for (let at = first; at <= last; at += 1) {
      const value = values[at];
      if (value != null) stairs.add(place(across, t[at]!), place(up, value));
    }
    const stroke = new Path2D();
    const path = stairs.until(Math.min(across.at[1], place(across, end())));
    for (let at = 0; at + 1 < path.length; at += 2) {
      if (at === 0) stroke.moveTo(path[at]!, path[at + 1]!);
      else stroke.lineTo(path[at]!, path[at + 1]!);
    }
    return { stroke, fill: null };
  };
}

/** Time and height in uPlot's own pixels. */
function scales(plot: uPlot): [Scale, Scale] {
  const { left, top, width, height } = plot.bbox;
  const [x, y] = [plot.scales.x!, plot.scales.y!];
  return [
    { low: x.min ?? 0, high: x.max ?? 1, at: [left, left + width] },
    { low: y.min ?? 0, high: y.max ?? 1, at: [top + height, top] },
  ];
}

/**
 * Shapes that uPlot has not, rectangle by rectangle: as one path they would cost ten times as much.
 */
function rectangles(
  color: () => string,
  alpha: number,
  each: (at: number, x: number, y: (value: number) => number, fill: CanvasRenderingContext2D) => void,
): uPlot.Series {
  const show = (plot: uPlot, series: number, first: number, last: number) => {
    const [across, up] = scales(plot);
    const [t, values] = [plot.data[0], plot.data[series]!];
    const y = (value: number) => place(up, value);
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.fillStyle = color();
    ctx.globalAlpha = alpha;
    for (let at = first; at <= last; at += 1) if (values[at] != null) each(at, place(across, t[at]!), y, ctx);
    ctx.restore();
    return false;
  };
  return { auto: false, stroke: color, paths: () => null, points: { show } };
}

const NOTHING: null[] = [];
const none = null as unknown as HTMLElement;

/** One strip as uPlot draws it. */
export class Plot {
  private readonly plot: uPlot;
  readonly root: HTMLDivElement;
  private scene: Scene;
  private strip: Strip;
  private size: [number, number] = [0, 0];
  /** Nothing is pointed at. */
  private isOff = true;

  constructor(scene: Scene, strip: Strip, area: Area) {
    this.scene = scene;
    this.strip = strip;
    this.root = document.createElement("div");
    this.root.className = "strip";
    this.size = [sizeOf(area).width, sizeOf(area).height];
    this.plot = new uPlot(this.options(strip, area), [[], ...strip.lines.map(() => [])], this.root);
  }

  private options(strip: Strip, area: Area): uPlot.Options {
    const paint = (name: "dim" | "grid") => () => this.scene.palette[name];
    const about = (length: number, each: number) => Math.max(2, length / each);
    return {
      ...sizeOf(area),
      padding: [EDGE, RIGHT, EDGE, 0],
      pxAlign: false,
      legend: { show: false },
      cursor: {
        x: false,
        y: false,
        drag: { x: false, y: false },
        points: {
          size: 7,
          width: 1,
          fill: (_, series) => this.color(series),
          stroke: () => this.scene.palette.paper,
          // What a column spreads over has no dot; uPlot takes anything but an element for none.
          show: (_, series) =>
            this.strip.lines[series - 1]?.sign === undefined ? none : document.createElement("div"),
        },
        dataIdx: (_, series, near, at) => held(this.strip.t, this.strip.lines[series - 1], near, at),
      },
      scales: { x: { time: false, auto: false }, y: { range: () => [0, this.strip.most] } },
      axes: [
        {
          size: 0,
          values: () => [],
          splits: (_, __, min, max) => ticks(min, max, this.across()),
          grid: { stroke: paint("grid"), width: 1 },
          ticks: { show: false },
        },
        {
          size: GUTTER,
          gap: 6,
          font: FONT_OF(false),
          stroke: paint("dim"),
          grid: { stroke: paint("grid"), width: 1 },
          ticks: { show: false },
          splits: (plot, _, min, max) => ticks(min, max, Math.max(3, about(plot.height, 42))),
          values: (_, splits) => splits.map((value) => this.strip.show(value)),
        },
      ],
      series: [{}, ...strip.lines.map((line, at) => this.series(line, at))],
      hooks: {
        // uPlot rounds the joins of lines. Thousands of them in a line of a pixel are not seen, and
        // take half of the time.
        drawAxes: [
          (plot) => {
            plot.ctx.lineJoin = "bevel";
          },
        ],
        drawClear: [
          () =>
            this.within((painter, area) =>
              painter.rect(area.x, area.y, area.width, area.height, this.scene.palette.sheet, 0.55),
            ),
        ],
        draw: [
          () =>
            this.within((painter, area, x, y) => {
              boundaries(painter, this.scene, area, x);
              this.strip.over?.(painter, area, x, y);
            }),
        ],
      },
    };
  }

  private across(): number {
    return Math.max(2, Math.floor((this.plot.width - GUTTER - RIGHT) / 110));
  }

  private series(line: Line, index: number): uPlot.Series {
    const color = () => this.scene.palette[line.color];
    const common = { auto: false, spanGaps: true, points: { show: false } } satisfies uPlot.Series;
    const ratio = () => devicePixelRatio || 1;
    switch (line.shape) {
      case "spread":
        return rectangles(color, 0.4, (at, x, y, to) => {
          const { values, least } = this.strip.lines[index]!;
          const [low, high] = [least?.[at], values[at]];
          if (low != null && high != null && low < high) to.fillRect(Math.round(x), y(high), ratio(), y(low) - y(high));
        });
      case "squares":
        return rectangles(color, 1, (at, x, y, to) => {
          const half = 1.6 * ratio();
          to.fillRect(x - half, y(this.strip.lines[index]!.values[at]!) - half, 2 * half, 2 * half);
        });
      case "bars":
        return { ...common, fill: color, alpha: 0.75, width: 0, paths: bars };
      default:
        return {
          ...common,
          stroke: color,
          width: line.width ?? 1,
          paths: line.shape === "steps" ? steps(() => this.scene.answer?.to ?? 0) : linear,
          ...(line.dash ? { dash: line.dash } : {}),
        };
    }
  }

  private color(series: number): string {
    const line = this.strip.lines[series - 1];
    return line ? this.scene.palette[line.color] : "";
  }

  /** Draws over the lines in the page's pixels; uPlot finds its pen as it left it. */
  private within(draw: (painter: CanvasPainter, area: Area, x: Scale, y: Scale) => void): void {
    const { ctx, bbox } = this.plot;
    const ratio = uPlot.pxRatio;
    const area = { x: bbox.left / ratio, y: bbox.top / ratio, width: bbox.width / ratio, height: bbox.height / ratio };
    ctx.save();
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const painter = new CanvasPainter(ctx);
    const x: Scale = { low: this.scene.from, high: this.scene.to, at: [area.x, area.x + area.width] };
    const y: Scale = { low: 0, high: this.strip.most, at: [area.y + area.height, area.y] };
    painter.within(area.x, area.y, area.width, area.height, () => draw(painter, area, x, y));
    ctx.restore();
  }

  /** Draws a scene. */
  paint(scene: Scene, strip: Strip, area: Area): void {
    const { plot } = this;
    const isSame =
      this.strip.t === strip.t &&
      strip.lines.every((line, at) => line.values === this.strip.lines[at]?.values) &&
      plot.data[0] === strip.t;
    this.scene = scene;
    this.strip = strip;
    const { width, height } = sizeOf(area);
    const top = `${area.y - EDGE}px`;
    if (this.root.style.top !== top) this.root.style.top = top;
    plot.batch(() => {
      if (width !== this.size[0] || height !== this.size[1]) plot.setSize({ width, height });
      this.size = [width, height];
      if (!isSame) plot.setData([strip.t, ...strip.lines.map((line) => line.values)], false);
      plot.setScale("x", { min: scene.from, max: scene.to });
    });
  }

  /**
   * Marks what stands at a place of the figure, and tells its figures by sign; nothing where there
   * is no place.
   */
  point(at: number | null): (string | null)[] {
    const isOff = at === null && this.isOff;
    this.isOff = at === null;
    if (isOff) return NOTHING;
    this.plot.setCursor({ left: at === null ? -10 : at - GUTTER, top: at === null ? -10 : 0 }, false);
    const told: (string | null)[] = this.strip.signs.map(() => null);
    this.strip.lines.forEach((line, index) => {
      const found = at === null ? null : this.plot.cursor.idxs?.[index + 1];
      const value = found == null ? null : line.values[found];
      if (line.sign !== undefined && value != null) told[line.sign] = this.strip.show(value);
    });
    return told;
  }

  end(): void {
    this.plot.destroy();
    this.root.remove();
  }
}

const sizeOf = ({ x, width, height }: Area) => ({ width: Math.round(x + width + RIGHT), height: height + 2 * EDGE });

/** The index whose value stands at a time: of steps the last one before, else the nearest. */
function held(t: number[], line: Line | undefined, near: number, time: number): number | null {
  if (!line) return near;
  const { shape, values } = line;
  if (shape === "steps" || shape === "bars") {
    let at = near;
    while (at >= 0 && (t[at]! > time || values[at] == null)) at -= 1;
    return at < 0 ? null : at;
  }
  for (let away = 0; away < 64; away += 1) {
    if (values[near + away] != null) return near + away;
    if (values[near - away] != null) return near - away;
  }
  return null;
}
