// The figure on the screen: one canvas for the sequence numbers, the ribbon and the axis, uPlot for
// the strips, and a layer above all of it that follows the pointer. A frame costs its drawing
// alone: it does not involve the framework.

import { drawFrame, GAP, type Layout, layout, type Scene, type Sign } from "./figure";
import { CanvasPainter } from "./painter";
import { Plot } from "./plots";
import { nearest, readout } from "./readout";
import { drawSequence, signsOf, titleOf } from "./sequence";

export interface Pointer {
  x: number;
  y: number;
  /** Where a range began to be drawn with it. */
  since: number | null;
}

export class Screen {
  private readonly canvas = document.createElement("canvas");
  private readonly over = document.createElement("canvas");
  private readonly plots = new Map<string, Plot>();
  private readonly legends = new Map<string, Legend>();
  private plan: Layout | null = null;
  scene: Scene | null = null;

  constructor(private readonly box: HTMLElement) {
    this.over.className = "over";
    box.append(this.canvas, this.over);
    this.measure();
  }

  private size: [number, number] = [0, 0];
  /** Something is drawn under the pointer. */
  private isPointed = false;

  /**
   * The figure has another size, or is new. Asked for at no other time: the browser would lay out
   * the page in mid-frame.
   */
  measure(): void {
    this.size = [this.box.clientWidth, this.box.clientHeight];
  }

  /** Draws a scene. */
  paint(scene: Scene, graph: number | null): void {
    const [width, height] = this.size;
    const plan = layout(width, height, scene.from, scene.to, graph);
    this.scene = scene;
    this.plan = plan;
    const pen = fitted(this.canvas, width, height);
    if (!pen) return;
    const painter = new CanvasPainter(pen);
    drawFrame(painter, scene, width, height, plan);
    const shown = new Set<string>();
    for (const { track, area } of plan.tracks) {
      shown.add(track.id);
      const strip = track.strip?.(scene, area.width);
      const legend = this.legends.get(track.id) ?? this.newLegend(track.id);
      legend.say(area.y - GAP + 2, strip?.title ?? titleOf(scene), strip?.means ?? "", strip?.signs ?? signsOf(scene));
      if (!strip) {
        drawSequence(painter, scene, area, plan.x);
      } else if (strip.lines.length > 0) {
        let plot = this.plots.get(track.id);
        if (!plot) {
          plot = new Plot(scene, strip, area);
          this.plots.set(track.id, plot);
          this.over.before(plot.root);
        }
        plot.paint(scene, strip, area);
      }
    }
    for (const [id, { root }] of [...this.plots, ...this.legends])
      if (root.hidden === shown.has(id)) root.hidden = !shown.has(id);
  }

  private newLegend(id: string): Legend {
    const legend = new Legend();
    this.legends.set(id, legend);
    this.box.append(legend.root);
    return legend;
  }

  /** Draws the line under the pointer in all tracks; what stands there. */
  point(pointer: Pointer | null): [string, string][] {
    const { scene, plan } = this;
    if (!pointer && !this.isPointed) return [];
    this.isPointed = pointer !== null;
    const [width, height] = this.size;
    const pen = fitted(this.over, width, height);
    if (!scene || !plan || !pen) return [];
    pen.clearRect(0, 0, width, height);
    const found = pointer && nearest(scene, plan, pointer);
    const x = pointer && Math.max(plan.x.at[0], Math.min(plan.x.at[1], pointer.x));
    const line = found ? found.x : x;
    for (const [id, plot] of this.plots) if (!plot.root.hidden) this.legends.get(id)?.tell(plot.point(line));
    if (pointer === null || x === null || line === null) return [];
    if (pointer.since !== null) {
      pen.fillStyle = scene.palette.data;
      pen.globalAlpha = 0.16;
      pen.fillRect(Math.min(pointer.since, x), 0, Math.abs(x - pointer.since), plan.axis);
    }
    pen.strokeStyle = scene.palette.cursor;
    pen.lineWidth = 1;
    pen.globalAlpha = 0.55;
    pen.beginPath();
    pen.moveTo(Math.round(line) + 0.5, 0);
    pen.lineTo(Math.round(line) + 0.5, plan.axis);
    pen.stroke();
    pen.globalAlpha = 1;
    if (found?.y != null) {
      pen.beginPath();
      pen.arc(found.x, found.y, 5, 0, 7);
      pen.lineWidth = 1.6;
      pen.stroke();
    }
    return readout(scene, plan, pointer, found);
  }

  /** The segment at a place, by its index. */
  at(place: { x: number; y: number }): number | null {
    return this.scene && this.plan ? (nearest(this.scene, this.plan, place)?.index ?? null) : null;
  }

  end(): void {
    for (const plot of this.plots.values()) plot.end();
    this.box.replaceChildren();
  }
}

/**
 * Above a track: what it shows, and what its colours stand for, each with a sign of its own; texts
 * that explain themselves.
 */
class Legend {
  readonly root = document.createElement("div");
  private said = "";
  private values: HTMLElement[] = [];

  constructor() {
    this.root.className = "legend";
  }

  say(top: number, title: string, means: string, signs: Sign[]): void {
    const now = `${top}|${title}|${signs.join("|")}`;
    if (now === this.said) return;
    this.said = now;
    this.root.style.top = `${top}px`;
    this.values = [];
    const texts = signs.map(([text, color, tip]) => {
      const value = document.createElement("b");
      this.values.push(value);
      return labelled("span", `${text} `, tip, color, value);
    });
    this.root.replaceChildren(labelled("b", title, means), ...texts);
  }

  /** The figures under the pointer. */
  tell(values: (string | null)[]): void {
    this.values.forEach((element, at) => {
      const text = values[at] ?? "";
      if (element.textContent !== text) element.textContent = text;
    });
  }
}

function labelled(kind: string, text: string, tip: string, color?: string, inside?: HTMLElement): HTMLElement {
  const element = document.createElement(kind);
  element.textContent = text;
  if (tip) element.title = tip;
  if (color) element.dataset.color = color;
  if (inside) element.append(inside);
  return element;
}

/** A canvas of the figure's size in the screen's own pixels, ready to be drawn to in the page's. */
function fitted(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  const pen = canvas.getContext("2d");
  pen?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}
