package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// The shapes of upstream's performance-config.yaml. Reading is strict: what these structs do not
// know is an error and no silently other workload.

// TestCase is one entry of a file: operations, and workloads that fill in their parameters.
type TestCase struct {
	Name                           string            `json:"name"`
	FeatureGates                   map[string]bool   `json:"featureGates"`
	MetricsCollectorConfig         json.RawMessage   `json:"metricsCollectorConfig"`
	WorkloadTemplate               []json.RawMessage `json:"workloadTemplate"`
	Workloads                      []Workload        `json:"workloads"`
	SchedulerConfigPath            string            `json:"schedulerConfigPath"`
	DefaultPodTemplatePath         string            `json:"defaultPodTemplatePath"`
	Labels                         []string          `json:"labels"`
	DefaultThresholdMetricSelector json.RawMessage   `json:"defaultThresholdMetricSelector"`

	folder string
}

// Workload is a size of a case.
type Workload struct {
	Name                    string          `json:"name"`
	Params                  map[string]any  `json:"params"`
	Labels                  []string        `json:"labels"`
	Threshold               json.RawMessage `json:"threshold"`
	ThresholdMetricSelector json.RawMessage `json:"thresholdMetricSelector"`
	FeatureGates            map[string]bool `json:"featureGates"`
}

// Op is an operation; which of its fields may be set depends on the opcode.
type Op struct {
	Opcode                            string            `json:"opcode"`
	Count                             int               `json:"count"`
	CountParam                        string            `json:"countParam"`
	Namespace                         string            `json:"namespace"`
	Namespaces                        []string          `json:"namespaces"`
	NodeTemplatePath                  string            `json:"nodeTemplatePath"`
	NodeAllocatableStrategy           *NodeVolumes      `json:"nodeAllocatableStrategy"`
	LabelNodePrepareStrategy          *LabelStrategy    `json:"labelNodePrepareStrategy"`
	UniqueNodeLabelStrategy           *LabelStrategy    `json:"uniqueNodeLabelStrategy"`
	Prefix                            string            `json:"prefix"`
	NamespaceTemplatePath             string            `json:"namespaceTemplatePath"`
	NamespacePrefix                   string            `json:"namespacePrefix"`
	CreatePodsOp                      *Op               `json:"createPodsOp"`
	PodTemplatePath                   string            `json:"podTemplatePath"`
	CollectMetrics                    bool              `json:"collectMetrics"`
	SkipWaitToCompletion              bool              `json:"skipWaitToCompletion"`
	SteadyState                       bool              `json:"steadyState"`
	SteadyStateParam                  string            `json:"steadyStateParam"`
	PersistentVolumeTemplatePath      string            `json:"persistentVolumeTemplatePath"`
	PersistentVolumeClaimTemplatePath string            `json:"persistentVolumeClaimTemplatePath"`
	Mode                              string            `json:"mode"`
	Number                            int               `json:"number"`
	IntervalMilliseconds              int               `json:"intervalMilliseconds"`
	TemplatePaths                     []string          `json:"templatePaths"`
	TemplatePath                      string            `json:"templatePath"`
	LabelSelector                     map[string]string `json:"labelSelector"`
	DeletePodsPerSecond               int               `json:"deletePodsPerSecond"`
	StageRequirement                  string            `json:"stageRequirement"`
	Duration                          metav1.Duration   `json:"duration"`
	DurationParam                     string            `json:"durationParam"`
	Name                              string            `json:"name"`
	UpdatePerSecond                   int               `json:"updatePerSecond"`
	Subresources                      []string          `json:"subresources"`
}

// LabelStrategy gives nodes a label, its values in turn or, without values, one of each node's own.
type LabelStrategy struct {
	LabelKey    string   `json:"labelKey"`
	LabelValues []string `json:"labelValues"`
}

// NodeVolumes says what nodes offer beyond their template, and what their drivers attach.
type NodeVolumes struct {
	NodeAllocatable    map[string]string                         `json:"nodeAllocatable"`
	CSINodeAllocatable map[string]*storagev1.VolumeNodeResources `json:"csiNodeAllocatable"`
	MigratedPlugins    []string                                  `json:"migratedPlugins"`
}

// Chosen is a case with a size, ready to be played.
type Chosen struct {
	Case     string         `json:"case"`
	Workload string         `json:"workload"`
	Params   map[string]int `json:"params"`
	Staged   bool           `json:"staged,omitempty"` // what is measured lies between two operations
	Ops      []Op           `json:"-"`
	Gates    []string       `json:"gates_ignored,omitempty"`
	folder   string
	template string
}

