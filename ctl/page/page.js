// page: shows what state.js has, at most four times a second, and only what has changed. Lists are cut
// at so many rows, and the rest is counted.
import {nodeButton, openNode, podButton, startAsking} from "./ask.js";
import {setResource, showMap, startMap, theResource} from "./map.js";
import {startPast} from "./past.js";
import {showPlots, startPlots} from "./plots.js";
import {amount, fillRows, firstOf, follow, make, share, shown, state, status, time} from "./state.js";

const EVERY_MS = 250, TABLE_MS = 1000, ROWS = 100;
const at = (id) => document.getElementById(id);

// ---- the cluster ----

let totals = {count: -1};

function showSummary() {
    const resource = theResource(), zones = new Set();
    let used = 0, room = 0, pods = 0, away = 0;
    for (const node of state.nodes.values()) {
        const of = amount(node, resource);
        used += of.used;
        room += of.room;
        pods += node.pods;
        away += !node.ready || node.unschedulable;
        zones.add(node.zone || "");
    }
    const text = `${state.nodes.size} nodes in ${zones.size} zones, ${away} not ready or cordoned; ${pods} pods; ` +
        `${shown(resource, room - used)} of ${shown(resource, room)} ${resource} left.`;
    if (totals.text === text) return;
    totals.text = text;
    at("cluster-summary").textContent = text;
    at("tiles").setAttribute("aria-label", "Nodes as tiles by zone. " + text);
}

function showResources() {
    const names = new Set(["cpu", "memory", "pods"]);
    for (const node of state.nodes.values()) for (const name in node.resources) names.add(name);
    const wanted = [...names].sort().join();
    if (at("resource").dataset.names === wanted) return;
    at("resource").dataset.names = wanted;
    at("resource").replaceChildren(...[...names].sort().map((name) => make("option", name, {value: name})));
    at("resource").value = theResource();
}

let nodesShown = -TABLE_MS;

function showNodes(atOnce) {
    if (!at("nodes").open || (!atOnce && performance.now() < nodesShown + TABLE_MS)) return;
    nodesShown = performance.now();
    const wanted = at("node-filter").value.trim(), resource = theResource();
    const found = [];
    for (const node of state.nodes.values())
        if (node.name.includes(wanted) || (node.zone || "").includes(wanted)) found.push({node, share: share(node, resource)});
    const compare = (a, b) => b.share - a.share || (a.node.name < b.node.name ? -1 : 1);
    const left = (node, name) => {
        const of = amount(node, name);
        return `${shown(name, of.room - of.used)} of ${shown(name, of.room)}`;
    };
    fillRows(at("node-rows"), firstOf(found, ROWS, compare), (f) => f.node.name, (f) => nodeButton(f.node.name),
        ({node}) => [node.zone || "none", status(node), left(node, "cpu"), left(node, "memory"), left(node, "pods")]);
    at("node-more").textContent = found.length > ROWS ? `and ${found.length - ROWS} more` : "";
}

// ---- the queue ----

let queueShown = null;

function since(ms) {
    const s = Math.floor(ms / 1000);
    return s < 120 ? `${s} s` : s < 7200 ? `${Math.floor(s / 60)} min` : `${Math.floor(s / 3600)} h`;
}

function showQueue() {
    if (queueShown === state.queue) return;
    queueShown = state.queue;
    at("queues").replaceChildren(...Object.entries(state.waiting).map(([name, count]) => {
        const both = make("div");
        both.append(make("dt", name), make("dd", count));
        return both;
    }));
    fillRows(at("queue-rows"), state.queue.pods, (pod) => `${pod.namespace}/${pod.name}`, (pod) => podButton(pod.namespace, pod.name),
        (pod) => [pod.place, since(pod.waitingMs), pod.attempts, pod.message || (pod.rejectedBy || []).join(", ")]);
    const more = state.queue.total - state.queue.pods.length;
    at("queue-more").textContent = state.queue.total === 0 ? "No pods wait." : more > 0 ? `and ${more} more` : "";
}

// ---- decisions ----

let lastDecision = null;

function decisionRow(d) {
    const row = make("li"), when = new Date(d.at);
    row.append(make("time", time(when), {datetime: when.toISOString()}), podButton(d.namespace, d.name));
    if (d.node) row.append(make("span", " bound to ", {class: "good"}), nodeButton(d.node));
    else row.append(make("span", " waits: ", {class: "bad"}), d.message);
    return row;
}

function showDecisions() {
    if (at("pause").checked) return;
    const all = state.decisions, rows = at("decision-rows");
    const from = all.lastIndexOf(lastDecision) + 1; // all of them, where that is gone
    if (from === all.length && all.length > 0) return;
    if (from === 0) rows.replaceChildren();
    lastDecision = all[all.length - 1];
    rows.prepend(...all.slice(from).slice(-ROWS).reverse().map(decisionRow));
    while (rows.childElementCount > ROWS) rows.lastElementChild.remove();
}

// ---- all of it ----

const links = {open: "Live", past: "A recording", again: "Connecting again …", connecting: "Connecting …", closed: "Not connected: reload the page to sign in again."};
let due = false, lastShown = -EVERY_MS, cleared = 0;

function show() {
    const start = performance.now();
    due = false;
    lastShown = start;
    const text = links[state.link] + (state.release ? ` · decides as Kubernetes 1.${state.release}` : "");
    if (at("state").textContent !== text) at("state").textContent = text;
    if (state.changed.size > 0 || state.reshaped) {
        if (state.reshaped) showResources();
        showSummary();
        showMap(false);
        showNodes(false);
    }
    showQueue();
    showDecisions();
    showPlots();
    performance.measure("show", {start});
    if (++cleared % 400 === 0) performance.clearMeasures(); // they are for whoever measures, and bounded
}

function news() {
    if (due) return;
    due = true;
    const wait = Math.max(0, lastShown + EVERY_MS - performance.now());
    setTimeout(() => (document.hidden ? show() : requestAnimationFrame(show)), wait);
}

startMap(openNode);
startPlots(at("plots"));
startAsking();
at("legend").append(make("span", "much "), ...[0, 1, 2, 3, 4, 5].map((level) => make("i", "", {class: "level" + level})), make("span", " none"));
at("resource").addEventListener("change", () => {
    setResource(at("resource").value);
    showSummary();
    showNodes(true);
});
at("nodes").addEventListener("toggle", () => showNodes(true));
at("node-filter").addEventListener("input", () => showNodes(true));
at("pause").addEventListener("change", news);
addEventListener("resize", () => { state.reshaped = true; news(); });
if (!await startPast(news)) follow(news);
