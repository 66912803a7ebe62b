// plots: rates and latencies, a small line each over the last two minutes; the newest value as text.
import {make, state} from "./state.js";

const plots = [
    {title: "Pods scheduled per second", value: (s) => s.perSecond.scheduled},
    {title: "Attempts without a place per second", value: (s) => s.perSecond.unschedulable + s.perSecond.error},
    {title: "Attempt, median in ms", value: (s) => s.attemptMs.p50, unit: " ms"},
    {title: "Attempt, 99th percentile in ms", value: (s) => s.attemptMs.p99, unit: " ms"},
    {title: "Pods waiting", value: (s) => Object.values(s.waiting).reduce((a, b) => a + b, 0)},
];

export function startPlots(where) {
    for (const plot of plots) {
        const figure = make("figure");
        plot.text = make("strong", "–");
        plot.canvas = make("canvas", undefined, {role: "img", "aria-label": plot.title});
        figure.append(make("figcaption", plot.title), plot.text, plot.canvas);
        where.append(figure);
    }
}

function draw(plot, values, colour) {
    const scale = window.devicePixelRatio || 1;
    const wide = plot.canvas.clientWidth, high = plot.canvas.clientHeight;
    if (plot.canvas.width !== wide * scale) {
        plot.canvas.width = wide * scale;
        plot.canvas.height = high * scale;
    }
    const context = plot.canvas.getContext("2d");
    const most = Math.max(1, ...values);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, wide, high);
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.beginPath();
    values.forEach((value, i) => {
        const x = wide - (values.length - 1 - i) * (wide / 119), y = high - 2 - (value / most) * (high - 6);
        i ? context.lineTo(x, y) : context.moveTo(x, y);
    });
    context.stroke();
    plot.text.textContent = `${values[values.length - 1]}${plot.unit || ""}`;
    plot.canvas.setAttribute("aria-label", `${plot.title}: now ${plot.text.textContent}, at most ${most} in the last two minutes`);
}

let drawn = null;
export function showPlots() {
    const newest = state.samples[state.samples.length - 1];
    if (!newest || newest === drawn) return;
    drawn = newest;
    const colour = getComputedStyle(document.documentElement).getPropertyValue("--mark");
    for (const plot of plots) draw(plot, state.samples.map(plot.value), colour);
}
