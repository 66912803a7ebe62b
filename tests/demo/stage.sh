# What the scenes stand on: the small API server, instances of berth, objects, waiting, and what is said.
# It is read by tests/demo/run, which has set $dir, a folder of this run's own.

bin=build/bin
declare -A process # of what runs, by name: apiserver, tap, and instances of berth, whose folders are $dir/NAME
WAIT=60       # seconds until something that should come true is taken not to
LEASE=(--leader-elect-lease-duration 5s --leader-elect-renew-deadline 4s --leader-elect-retry-period 1s)

# ---- what is said ----

if [ -t 1 ]; then
    bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'
else
    bold='' dim='' green='' red='' plain=''
fi

heading() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
say() { printf '   %s\n' "$*"; }

# A command of berth that one could type, and what it prints.
show() {
    printf '%s   $ berth %s%s\n' "$dim" "$*" "$plain"
    ask "$@" 2>&1 | sed 's/^/   | /; s/ *$//'
}

# A reader has a moment between scenes; nobody else needs one.
pause() { [ ! -t 1 ] || sleep "$1"; }

# ---- time ----

now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
seconds_of() { printf '%d.%d s' $(($1 / 1000)) $(($1 % 1000 / 100)); }

# Asks until the command succeeds; fails when it has not within WAIT seconds.
until_true() {
    local end=$((SECONDS + WAIT))
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

# ---- programs ----

start_apiserver() {
    $bin/apiserver --listen 127.0.0.1:0 --port-file "$dir/port" --write-kubeconfig "$dir/kubeconfig" --kubelet run \
        >"$dir/apiserver.log" 2>&1 &
    process[apiserver]=$!
    until_true test -s "$dir/port" -a -s "$dir/kubeconfig" || { cat "$dir/apiserver.log"; return 1; }
    server=http://127.0.0.1:$(cat "$dir/port")
}

# The first port from 10259 on that is free and that no instance here has.
free_port() {
    port=${port:-10258}
    while port=$((port + 1)); (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
}

# start_berth NAME PORT: an instance in $dir/NAME, with the page for this machine alone. Who may see the
# page is asked of the API server, which is the demo's own and lets everybody.
start_berth() {
    $bin/berth run --kubeconfig "$dir/kubeconfig" --run-dir "$dir/$1" --workers 2 "${LEASE[@]}" --ui \
        --bind-address 127.0.0.1 --secure-port "$2" \
        --authentication-kubeconfig "$dir/kubeconfig" --authorization-kubeconfig "$dir/kubeconfig" >>"$dir/$1.log" 2>&1 &
    process[$1]=$!
}

# kill_berth NAME: all of its processes at once, as when their machine is lost; the binder first, so that it cannot give back
# the lease when it misses the others.
kill_berth() {
    local processes
    mapfile -t processes < <(cat "$dir/$1/binder.pid" "$dir/$1"/*.pid)
    kill -KILL "${processes[@]}"
    wait "${process[$1]}"
    unset "process[$1]"
} 2>/dev/null

# The API server last, since the others have something to tell it.
end_processes() {
    local name server_too=${process[apiserver]:-}
    unset 'process[apiserver]'
    for name in "${!process[@]}"; do kill "${process[$name]}" 2>/dev/null; done
    wait ${process[@]+"${process[@]}"}
    [ -z "$server_too" ] || { kill "$server_too" && wait "$server_too"; }
}

# ask COMMAND ...: berth's COMMAND, of the instance that leads.
ask() { $bin/berth "$1" --run-dir "$dir/$leader" "${@:2}"; }
leads() { $bin/berth status --run-dir "$dir/$1" | grep -q '^binder .* leads,'; }
has_workers() { ask status | grep -q "^deciding as .* $1 workers,"; }

# ---- objects ----

# request METHOD PATH [JSON]
request() {
    curl -sS --fail-with-body -X "$1" -H 'Content-Type: application/json' ${3:+-d "$3"} "$server$2" >"$dir/answer" && return
    cat "$dir/answer" >&2
    return 1
}

# make_node NAME ZONE CPU
make_node() {
    local room="{\"cpu\":\"$3\",\"memory\":\"32Gi\",\"pods\":\"110\"}"
    request POST /api/v1/nodes "{\"metadata\":{\"name\":\"$1\",\"labels\":{\"kubernetes.io/hostname\":\"$1\",\"topology.kubernetes.io/zone\":\"$2\"}},
        \"status\":{\"capacity\":$room,\"allocatable\":$room,\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
}

# make_pod NAME APP CPU [more of the spec, as JSON fields] [a further label, as a JSON field]
make_pod() {
    request POST /api/v1/namespaces/default/pods "{\"metadata\":{\"name\":\"$1\",\"labels\":{\"app\":\"$2\"${5:+,$5}}},
        \"spec\":{\"terminationGracePeriodSeconds\":1${4:+,$4},\"containers\":[{\"name\":\"c\",\"image\":\"demo:1\",
        \"resources\":{\"requests\":{\"cpu\":\"$3\"}}}]}}"
}

delete_pod() { request DELETE "/api/v1/namespaces/default/pods/$1?gracePeriodSeconds=0"; }

# ---- what is seen ----

# NAME and NODE of each pod of an app, as berth has them; of one that waits, <none>.
nodes_of() { ask pods -l "app=$1" -o wide --no-headers | awk '{ print $1, $6 }'; }
placed() { nodes_of "$1" | grep -vc '<none>'; }
all_placed() { [ "$(placed "$1")" -eq "$2" ]; }
waiting() { nodes_of "$1" | grep -c '<none>'; }
none_left() { [ -z "$(nodes_of "$1")" ]; }

# The end of a scene: its pods go.
clear_pods() {
    local app name
    for app in "$@"; do
        for name in $(nodes_of "$app" | cut -d' ' -f1); do delete_pod "$name" 2>/dev/null; done
        until_true none_left "$app"
    done
}
