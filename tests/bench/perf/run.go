package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// options of one run.
type options struct {
	from                              []string
	name, mode, init, kubeconfig, log string
	release                           string   // of Kubernetes, whose cases these are
	placer                            []string // a command that places pods which are there before, see Chosen.placed
	status                            string   // asks the candidate how long its decisions took
	prepared                          string   // a file of what prepareMain made, when it did
	only                              bool     // prepare, and end
	nodes                             int
	rate                              float64
	json                              bool
	overrides                         map[string]int
	servers                           []int
	limit, stall, quiet               time.Duration
	command                           []string
}

// Result is what a run tells.
type Result struct {
	*Chosen
	Mode              string             `json:"mode"`
	Rate              float64            `json:"rate,omitempty"`
	Pods              int                `json:"pods"`
	Bound             int                `json:"bound"`
	Failure           string             `json:"failure,omitempty"`
	Seconds           float64            `json:"seconds"`                          // first to last bind
	Paced             float64            `json:"paced_seconds,omitempty"`          // in stages: what the case's own pace takes at least
	BeyondPace        float64            `json:"pods_per_s_beyond_pace,omitempty"` // all in, the time at that pace taken off
	StartSeconds      float64            `json:"start_seconds"`                    // from the scheduler's start, or the first pod, to the first bind
	PodsPerSecond     float64            `json:"pods_per_s"`
	FromStart         float64            `json:"pods_per_s_from_start"`    // all pods by the time from the start to the last bind
	PodsPerCoreSecond float64            `json:"pods_per_core_s"`          // by CPU of candidate and server, first to last bind
	GroupsPerSecond   float64            `json:"groups_per_s,omitempty"`   // of a case with groups: those whose last pod is bound
	Upstream          float64            `json:"upstream_average"`         // scheduler_perf's mean of whole seconds, 0 when too short
	Latency           map[string]float64 `json:"latency_ms"`               // from the pod's ADDED to its first event with a node
	CPU               float64            `json:"cpu_ms_per_pod"`           // all processes, from the start until all is quiet again
	CPUWindow         float64            `json:"cpu_window_ms_per_pod"`    // the same, first to last bind
	ServerCPU         float64            `json:"server_cpu_ms_per_pod"`    // API server and etcd, from the start until quiet
	ServerWindow      float64            `json:"server_window_ms_per_pod"` // the same, first to last bind
	HarnessCPU        float64            `json:"harness_cpu_ms_per_pod"`
	RunDelay          float64            `json:"run_delay_ms_per_pod"` // the candidate's threads, ready and not running, first to last bind
	Turns             float64            `json:"turns_per_pod"`        // how often one of them was given a processor
	Own               map[string]int     `json:"own,omitempty"`        // what the candidate says of itself
	OthersCores       float64            `json:"others_cores"`         // what the machine's other work took, first to last bind
	PeakPSS           float64            `json:"peak_pss_mib"`
	PeakRSS           float64            `json:"peak_rss_mib"`
	Processes         int                `json:"processes"`
	Requests          map[string]int     `json:"requests,omitempty"` // of the candidate, by verb and resource
}

