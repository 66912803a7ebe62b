// map: nodes as tiles by zone, on a canvas, since thousands of elements are too many. What has changed
// is painted anew, all of it only when nodes come or go or the room is another.
import {amount, share, shown, state, status} from "./state.js";

const LEVELS = 6;
const canvas = document.getElementById("tiles");
const box = document.getElementById("map");
const told = document.getElementById("tile");
let places = []; // {name, x, y}, in the order of the arrow keys
let byName = new Map();
let size = 12, columns = 1, colours = {}, resource = "cpu", selected = null, width = 0;

function readColours() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(name).trim();
    colours = {levels: [], text: get("--text"), soft: get("--soft"), bad: get("--bad"), mark: get("--mark"), ground: get("--raised")};
    for (let i = 0; i < LEVELS; i++) colours.levels.push(get("--level" + i));
}

// Zones one below the other, each as a block of tiles, which get smaller the more there are.
function layOut() {
    const zones = new Map();
    for (const name of [...state.nodes.keys()].sort()) {
        const zone = state.nodes.get(name).zone || "no zone";
        if (!zones.has(zone)) zones.set(zone, []);
        zones.get(zone).push(name);
    }
    width = Math.max(200, box.clientWidth - 4);
    const count = state.nodes.size;
    size = count > 2000 ? 8 : count > 400 ? 12 : count > 60 ? 18 : 28;
    columns = Math.max(1, Math.floor(width / size));
    places = [];
    byName = new Map();
    const heads = [];
    let y = 0;
    for (const [zone, names] of [...zones].sort((a, b) => (a[0] < b[0] ? -1 : 1))) {
        heads.push({text: `${zone}: ${names.length}`, y: y + 13});
        y += 18;
        names.forEach((name, i) => {
            const place = {name, x: (i % columns) * size, y: y + Math.floor(i / columns) * size};
            byName.set(name, places.length);
            places.push(place);
        });
        y += Math.ceil(names.length / columns) * size + 4;
    }
    const scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = Math.max(20, y) * scale;
    canvas.style.width = width + "px";
    canvas.style.height = Math.max(20, y) + "px";
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    context.fillStyle = colours.soft;
    for (const head of heads) context.fillText(head.text, 0, head.y);
}

function paint(context, place) {
    const node = state.nodes.get(place.name);
    if (!node) return;
    const level = Math.min(LEVELS - 1, Math.floor(share(node, resource) * LEVELS));
    const edge = size - 1;
    context.fillStyle = colours.ground;
    context.fillRect(place.x, place.y, size, size);
    context.fillStyle = colours.levels[level];
    context.fillRect(place.x, place.y, edge, edge);
    if (!node.ready || node.unschedulable) { // a stroke through it, so that it is not told by colour alone
        context.strokeStyle = node.ready ? colours.text : colours.bad;
        context.beginPath();
        context.moveTo(place.x + 1, place.y + 1);
        context.lineTo(place.x + edge - 1, place.y + edge - 1);
        context.stroke();
    }
    if (place.name === selected) {
        context.strokeStyle = colours.mark;
        context.lineWidth = 2;
        context.strokeRect(place.x + 1, place.y + 1, edge - 2, edge - 2);
        context.lineWidth = 1;
    }
}

export function showMap(all) {
    if (state.reshaped || all || width !== Math.max(200, box.clientWidth - 4)) {
        readColours();
        layOut();
        const context = canvas.getContext("2d");
        for (const place of places) paint(context, place);
    } else {
        const context = canvas.getContext("2d");
        for (const name of state.changed) if (byName.has(name)) paint(context, places[byName.get(name)]);
    }
    state.reshaped = false;
    state.changed.clear();
    if (selected) tell();
}

export function setResource(name) {
    resource = name;
    showMap(true);
}

export function theResource() {
    return resource;
}

function tell() {
    const node = state.nodes.get(selected);
    if (!node) {
        told.textContent = "";
        return;
    }
    const {used, room} = amount(node, resource);
    told.textContent = `${node.name} (${node.zone || "no zone"}, ${status(node)}): ${shown(resource, room - used)} of ` +
        `${shown(resource, room)} ${resource} left, ${node.pods} pods`;
}

function select(index) {
    const before = selected && byName.get(selected);
    const place = places[index];
    if (!place) return;
    selected = place.name;
    const context = canvas.getContext("2d");
    if (before !== undefined && before !== null && places[before]) paint(context, places[before]);
    paint(context, place);
    tell();
}

function at(event) {
    const x = event.offsetX, y = event.offsetY;
    return places.findIndex((p) => x >= p.x && x < p.x + size && y >= p.y && y < p.y + size);
}

// open: called with the name of a node that is to be shown.
export function startMap(open) {
    const steps = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: () => columns, ArrowUp: () => -columns};
    canvas.addEventListener("click", (event) => {
        const index = at(event);
        if (index < 0) return;
        select(index);
        open(places[index].name);
    });
    canvas.addEventListener("mousemove", (event) => {
        const index = at(event);
        canvas.title = index >= 0 ? places[index].name : "";
    });
    canvas.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && selected) open(selected);
        let step = steps[event.key];
        if (step === undefined) return;
        if (typeof step === "function") step = step();
        const now = selected === null ? -step : byName.get(selected) ?? 0;
        select(Math.max(0, Math.min(places.length - 1, now + step)));
        event.preventDefault();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => showMap(true));
}