var opcodes = []string{"createNodes", "createNamespaces", "createPods", "createPodSets", "churn", "createAny",
	"deletePods", "updateAny", "startCollectingMetrics", "stopCollectingMetrics", "barrier", "sleep"}

// readCases reads all performance-config.yaml below some folders.
func readCases(roots ...string) ([]TestCase, error) {
	var all []TestCase
	visit := func(path string, _ os.FileInfo, err error) error {
		if err != nil || filepath.Base(path) != "performance-config.yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var cases []TestCase
		if err := yaml.UnmarshalStrict(text, &cases); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, each := range cases {
			each.folder = filepath.Dir(path)
			all = append(all, each)
		}
		return nil
	}
	for _, root := range roots {
		if err := filepath.Walk(root, visit); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// refusal says what of a case cannot be played here, or nothing.
func (t *TestCase) refusal() string {
	if t.SchedulerConfigPath != "" {
		return "schedulerConfigPath"
	}
	used := map[string]bool{}
	for _, raw := range t.WorkloadTemplate {
		var head struct{ Opcode string }
		if err := json.Unmarshal(raw, &head); err != nil {
			return err.Error()
		}
		if !slices.Contains(opcodes, head.Opcode) {
			return "opcode " + head.Opcode
		}
		op, err := readOp(raw)
		if err != nil {
			return err.Error()
		}
		if why := op.refusal(); why != "" {
			return "opcode " + head.Opcode + " with " + why
		}
		used[op.CountParam], used[op.DurationParam] = true, true
		if op.CreatePodsOp != nil {
			used[op.CreatePodsOp.CountParam] = true
		}
	}
	if strings.Contains(filepath.ToSlash(t.folder)+"/", "/dra/") {
		return "the controller that makes resource claims"
	}
	for _, param := range slices.Sorted(maps.Keys(t.Workloads[0].Params)) {
		if !used["$"+param] {
			return "what reads parameter " + param
		}
	}
	return ""
}

// staged: the scheduler is there from the beginning, and operations happen while it is measured.
func (t *TestCase) staged() bool {
	return slices.ContainsFunc(t.WorkloadTemplate, func(raw json.RawMessage) bool {
		op, err := readOp(raw)
		return err == nil && op.Opcode == "startCollectingMetrics"
	})
}

func readOp(raw []byte) (Op, error) {
	var op Op
	err := yaml.UnmarshalStrict(raw, &op)
	return op, err
}

func (op *Op) refusal() string {
	switch {
	case (op.PersistentVolumeTemplatePath == "") != (op.PersistentVolumeClaimTemplatePath == ""):
		return "a volume without a claim, or a claim without a volume"
	case op.SteadyState || op.SteadyStateParam != "":
		return "steadyState"
	case op.CreatePodsOp != nil && op.CreatePodsOp.CollectMetrics:
		return "collectMetrics"
	}
	if op.CreatePodsOp != nil {
		return op.CreatePodsOp.refusal()
	}
	return ""
}

// ---- sizes --------------------------------------------------------------------------------------

var nodeParam = regexp.MustCompile(`(?i)nodes`)
var namespaceParam = regexp.MustCompile(`(?i)namespaces$`)
var perNamespaceParam = regexp.MustCompile(`(?i)PerNamespace$`)

func numbers(params map[string]any) map[string]int {
	found := map[string]int{}
	for name, value := range params {
		if number, ok := value.(float64); ok {
			found[name] = int(number)
		}
	}
	return found
}

func nodesOf(params map[string]int) int {
	sum := 0
	for name, value := range params {
		if nodeParam.MatchString(name) {
			sum += value
		}
	}
	return sum
}

// reference is the workload that upstream judges a case by: with a threshold, labelled performance,
// of many nodes, and of these the one with the fewest pods.
func (t *TestCase) reference() *Workload {
	rank := func(w *Workload) [4]int {
		params := numbers(w.Params)
		threshold, performance := 0, 0
		if w.Threshold != nil {
			threshold = 1
		}
		if slices.Contains(w.Labels, "performance") {
			performance = 1
		}
		return [4]int{threshold, performance, nodesOf(params), -params["measurePods"]}
	}
	best := &t.Workloads[0]
	for i := range t.Workloads {
		if a, b := rank(&t.Workloads[i]), rank(best); slices.Compare(a[:], b[:]) >= 0 {
			best = &t.Workloads[i]
		}
	}
	return best
}

// scale shrinks or grows all counts by the same factor, so that a cluster of `nodes` nodes is as full
// as upstream's. The number of namespaces stays, unless less than a pod would be left for each.
func scale(params map[string]int, nodes int) map[string]int {
	reference := nodesOf(params)
	if reference == 0 {
		reference = 5000 // cases of one node: as if it were one of these
	}
	factor := float64(nodes) / float64(reference)
	grown := func(value int, by float64) int {
		if value == 0 {
			return 0
		}
		return max(1, int(math.Round(float64(value)*by)))
	}
	scaled, spaces := map[string]int{}, 1.0
	for name, value := range params {
		if !namespaceParam.MatchString(name) {
			scaled[name] = grown(value, factor)
		}
		if perNamespaceParam.MatchString(name) {
			spaces = math.Min(spaces, float64(value)*factor)
		}
	}
	for name, value := range params {
		if namespaceParam.MatchString(name) {
			scaled[name] = grown(value, spaces)
		}
	}
	return scaled
}

// choose finds CASE or CASE/WORKLOAD; nodes of 0 keeps the workload's own size.
func choose(cases []TestCase, name string, nodes int, overrides map[string]int) (*Chosen, error) {
	var found *TestCase
	for i := range cases {
		if cases[i].Name == name || strings.HasPrefix(name, cases[i].Name+"/") {
			found = &cases[i]
		}
	}
	if found == nil {
		return nil, fmt.Errorf("scheduler_perf has no case %s", name)
	}
	if why := found.refusal(); why != "" {
		return nil, fmt.Errorf("%s cannot be played here: %s is missing", found.Name, why)
	}
	workload := found.reference()
	if name != found.Name {
		wanted := strings.TrimPrefix(name, found.Name+"/")
		at := slices.IndexFunc(found.Workloads, func(w Workload) bool { return w.Name == wanted })
		if at < 0 {
			return nil, fmt.Errorf("%s has no workload %s", found.Name, wanted)
		}
		workload = &found.Workloads[at]
	}
	chosen := &Chosen{Case: found.Name, Workload: workload.Name, Params: numbers(workload.Params),
		Staged: found.staged(), folder: found.folder, template: found.DefaultPodTemplatePath}
	if nodes > 0 && !chosen.Staged { // stages are made of fixed rates and counts that fit each other
		chosen.Params = scale(chosen.Params, nodes)
	}
	for param, value := range overrides {
		if _, known := chosen.Params[param]; !known {
			return nil, fmt.Errorf("%s has no parameter %s, but %s", name, param,
				strings.Join(slices.Sorted(maps.Keys(chosen.Params)), ", "))
		}
		chosen.Params[param] = value
	}
	for _, gates := range []map[string]bool{found.FeatureGates, workload.FeatureGates} {
		for gate, on := range gates {
			chosen.Gates = append(chosen.Gates, fmt.Sprintf("%s=%v", gate, on))
		}
	}
	slices.Sort(chosen.Gates)
	return chosen, chosen.unroll(found, workload)
}

// unroll fills in the parameters and takes pod sets apart, as upstream does before it counts operations.
func (c *Chosen) unroll(t *TestCase, workload *Workload) error {
	measured, stops := 0, 0
	for _, raw := range t.WorkloadTemplate {
		op, err := readOp(raw)
		if err != nil {
			return err
		}
		if err := c.fill(&op, workload); err != nil {
			return err
		}
		if op.CollectMetrics || op.Opcode == "startCollectingMetrics" {
			measured++
		}
		if op.Opcode == "stopCollectingMetrics" {
			stops++
		}
		if op.Opcode != "createPodSets" {
			c.Ops = append(c.Ops, op)
			continue
		}
		if err := c.fill(op.CreatePodsOp, workload); err != nil {
			return err
		}
		for i := range op.Count {
			one := *op.CreatePodsOp
			one.Namespace = fmt.Sprintf("%s-%d", op.NamespacePrefix, i)
			c.Ops = append(c.Ops, one)
		}
	}
	if measured != 1 || stops > 1 || (stops == 1) != c.Staged {
		return fmt.Errorf("%s measures %d operations, and this harness one", c.Case, measured)
	}
	return nil
}

func (c *Chosen) fill(op *Op, workload *Workload) error {
	if op.CountParam != "" {
		value, known := c.Params[strings.TrimPrefix(op.CountParam, "$")]
		if !known {
			return fmt.Errorf("%s/%s has no parameter %s", c.Case, c.Workload, op.CountParam)
		}
		op.Count = value
	}
	if op.DurationParam != "" {
		text, _ := workload.Params[strings.TrimPrefix(op.DurationParam, "$")].(string)
		duration, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%s/%s: %s: %w", c.Case, c.Workload, op.DurationParam, err)
		}
		op.Duration.Duration = duration
	}
	return nil
}

// path resolves a template's path, which upstream writes relative to the case's file.
func (c *Chosen) path(relative string) string { return filepath.Join(c.folder, relative) }