func parseOptions(command string, arguments []string) (*options, error) {
	o := &options{overrides: map[string]int{}, only: command == "prepare"}
	flags := flag.NewFlagSet(command, flag.ExitOnError)
	flags.Func("from", "a folder of cases; may be repeated", func(folder string) error {
		o.from = append(o.from, folder)
		return nil
	})
	flags.StringVar(&o.name, "case", "", "CASE or CASE/WORKLOAD")
	flags.StringVar(&o.release, "release", firstRelease, "of Kubernetes, whose cases these are")
	flags.Func("placer", "a word of the command that places pods with claims or groups before the clock; may be repeated",
		func(word string) error {
			o.placer = append(o.placer, word)
			return nil
		})
	flags.StringVar(&o.mode, "mode", "backlog", "backlog, arrival or live")
	flags.StringVar(&o.init, "init", "bound", "who places the pods before the measured ones: bound or scheduler")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the administrator's kubeconfig")
	flags.StringVar(&o.log, "log", "", "the scheduler's output")
	flags.StringVar(&o.prepared, "prepared", "", "what `perf prepare` printed of this API server's objects")
	flags.StringVar(&o.status, "status", "", "a command that prints the candidate's own figures, see ownFigures")
	flags.IntVar(&o.nodes, "nodes", 0, "scale the workload to this many nodes")
	flags.Float64Var(&o.rate, "rate", 0, "pods a second, for arrival")
	flags.BoolVar(&o.json, "json", false, "speak JSON (our small API server)")
	flags.DurationVar(&o.limit, "limit", 10*time.Minute, "the most that the measured part may take")
	flags.DurationVar(&o.quiet, "quiet", 0, "wait at most so long for the machine's other work to rest")
	flags.DurationVar(&o.stall, "stall", time.Minute, "without a bind for so long, the run has failed")
	flags.Func("set", "PARAM=VALUE of the workload", func(text string) error {
		name, value, _ := strings.Cut(text, "=")
		number, err := strconv.Atoi(value)
		o.overrides[name] = number
		return err
	})
	flags.Func("server-pid", "a process of the API server", func(text string) error {
		pid, err := strconv.Atoi(text)
		o.servers = append(o.servers, pid)
		return err
	})
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	o.command = flags.Args()
	switch {
	case len(o.command) == 0 && !o.only:
		return nil, errors.New("no scheduler after --")
	case !slices.Contains([]string{"backlog", "arrival", "live"}, o.mode):
		return nil, fmt.Errorf("no mode %q", o.mode)
	case o.mode == "arrival" && o.rate <= 0:
		return nil, errors.New("--mode arrival needs --rate")
	case o.mode == "backlog" && o.init != "bound":
		return nil, errors.New("--init scheduler needs --mode arrival or live")
	case o.init != "bound" && (o.only || o.prepared != ""):
		return nil, errors.New("what the scheduler places cannot be prepared")
	}
	return o, nil
}

// usage is CPU time at a moment: of the candidate, of the API server, of the harness, of everybody.
type usage struct {
	at                             time.Time
	candidate, server, own, anyone float64
	threads                        threadTimes // the candidate's
}

func (r *run) usage() usage {
	used := usage{at: time.Now(), server: cpuSeconds(r.servers), own: ownCPU(), anyone: machineCPU()}
	if r.candidate != nil {
		used.candidate = r.candidate.cpu()
		used.threads = timesOfThreads(r.candidate.members())
	}
	return used
}

// run is one run under way.
type run struct {
	*options
	ctx       context.Context
	client    *Client
	tracker   *Tracker
	executor  *Executor
	candidate *Candidate
	keys      []string
	own       map[string]int

	steadyOp    *Op // in a steady state: the pods that come and go
	steadyIndex int

	began                      time.Time
	before, first, last, after usage
	requestsBefore             map[string]int
	sentBefore                 map[string]int
}

// newRun connects to the API server; the caller ends the context.
func newRun(ctx context.Context, o *options) (*run, error) {
	cases, err := readCases(o.from...)
	if err != nil {
		return nil, err
	}
	chosen, err := choose(cases, o.name, o.release, o.nodes, o.overrides)
	if err != nil {
		return nil, err
	}
	r := &run{options: o, ctx: ctx}
	if r.client, err = NewClient(o.kubeconfig, o.json, 2); err != nil {
		return nil, err
	}
	if r.tracker, err = NewTracker(ctx, r.client); err != nil {
		return nil, err
	}
	r.executor = &Executor{ctx: ctx, client: r.client, tracker: r.tracker, chosen: chosen, bindInit: o.init == "bound",
		inventory: map[string][]string{}, spaces: map[string]bool{}, priorities: map[int32]bool{},
		labels: map[string]map[string]string{}, place: r.startPlacer}
	return r, nil
}

// withRun does something with a run as the arguments have it, until a signal ends it.
func withRun(command string, arguments []string, do func(*run) error) error {
	o, err := parseOptions(command, arguments)
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	r, err := newRun(ctx, o)
	if err != nil {
		return err
	}
	return do(r)
}

func runMain(arguments []string) error {
	return withRun("run", arguments, (*run).playAndTell)
}

