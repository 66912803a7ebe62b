// ask: questions about one pod or node, and what-if: berth answers as its commands do, and here it is
// put into words and tables.
import {make, shown, state, status, time} from "./state.js";

const dialog = document.getElementById("details");
const title = document.getElementById("details-title");
const body = document.getElementById("details-body");
const ROWS = 50;

async function ask(path, parameters, manifest) {
    const query = new URLSearchParams(parameters).toString();
    const options = manifest === undefined ? {} :
        {method: "POST", body: manifest, headers: {"Content-Type": "application/yaml"}};
    const answer = await fetch(`api/${path}${query ? "?" + query : ""}`, options);
    const said = await answer.json().catch(() => ({error: answer.statusText}));
    if (!answer.ok) throw new Error(said.error || said.message || answer.statusText);
    return said;
}

function table(heads, rows) {
    const all = make("table"), head = make("tr"), lines = make("tbody");
    for (const text of heads) head.append(make("th", text, {scope: "col"}));
    for (const row of rows.slice(0, ROWS)) {
        const line = make("tr");
        for (const cell of row) {
            const td = make("td");
            td.append(cell instanceof Node ? cell : String(cell ?? ""));
            line.append(td);
        }
        lines.append(line);
    }
    const top = make("thead");
    top.append(head);
    all.append(top, lines);
    const both = make("div");
    both.append(all);
    if (rows.length > ROWS) both.append(make("p", `and ${rows.length - ROWS} more`));
    return both;
}

function raw(said) {
    const details = make("details");
    details.append(make("summary", "All of the answer, as JSON"), make("pre", JSON.stringify(said, null, 2)));
    return details;
}

export function podButton(namespace, name) {
    const button = make("button", `${namespace}/${name}`, {type: "button", class: "link"});
    button.addEventListener("click", () => openPod(`${namespace}/${name}`));
    return button;
}

export function nodeButton(name) {
    const button = make("button", name, {type: "button", class: "link"});
    button.addEventListener("click", () => openNode(name));
    return button;
}

let opened = 0; // answers to a former question are not shown

async function open(heading, question, show) {
    const mine = ++opened;
    title.textContent = heading;
    body.replaceChildren(make("p", "Asking …", {role: "status"}));
    if (!dialog.open) dialog.showModal();
    try {
        const said = await question();
        if (mine === opened) body.replaceChildren(...show(said), raw(said));
    } catch (error) {
        if (mine === opened) body.replaceChildren(make("p", error.message, {role: "alert", class: "bad"}));
    }
}

function when(us) {
    return time(new Date(us / 1000));
}

function explanation(said) {
    const parts = [];
    const now = (said.now || [])[0];
    const place = said.node ? `It is on node ${said.node}.` : said.exists ? "It waits." : "There is no such pod any more.";
    parts.push(make("p", place + (said.ours ? "" : " Another scheduler places it.")));
    if (said.queue) parts.push(make("p", `In the queue: ${said.queue.place}, tried ${said.queue.attempts || 0} times.`));
    if (said.wokenBy) parts.push(make("p", "It is tried again upon: " + said.wokenBy.join(", ")));
    const made = said.scheduler.decisions;
    parts.push(make("h3", "Decisions about it"));
    parts.push(made.length === 0 ? make("p", "None is kept.") : table(["When", "Node", "Score", "Nodes that could", "Why"],
        made.map((d) => [when(d.wall_us), d.node ? nodeButton(d.node) : "none", d.score, `${d.feasible || 0} of ${d.nodes || 0}`, d.message])));
    if (now) {
        parts.push(make("h3", "If it were decided now"));
        parts.push(make("p", `${now.result}${now.message ? ": " + now.message : ""}`));
        const rows = (now.nodes || []).map((n) => [nodeButton(n.name), n.total ?? "",
            n.filter && n.filter.plugin ? `${n.filter.plugin}: ${(n.filter.reasons || []).join(", ")}` : ""]);
        if (rows.length) parts.push(table(["Node", "Score", "Turned away by"], rows));
    }
    return parts;
}

export function openPod(pod) {
    const then = state.past === null ? {} : {at: new Date(state.past).toISOString()};
    return open(`Pod ${pod}`, () => ask("explain", {pod, ...then}), explanation);
}

