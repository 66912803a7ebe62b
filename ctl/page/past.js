// past: a recording in place of what is there now. A slider, or playing, names a moment; berth says what
// was known then, and it is shown as if it came live.
import {make, state, takePast} from "./state.js";

const TICK_MS = 1000; // between two moments while it plays
const at = (id) => document.getElementById(id);
const clock = new Intl.DateTimeFormat("en", {dateStyle: "medium", timeStyle: "medium"});

async function ask(moment) {
    const answer = await fetch("api/recorded" + (moment === undefined ? "" : "?at=" + new Date(moment).toISOString()));
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    return text.trim().split("\n").map((line) => JSON.parse(line));
}

let news, wanted = null, asking = false, timer = null;

function say(moment) {
    const text = clock.format(new Date(moment));
    at("moment-shown").textContent = text;
    at("moment").setAttribute("aria-valuetext", text);
}

function show(lines) {
    state.past = lines[0].at;
    takePast(lines.slice(1));
    say(state.past);
    news();
}

// One question at a time: of moments that come meanwhile only the last is asked about.
async function go(moment) {
    wanted = moment;
    say(moment);
    if (asking) return;
    asking = true;
    while (wanted !== null) {
        const next = wanted;
        wanted = null;
        try {
            show(await ask(next));
        } catch (error) {
            at("moment-shown").textContent = error.message;
        }
    }
    asking = false;
}

function stop() {
    clearInterval(timer);
    timer = null;
    at("play").textContent = "Play";
}

function tick() {
    const slider = at("moment"), next = Number(slider.value) + TICK_MS * Number(at("speed").value);
    slider.value = next; // it keeps to its range
    go(Number(slider.value));
    if (next >= Number(slider.max)) stop();
}

function play() {
    if (timer !== null) return stop();
    if (at("moment").value === at("moment").max) at("moment").value = at("moment").min;
    at("play").textContent = "Hold";
    timer = setInterval(tick, TICK_MS);
}

// What only a running berth can be asked is not there.
function arrange(span) {
    const slider = at("moment");
    slider.min = span.from;
    slider.max = span.to;
    slider.value = span.at;
    at("past").hidden = false;
    at("rates").hidden = at("whatif").hidden = true;
    slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
    at("play").addEventListener("click", play);
}

// True when a recording is shown.
export async function startPast(onNews) {
    news = onNews;
    let lines;
    try {
        lines = await ask();
    } catch (error) {
        if (error instanceof TypeError) return false; // nobody answers: the stream tries again and again
        at("past").hidden = false;
        at("past").append(make("p", error.message, {role: "alert", class: "bad"}));
        return true;
    }
    if (lines[0].kind !== "recorded") return false;
    arrange(lines[0]);
    state.link = "past";
    show(lines);
    return true;
}