// playAndTell plays the run and prints its result, also when it failed.
func (r *run) playAndTell() error {
	defer func() {
		if r.candidate != nil {
			r.candidate.stop()
		}
	}()
	play := r.play
	switch {
	case r.executor.chosen.Staged:
		play, r.mode = r.playStages, "stages"
	case r.executor.chosen.Steady:
		play, r.mode = r.playSteady, "steady"
	}
	failure := play()
	if r.candidate == nil || len(r.keys) == 0 {
		return failure
	}
	return json.NewEncoder(os.Stdout).Encode(r.result(r.executor.chosen, failure))
}

// play is the run itself: what comes before, the clock, and the quiet after.
func (r *run) play() error {
	if r.init == "scheduler" {
		if err := r.start(); err != nil {
			return err
		}
	}
	setup := r.setup
	if r.prepared != "" {
		setup = r.recall
	}
	orders, err := setup()
	if err != nil {
		return err
	}
	settle(10*time.Second, func() float64 { return cpuSeconds(r.servers) })
	settle(r.quiet, machineCPU)
	if err := r.measure(orders); err != nil {
		return err
	}
	return r.tracker.failure
}

// setup makes all that is there before the clock starts, in a backlog the measured pods too, and returns
// the requests for these.
func (r *run) setup() ([]order, error) {
	op, index, err := r.executor.prepare()
	r.stopPlacer()
	if err != nil {
		return nil, err
	}
	if r.executor.chosen.Steady {
		r.steadyOp, r.steadyIndex = op, index
		return nil, nil
	}
	orders, keys, err := r.executor.podOrders(op, index, false)
	if err != nil {
		return nil, err
	}
	r.tracker.expect(keys)
	r.keys = keys
	if r.mode == "backlog" {
		if err := r.executor.sendAll(orders, 0); err != nil {
			return nil, err
		}
		err = r.executor.wait("the measured pods to exist", func() bool { return r.tracker.seen == len(keys) })
	}
	return orders, err
}

// measure starts the clock and the scheduler, and stops the clock.
func (r *run) measure(orders []order) error {
	var err error
	if r.mode != "backlog" {
		// The scheduler is up, and has placed a pod, before the first measured one comes.
		if r.candidate == nil {
			if err := r.start(); err != nil {
				return err
			}
		}
		if err := r.canary(); err != nil {
			return err
		}
	}
	if err := r.snapshot(); err != nil {
		return err
	}
	r.began = time.Now()
	if r.mode == "backlog" {
		if err := r.start(); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(r.ctx)
	defer stop()
	for _, each := range r.executor.background {
		go each(ctx)
	}
	first := r.atFirstBind(ctx)
	if r.mode != "backlog" {
		if err := r.executor.sendAll(orders, r.rate); err != nil {
			return err
		}
	}
	err = r.tracker.allBound(r.limit, r.stall, r.candidate.alive)
	r.last = r.usage()
	stop()
	r.first = <-first
	r.rest()
	return err
}

var ownFigure = regexp.MustCompile(`(?m)\b(decisions_timed|decision_p[0-9]+_us)[= ]+(\d+)`)
var ownHop = regexp.MustCompile(`(?m)\b(hop_\w+)[= ]+(p50_us=.*)$`)
var hopFigure = regexp.MustCompile(`(\w+)=(\d+)`)

// ownFigures asks the candidate for figures that nobody can see from outside: names and numbers in what a command prints.
func ownFigures(ctx context.Context, command string) map[string]int {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	words := strings.Fields(command)
	text, err := exec.CommandContext(ctx, words[0], words[1:]...).Output()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", command, err)
	}
	return readOwnFigures(string(text))
}

// readOwnFigures gives figures of a hop its name: hop_line=p50_us=3 is hop_line_p50_us.
func readOwnFigures(text string) map[string]int {
	found := map[string]int{}
	for _, match := range ownFigure.FindAllStringSubmatch(text, -1) {
		found[match[1]], _ = strconv.Atoi(match[2])
	}
	for _, hop := range ownHop.FindAllStringSubmatch(text, -1) {
		for _, match := range hopFigure.FindAllStringSubmatch(hop[2], -1) {
			found[hop[1]+"_"+match[1]], _ = strconv.Atoi(match[2])
		}
	}
	return found
}

// atFirstBind takes the usage when the first measured pod is bound, or the context ends.
func (r *run) atFirstBind(ctx context.Context) chan usage {
	first := make(chan usage, 1)
	go func() {
		select {
		case <-r.tracker.first:
		case <-ctx.Done():
		}
		first <- r.usage()
	}()
	return first
}

