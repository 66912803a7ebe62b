# The scenes, in order. Each says what it does, does it, shows it, and checks what it claims: it
# succeeds when that came true. On six nodes of 4 CPU, two in each of three zones.

zones=([node-1]=a [node-2]=b [node-3]=c [node-4]=a [node-5]=b [node-6]=c)
SCENES=(pods_that_fit spreading cannot_fit preemption gang worker_killed leader_killed)

zone_of() { echo "zone-${zones[$1]}"; }

# "2 in zone-a, 2 in zone-b …" for the pods of an app that have a node.
by_zone() {
    nodes_of "$1" | while read -r _ node; do [ "$node" = '<none>' ] || zone_of "$node"; done |
        sort | uniq -c | awk '{ printf "%s%d in %s", sep, $1, $2; sep = ", " }'
}

pods_that_fit() {
    heading_is "Pods that fit"
    say "Six pods ask for half a CPU each. A node that has more left scores higher, so each goes to a node of its own."
    local i
    for i in {1..6}; do make_pod "web-$i" web 500m; done
    until_true all_placed web 6
    show pods -l app=web --sort-by NODE
    claim "all six have a node" all_placed web 6
    claim "on six nodes" [ "$(nodes_of web | cut -d' ' -f2 | sort -u | wc -l)" -eq 6 ]
}

spreading() {
    heading_is "Spreading over zones"
    say "Six more must be spread over the three zones, with a skew of 1 at most."
    local i spread='"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone",
        "whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"api"}}}]'
    for i in {1..6}; do make_pod "api-$i" api 250m "$spread"; done
    until_true all_placed api 6
    say "$(by_zone api)"
    claim "two in each zone" [ "$(by_zone api)" = "2 in zone-a, 2 in zone-b, 2 in zone-c" ]
    clear_pods web api
}

has_reason() { ask explain default/huge | grep -q '0/6 nodes are available: 6 Insufficient cpu'; }

cannot_fit() {
    heading_is "A pod that cannot fit, and why"
    say "It asks for 16 CPU, and no node has more than 4."
    make_pod huge huge 16
    until_true has_reason
    show explain default/huge --node node-1
    claim "it waits, and the reason is said" has_reason
    say "A node of 32 CPU joins. Nobody has to ask again:"
    make_node node-7 zone-a 32
    until_true all_placed huge 1
    show pods -l app=huge
    claim "it goes there at once" [ "$(nodes_of huge)" = "huge node-7" ]
    clear_pods huge
    request DELETE /api/v1/nodes/node-7
}

preemption() {
    heading_is "Preemption"
    say "Twelve pods of 2 CPU fill all six nodes. Then one comes whose priority is 1000."
    local i before after
    for i in {1..12}; do make_pod "batch-$i" batch 2; done
    until_true all_placed batch 12
    claim "the twelve are placed, and the cluster is full" all_placed batch 12
    before=$(nodes_of batch)
    request POST /apis/scheduling.k8s.io/v1/priorityclasses '{"metadata":{"name":"urgent"},"value":1000}'
    make_pod urgent urgent 2 '"priorityClassName":"urgent"'
    until_true all_placed urgent 1
    after=$(nodes_of batch)
    say "evicted for it: $(comm -23 <(sort <<<"$before") <(sort <<<"$after") | sed 's/ / on /')"
    show pods -l app=urgent
    claim "it has its place" all_placed urgent 1
    claim "for one victim, not more" [ "$(wc -l <<<"$after")" -eq 11 ]
    clear_pods batch urgent
}

waits_for_room() { ask pods -l app=train --no-headers | awk '$2 == "unschedulable" { n++ } END { exit n != 4 }'; }

gang() {
    heading_is "A gang: all or nobody"
    say "Four pods of one PodGroup (minMember 4) need a node each; three of the six are taken."
    local i member='"scheduling.x-k8s.io/pod-group":"train"'
    for i in 1 2 3; do make_pod "taken-$i" taken 3; done
    until_true all_placed taken 3
    request POST /apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups '{"metadata":{"name":"train"},"spec":{"minMember":4}}'
    for i in {1..4}; do make_pod "train-$i" train 3 '' "$member"; done
    until_true waits_for_room
    show pods -l app=train -o wide
    claim "three would fit, and none of the four holds a place" [ "$(waiting train)" -eq 4 ]
    say "One of the three goes:"
    delete_pod taken-1
    until_true all_placed train 4
    show pods -l app=train
    claim "all four start" all_placed train 4
    clear_pods taken train
}

worker_killed() {
    heading_is "A worker is killed"
    say "Sixty pods come, and in the midst of them one of the two workers is killed (SIGKILL)."
    local i pid
    pid=$(cat "$dir/$leader/worker-0.pid")
    for i in {1..60}; do
        make_pod "steady-$i" steady 50m
        [ "$i" -ne 30 ] || kill -KILL "$pid"
    done
    until_true all_placed steady 60
    claim "all sixty are placed" all_placed steady 60
    until_true has_workers 2
    say "worker-0 was process $pid and is $(cat "$dir/$leader/worker-0.pid") now"
    claim "there are two workers again" has_workers 2
    clear_pods steady
}

leader_killed() {
    heading_is "The leader is killed"
    say "All processes of the leading instance are killed at once, and a pod comes. Nobody gave the lease back,"
    say "so the standby takes it when it has run out: 5 s here, 15 s as everybody has it."
    local begun took
    until_true $bin/berth status --run-dir "$dir/second"
    kill_berth first
    begun=$(now_ms)
    make_pod survivor survivor 500m
    leader=second
    until_true all_placed survivor 1
    took=$(($(now_ms) - begun))
    say "the standby's first bind: $(seconds_of $took) after the kill"
    show pods -l app=survivor
    claim "the standby leads, and has placed the pod" eval 'leads second && all_placed survivor 1'
    claim "and not before the lease had run out" [ $took -gt 3000 ]
    clear_pods survivor
    start_berth first "$first_port"
    say "What was killed is started again, and stands by now."
}