function fits(name) {
    const form = make("form"), answer = make("p", "", {role: "status"});
    const cpu = make("input", undefined, {name: "cpu", value: "500m", size: "6", "aria-label": "CPU"});
    const memory = make("input", undefined, {name: "memory", value: "512Mi", size: "7", "aria-label": "Memory"});
    form.append("Pods of ", cpu, " CPU and ", memory, " memory: ", make("button", "How many fit here?", {type: "submit"}), answer);
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        const pod = {apiVersion: "v1", kind: "Pod", metadata: {name: "fits"}, spec: {
            nodeSelector: {"kubernetes.io/hostname": name},
            containers: [{name: "c", image: "c", resources: {requests: {cpu: cpu.value, memory: memory.value}}}]}};
        try {
            const said = await ask("capacity", {most: "1000"}, JSON.stringify(pod));
            answer.textContent = `${said.fit} more fit.${said.message ? " Then: " + said.message : ""}`;
        } catch (error) {
            answer.textContent = error.message;
        }
    });
    return form;
}

function nodeDetails(name) {
    return (said) => {
        const node = said[0];
        if (!node) return [make("p", "There is no such node.")];
        const left = Object.entries(node.resources).map(([resource, r]) =>
            [resource, shown(resource, r.allocatable - r.used), shown(resource, r.allocatable)]);
        const pods = node.podsOnNode.map((p) => [podButton(p.namespace, p.name), shown("cpu", p.cpu), shown("memory", p.memory), p.priority]);
        return [make("p", status(node)), make("h3", "Room left"), table(["Resource", "Left", "Allocatable"], left),
            make("h3", "What would fit"), fits(name),
            make("h3", `Pods on it (${pods.length})`), table(["Pod", "CPU", "Memory", "Priority"], pods)];
    };
}

// Of a recording no more is asked than what is shown.
function nodeThen(node) {
    if (!node) return [make("p", "There was no such node.")];
    const left = Object.entries(node.resources).map(([resource, r]) =>
        [resource, shown(resource, r.allocatable - r.used), shown(resource, r.allocatable)]);
    return [make("p", `${status(node)}; ${node.pods} pods`), make("h3", "Room left"), table(["Resource", "Left", "Allocatable"], left)];
}

export function openNode(name) {
    if (state.past !== null) return open(`Node ${name}`, async () => state.nodes.get(name), nodeThen);
    return open(`Node ${name}`, () => ask("node", {name}), nodeDetails(name));
}

// ---- what if ----

function whatifAnswer(said) {
    const parts = [make("p", `${said.pods.length} to decide: ${said.scheduled} placed, ${said.pending} pending, ${said.evicted.length} would be evicted.`)];
    if (said.pods.length) parts.push(table(["Pod", "Why", "Was on", "Goes to", "Message"],
        said.pods.map((p) => [`${p.namespace}/${p.name}`, p.why, p.wasOn, p.node || "pending", p.message])));
    if (said.evicted.length) parts.push(table(["Would go", "From", "For"], said.evicted.map((e) => [e.pod, e.node, e.for])));
    return parts;
}

function capacityAnswer(said) {
    return [make("p", `${said.fit} more fit.${said.message ? " Then: " + said.message : ""}`),
        table(["Node", "Takes"], said.nodes.map((n) => [n.name, n.fit]))];
}

export function startAsking() {
    const form = document.getElementById("whatif-form");
    const answer = document.getElementById("whatif-answer");
    const decide = async (path, show, keys) => {
        const data = new FormData(form), parameters = {};
        for (const key of keys) if (data.get(key)) parameters[key] = data.get(key).trim();
        answer.replaceChildren(make("p", "Deciding …"));
        try {
            const said = await ask(path, parameters, data.get("manifest"));
            answer.replaceChildren(...show(said), raw(said));
        } catch (error) {
            answer.replaceChildren(make("p", error.message, {role: "alert", class: "bad"}));
        }
    };
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        decide("whatif", whatifAnswer, ["drain", "cordon", "fail", "add-nodes", "like", "replicas", "pending"]);
    });
    document.getElementById("fit").addEventListener("click", () => decide("capacity", capacityAnswer, []));
    document.getElementById("details-close").addEventListener("click", () => dialog.close());
    const pod = document.getElementById("pod");
    const explain = () => pod.value.trim() && openPod(pod.value.trim().includes("/") ? pod.value.trim() : "default/" + pod.value.trim());
    document.getElementById("pod-explain").addEventListener("click", explain);
    pod.addEventListener("keydown", (event) => event.key === "Enter" && explain());
}