// rest waits until all is quiet.
func (r *run) rest() {
	// Events and the like may still be on their way; they are part of the work.
	settle(5*time.Second, func() float64 { return cpuSeconds(r.servers) + r.candidate.cpu() })
	r.after = r.usage()
	r.candidate.sampleMemory()
	if r.status != "" {
		r.own = ownFigures(r.ctx, r.status)
	}
}

func (r *run) start() error {
	var err error
	r.candidate, err = startCandidate(r.command, r.log)
	return err
}

// canary is one pod more, placed before the clock starts and then removed.
func (r *run) canary(tolerations ...v1.Toleration) error {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "canary", Namespace: "canary"},
		Spec: v1.PodSpec{Containers: []v1.Container{{Name: "pause", Image: "registry.k8s.io/pause:3.10.2"}},
			Tolerations: tolerations}}
	if err := r.executor.namespace("canary", &v1.Namespace{}); err != nil {
		return err
	}
	if err := r.client.Create(r.ctx, "/api/v1/namespaces/canary/pods", "pods", "v1", "Pod", pod); err != nil {
		return err
	}
	err := r.tracker.wait("the scheduler's first bind", 2*time.Minute, func() bool {
		state := r.tracker.pods["canary/canary"]
		return !r.candidate.alive() || (state != nil && !state.bound.IsZero())
	})
	if err == nil && !r.candidate.alive() {
		err = errors.New("the scheduler ended")
	}
	if err != nil {
		return err
	}
	return r.client.Delete(r.ctx, "/api/v1/namespaces/canary/pods/canary", "pods", atOnce)
}

// ---- the API server's own figures ---------------------------------------------------------------

var requestLine = regexp.MustCompile(`^apiserver_request_total\{(.*)\} ([0-9.e+]+)$`)
var labelPair = regexp.MustCompile(`(\w+)="([^"]*)"`)

// requests reads how many requests the API server has finished, by verb and resource; a server
// without metrics has none.
func (r *run) requests() (map[string]int, error) {
	text, err := r.client.Get(r.ctx, "/metrics", "GET metrics")
	var status *StatusError
	if errors.As(err, &status) && status.Code == 404 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		match := requestLine.FindSubmatch(lines.Bytes())
		if match == nil {
			continue
		}
		labels := map[string]string{}
		for _, pair := range labelPair.FindAllSubmatch(match[1], -1) {
			labels[string(pair[1])] = string(pair[2])
		}
		what := labels["verb"] + " " + labels["resource"]
		if labels["subresource"] != "" {
			what += "/" + labels["subresource"]
		}
		value, _ := strconv.ParseFloat(string(match[2]), 64)
		found[what] += int(value)
	}
	return found, lines.Err()
}

func (r *run) snapshot() error {
	var err error
	r.requestsBefore, err = r.requests()
	r.sentBefore = r.client.Sent()
	r.before = r.usage()
	return err
}

// candidateRequests are those since the snapshot that were not the harness's own.
func (r *run) candidateRequests() map[string]int {
	after, err := r.requests()
	if after == nil || err != nil {
		return nil
	}
	sent := r.client.Sent()
	difference := map[string]int{}
	for what, times := range after {
		times -= r.requestsBefore[what] + sent[what] - r.sentBefore[what]
		if times > 0 {
			difference[what] = times
		}
	}
	return difference
}

// ---- figures ------------------------------------------------------------------------------------

