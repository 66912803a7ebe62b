// state: what the stream has said. It is kept as it came; page.js shows it, some times a second.

const DECISIONS = 200;
const SAMPLES = 120;

export const state = {
    nodes: new Map(), // by name
    changed: new Set(), // names, since it was shown last
    reshaped: true, // nodes came or went
    decisions: [], // newest last
    more: 0, // decisions that were not told one by one
    queue: {total: 0, pods: []},
    waiting: {},
    samples: [],
    release: 0,
    link: "connecting",
    past: null, // of a recording: the moment that is shown, in milliseconds
};

function setNode(node) {
    const old = state.nodes.get(node.name);
    if (!old || (old.zone || "") !== (node.zone || "")) state.reshaped = true;
    state.nodes.set(node.name, node);
    state.changed.add(node.name);
}

function takeWhole(line) {
    state.nodes.clear();
    state.changed.clear();
    state.reshaped = true;
    state.release = line.release || state.release;
    for (const node of line.nodes) setNode(node);
}

function takeChanges(line) {
    for (const name of line.gone || []) {
        state.nodes.delete(name);
        state.reshaped = true;
    }
    for (const node of line.nodes) setNode(node);
    for (const decision of line.decisions) state.decisions.push(decision);
    state.decisions.splice(0, Math.max(0, state.decisions.length - DECISIONS));
    state.more += line.more;
}

const takes = {
    whole: takeWhole,
    again: takeWhole,
    changes: takeChanges,
    queue(line) { state.queue = line; },
    rates(line) {
        state.waiting = line.waiting;
        state.samples.push(line);
        state.samples.splice(0, Math.max(0, state.samples.length - SAMPLES));
    },
};

// A moment of a recording, as lines: all that is known of it, in place of what was shown.
export function takePast(lines) {
    for (const line of lines) {
        if (takes[line.kind]) takes[line.kind](line);
        if (line.kind !== "whole") continue;
        state.decisions = line.decisions;
        state.more = line.more;
    }
    state.waiting = state.queue.places || {};
}

// Calls news whenever something is to be shown. A stream ends after a while and is asked for again;
// where that is not allowed any more the browser gives up, and so do we.
export function follow(news) {
    const source = new EventSource("api/stream");
    source.onopen = () => { state.link = "open"; news(); };
    source.onmessage = (event) => {
        const start = performance.now();
        const line = JSON.parse(event.data);
        if (takes[line.kind]) takes[line.kind](line);
        performance.measure("take", {start});
        news();
    };
    source.onerror = () => {
        state.link = source.readyState === EventSource.CLOSED ? "closed" : "again";
        news();
    };
}

export function amount(node, resource) {
    const found = node.resources[resource];
    return found ? {used: found.used, room: found.allocatable} : {used: 0, room: 0};
}

export function share(node, resource) {
    const {used, room} = amount(node, resource);
    return room > 0 ? Math.min(1, used / room) : 1;
}

export function status(node) {
    return (node.ready ? "Ready" : "NotReady") + (node.unschedulable ? ", cordoned" : "") +
        (node.taints ? `, ${node.taints} taint${node.taints > 1 ? "s" : ""}` : "");
}

// Made once, since making one takes longer than all that is done with it.
const one = new Intl.NumberFormat("en", {maximumFractionDigits: 1});
const two = new Intl.NumberFormat("en", {maximumFractionDigits: 2});
const clock = new Intl.DateTimeFormat(undefined, {timeStyle: "medium"});

export function shown(resource, value) {
    if (resource === "cpu") return two.format(value / 1000);
    if (/memory|storage|hugepages/.test(resource)) return one.format(value / 2 ** 30) + " GiB";
    return two.format(value);
}

export function time(date) {
    return clock.format(date);
}

// An element with text, which is never taken for anything else.
export function make(tag, text, attributes = {}) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
}

// The first so many of them in that order, without putting all in order.
export function firstOf(items, count, compare) {
    const best = [];
    for (const item of items) {
        if (best.length === count && compare(best[count - 1], item) <= 0) continue;
        let low = 0, high = best.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (compare(best[middle], item) <= 0) low = middle + 1;
            else high = middle;
        }
        best.splice(low, 0, item);
        if (best.length > count) best.pop();
    }
    return best;
}

function newRow(head, cells) {
    const row = make("tr"), first = make("td");
    first.append(head);
    row.append(first, ...cells.map(() => make("td", "")));
    return row;
}

// The rows of a table: those that stay keep their elements, so that the focus stays where it is.
// cells: what stands in each but the first, which head makes once.
export function fillRows(body, items, key, head, cells) {
    const before = body.rowsByKey || new Map(), now = new Map();
    for (const item of items) {
        const name = key(item), texts = cells(item);
        const row = before.get(name) || newRow(head(item), texts);
        texts.forEach((text, k) => {
            const cell = row.children[k + 1], wanted = String(text);
            if (cell.textContent !== wanted) cell.textContent = wanted;
        });
        now.set(name, row);
    }
    for (const [name, row] of before) if (!now.has(name)) row.remove();
    let next = body.firstElementChild;
    for (const row of now.values()) {
        if (next === row) next = row.nextElementSibling;
        else body.insertBefore(row, next);
    }
    body.rowsByKey = now;
}