func (r *run) result(chosen *Chosen, failure error) *Result {
	result := &Result{Chosen: chosen, Mode: r.mode, Rate: r.rate, Pods: len(r.keys), Latency: map[string]float64{}}
	if failure != nil {
		result.Failure = failure.Error()
	}
	var bounds []time.Time
	var latencies []float64
	states := r.tracker.states(r.keys)
	for _, state := range states {
		if !state.bound.IsZero() {
			bounds = append(bounds, state.bound)
			latencies = append(latencies, float64(state.bound.Sub(state.created).Microseconds())/1000)
		}
	}
	result.Bound = len(bounds)
	pods := float64(max(1, len(bounds)))
	result.CPU = (r.after.candidate - r.before.candidate) * 1000 / pods
	result.CPUWindow = (r.last.candidate - r.first.candidate) * 1000 / pods
	result.ServerCPU = (r.after.server - r.before.server) * 1000 / pods
	result.ServerWindow = (r.last.server - r.first.server) * 1000 / pods
	result.HarnessCPU = (r.after.own - r.before.own) * 1000 / pods
	result.RunDelay = (r.last.threads.delay - r.first.threads.delay) * 1000 / pods
	result.Turns = (r.last.threads.turns - r.first.threads.turns) / pods
	ours := r.last.candidate - r.first.candidate + r.last.server - r.first.server
	if ours > 0 {
		result.PodsPerCoreSecond = float64(len(bounds)) / ours
	}
	if window := r.last.at.Sub(r.first.at).Seconds(); window > 0 {
		others := r.last.anyone - r.first.anyone - ours - (r.last.own - r.first.own)
		result.OthersCores = math.Max(0, others/window)
	}
	result.PeakPSS, result.PeakRSS = float64(r.candidate.peakPSS)/1024, float64(r.candidate.peakRSS)/1024
	result.Processes = r.candidate.peakCount
	result.Requests = r.candidateRequests()
	result.Own = r.own
	if len(bounds) < 2 {
		return result
	}
	slices.SortFunc(bounds, time.Time.Compare)
	slices.Sort(latencies)
	first, last := bounds[0], bounds[len(bounds)-1]
	result.Seconds, result.StartSeconds = last.Sub(first).Seconds(), first.Sub(r.began).Seconds()
	result.PodsPerSecond = float64(len(bounds)-1) / math.Max(result.Seconds, 1e-3)
	result.FromStart = float64(len(bounds)) / math.Max(last.Sub(r.began).Seconds(), 1e-3)
	result.Upstream = upstreamAverage(bounds, r.began)
	if paced := r.executor.stages.pacedBy(last); paced > 0 {
		result.Paced = paced.Seconds()
		result.BeyondPace = float64(len(bounds)) / math.Max(last.Sub(r.began).Seconds()-result.Paced, 1e-3)
	}
	result.GroupsPerSecond = groupsPerSecond(states, groupsOf(chosen.Params))
	for name, share := range map[string]float64{"p50": 0.50, "p90": 0.90, "p99": 0.99, "p999": 0.999, "max": 1} {
		result.Latency[name] = latencies[int(math.Ceil(share*float64(len(latencies))))-1]
	}
	return result
}

// groupsPerSecond is how fast groups became whole, the first one not counted. A group is as many pods, in
// the order of their creation, as there are for each group.
func groupsPerSecond(states []*podState, groups int) float64 {
	if groups < 2 || len(states)%groups != 0 {
		return 0
	}
	var whole []time.Time
	size := len(states) / groups
	for members := range slices.Chunk(states, size) {
		last := members[0].bound
		for _, member := range members {
			if member.bound.IsZero() {
				return 0
			}
			if member.bound.After(last) {
				last = member.bound
			}
		}
		whole = append(whole, last)
	}
	slices.SortFunc(whole, time.Time.Compare)
	return float64(groups-1) / math.Max(whole[groups-1].Sub(whole[0]).Seconds(), 1e-3)
}

// upstreamAverage is scheduler_perf's SchedulingThroughput: the mean of rates in whole seconds. The
// first second with a bind is left out, and a second without one takes the rate of the next with some.
func upstreamAverage(bounds []time.Time, began time.Time) float64 {
	var rates []float64
	started, before, sampled, skipped := false, 0, began, 0
	for tick := began.Add(time.Second); !tick.After(bounds[len(bounds)-1].Add(time.Second)); tick = tick.Add(time.Second) {
		count, _ := slices.BinarySearchFunc(bounds, tick, func(a, b time.Time) int { return a.Compare(b) })
		switch {
		case count == 0:
		case !started:
			started, before, sampled = true, count, tick
		case count == before:
			skipped++
		default:
			for range skipped + 1 {
				rates = append(rates, float64(count-before)/tick.Sub(sampled).Seconds())
			}
			before, sampled, skipped = count, tick, 0
		}
	}
	total := 0.0
	for _, rate := range rates {
		total += rate
	}
	return total / math.Max(1, float64(len(rates)))
}
