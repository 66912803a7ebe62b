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
	CountMultiplierParam              string            `json:"countMultiplierParam"`
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
	TemplateParams                    map[string]any    `json:"templateParams"`
	SignatureBatchSize                int               `json:"signatureBatchSize"`
	SignatureBatchSizeParam           string            `json:"signatureBatchSizeParam"`
	DriverName                        string            `json:"driverName"`
	Nodes                             string            `json:"nodes"`
	MaxClaimsPerNode                  int               `json:"maxClaimsPerNode"`
	MaxClaimsPerNodeParam             string            `json:"maxClaimsPerNodeParam"`
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
	Steady   bool           `json:"steady,omitempty"` // pods come as others are bound and go, for a time
	Ops      []Op           `json:"-"`
	Gates    []string       `json:"gates,omitempty"` // NAME=true|false, as the case asks for them
	folder   string
	template string
	release  string
}

// firstRelease is the one whose harness is older: it labels no pods, and its steady state is in batches.
const firstRelease = "1.36"

// placed says whether pods that are there before are placed by a scheduler, because their place is more than
// the name of a node: devices of their claims, room that a group shares.
func (c *Chosen) placed() bool {
	return slices.Contains(c.Gates, "DynamicResourceAllocation=true") || slices.Contains(c.Gates, "GenericWorkload=true")
}

// labelled says whether the case's own harness labels the pods of its templates.
func (c *Chosen) labelled() bool {
	return c.release != firstRelease && strings.Contains(filepath.ToSlash(c.folder), "/scheduler_perf")
}

var opcodes = []string{"createNodes", "createNamespaces", "createPods", "createPodSets", "churn", "createAny",
	"createPodGroups", "createResourceDriver", "allocResourceClaims", "deletePods", "updateAny",
	"startCollectingMetrics", "stopCollectingMetrics", "barrier", "sleep"}

// readElsewhere are parameters that no operation names.
var readElsewhere = []string{declaredFeatures}

// declaredFeatures is how many features each node declares.
const declaredFeatures = "numNodeDeclaredFeatures"

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
	if _, err := t.profiles(); err != nil {
		return err.Error()
	}
	used := map[string]bool{}
	for _, param := range readElsewhere {
		used["$"+param] = true
	}
	measuring, pods := false, false
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
		op.uses(used)
		measuring = measuring || op.Opcode == "startCollectingMetrics"
		pods = pods || measuring && op.Opcode == "createPods"
	}
	if measuring && !pods {
		return "a measure of something else than pods"
	}
	for _, param := range slices.Sorted(maps.Keys(t.Workloads[0].Params)) {
		if !used["$"+param] {
			return "what reads parameter " + param
		}
	}
	return ""
}

// uses notes which parameters an operation reads.
func (op *Op) uses(used map[string]bool) {
	for _, param := range []string{op.CountParam, op.CountMultiplierParam, op.DurationParam, op.SteadyStateParam,
		op.MaxClaimsPerNodeParam, op.SignatureBatchSizeParam} {
		used[param] = true
	}
	for _, value := range op.TemplateParams {
		if text, ok := value.(string); ok {
			name, _, _ := strings.Cut(text, "|")
			used[name] = true
		}
	}
	if op.CreatePodsOp != nil {
		op.CreatePodsOp.uses(used)
	}
}

// profiles are those of the case's own scheduler configuration, none without one. What else a configuration
// may say is of one scheduler alone, and is refused.
func (t *TestCase) profiles() (json.RawMessage, error) {
	if t.SchedulerConfigPath == "" {
		return nil, nil
	}
	var document map[string]json.RawMessage
	if err := readObject(filepath.Join(t.folder, t.SchedulerConfigPath), &document); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(document)) {
		if !slices.Contains([]string{"apiVersion", "kind", "profiles"}, key) {
			return nil, fmt.Errorf("schedulerConfigPath with %s", key)
		}
	}
	return document["profiles"], nil
}

// staged: the scheduler is there from the beginning, and operations happen while it is measured.
func (t *TestCase) staged() bool {
	return slices.ContainsFunc(t.WorkloadTemplate, func(raw json.RawMessage) bool {
		op, err := readOp(raw)
		return err == nil && op.Opcode == "startCollectingMetrics"
	})
}

// steady: what is measured is a steady state, for a time.
func (t *TestCase) steady(workload *Workload) bool {
	return slices.ContainsFunc(t.WorkloadTemplate, func(raw json.RawMessage) bool {
		op, err := readOp(raw)
		if err != nil || !op.CollectMetrics {
			return false
		}
		asked, _ := workload.Params[strings.TrimPrefix(op.SteadyStateParam, "$")].(bool)
		return op.SteadyState || asked
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

// What is of each node, group or object, and not of the cluster.
var ownParam = regexp.MustCompile(`^(podsPerGroup|maxClaimsPerNode|class|classes|priority|signatureBatchSize|num[A-Z].*)$`)

func numbers(params map[string]any) map[string]int {
	found := map[string]int{}
	for name, value := range params {
		if number, ok := value.(float64); ok {
			found[name] = int(number)
		}
	}
	return found
}

// groupsOf is how many groups of pods are measured.
func groupsOf(params map[string]int) int {
	for _, name := range []string{"groups", "initPodGroups", "preemptorPodGroups", "highPriorityGroups"} {
		if params[name] > 0 {
			return params[name]
		}
	}
	return 0
}

func nodesOf(params map[string]int) int {
	sum := 0
	for name, value := range params {
		if nodeParam.MatchString(name) && !ownParam.MatchString(name) {
			sum += value
		}
	}
	return sum
}

// reference is the workload that upstream judges a case by: with a threshold, labelled performance,
// of many nodes, and of these the one with the fewest pods, in the most groups.
func (t *TestCase) reference() *Workload {
	rank := func(w *Workload) [5]int {
		params := numbers(w.Params)
		threshold, performance := 0, 0
		if w.Threshold != nil {
			threshold = 1
		}
		if slices.Contains(w.Labels, "performance") {
			performance = 1
		}
		pods := params["measurePods"]
		if pods == 0 {
			pods = groupsOf(params) * params["podsPerGroup"]
		}
		return [5]int{threshold, performance, nodesOf(params), -pods, groupsOf(params)}
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
// as upstream's. The number of namespaces stays, unless less than a pod would be left for each; what is in each of
// them is rounded down, as many times too many would not fit.
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
		switch {
		case ownParam.MatchString(name):
			scaled[name] = value
		case perNamespaceParam.MatchString(name):
			scaled[name] = max(1, int(float64(value)*factor+1e-9))
		case !namespaceParam.MatchString(name):
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

// choose finds CASE or CASE/WORKLOAD of a release's cases; nodes of 0 keeps the workload's own size.
func choose(cases []TestCase, name, release string, nodes int, overrides map[string]int) (*Chosen, error) {
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
	chosen := &Chosen{Case: found.Name, Workload: workload.Name, Params: numbers(workload.Params), Gates: found.gates(workload),
		Staged: found.staged(), Steady: found.steady(workload), folder: found.folder, template: found.DefaultPodTemplatePath,
		release: release}
	// Stages are made of fixed rates and counts that fit each other, and so is a steady state.
	if nodes > 0 && !chosen.Staged && !chosen.Steady {
		chosen.Params = scale(chosen.Params, nodes)
	}
	for param, value := range overrides {
		if _, known := chosen.Params[param]; !known {
			return nil, fmt.Errorf("%s has no parameter %s, but %s", name, param,
				strings.Join(slices.Sorted(maps.Keys(chosen.Params)), ", "))
		}
		chosen.Params[param] = value
	}
	return chosen, chosen.unroll(found, workload)
}

// gates are those of a workload: the case's, and its own in their place.
func (t *TestCase) gates(workload *Workload) []string {
	merged := maps.Clone(t.FeatureGates)
	if merged == nil {
		merged = map[string]bool{}
	}
	maps.Copy(merged, workload.FeatureGates)
	var found []string
	for _, gate := range slices.Sorted(maps.Keys(merged)) {
		found = append(found, fmt.Sprintf("%s=%v", gate, merged[gate]))
	}
	return found
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
	for _, row := range []struct {
		param string
		value *int
	}{{op.CountParam, &op.Count}, {op.MaxClaimsPerNodeParam, &op.MaxClaimsPerNode},
		{op.SignatureBatchSizeParam, &op.SignatureBatchSize}} {
		if err := c.number(row.param, row.value); err != nil {
			return err
		}
	}
	multiplier := 1
	if err := c.number(op.CountMultiplierParam, &multiplier); err != nil {
		return err
	}
	op.Count *= multiplier
	if op.SteadyStateParam != "" {
		op.SteadyState, _ = workload.Params[strings.TrimPrefix(op.SteadyStateParam, "$")].(bool)
	}
	if op.DurationParam != "" {
		text, _ := workload.Params[strings.TrimPrefix(op.DurationParam, "$")].(string)
		duration, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%s/%s: %s: %w", c.Case, c.Workload, op.DurationParam, err)
		}
		op.Duration.Duration = duration
	}
	return c.fillTemplate(op, workload)
}

// number reads a parameter where an operation names one.
func (c *Chosen) number(param string, value *int) error {
	if param == "" {
		return nil
	}
	found, known := c.Params[strings.TrimPrefix(param, "$")]
	if !known {
		return fmt.Errorf("%s/%s has no parameter %s", c.Case, c.Workload, param)
	}
	*value = found
	return nil
}

// fillTemplate resolves what an operation hands to its template: $NAME is a parameter, and $NAME|TEXT the text,
// read as YAML, where there is none.
func (c *Chosen) fillTemplate(op *Op, workload *Workload) error {
	resolved := map[string]any{}
	for key, value := range op.TemplateParams {
		resolved[key] = value
		text, ok := value.(string)
		if !ok || !strings.HasPrefix(text, "$") {
			continue
		}
		name, otherwise, hasDefault := strings.Cut(text[1:], "|")
		if number, known := c.Params[name]; known {
			resolved[key] = number
		} else if given, known := workload.Params[name]; known {
			resolved[key] = given
		} else if !hasDefault {
			return fmt.Errorf("%s/%s has no parameter $%s", c.Case, c.Workload, name)
		} else {
			var standard any
			if err := yaml.Unmarshal([]byte(otherwise), &standard); err != nil {
				return fmt.Errorf("%s/%s: %s: %w", c.Case, c.Workload, text, err)
			}
			resolved[key] = standard
		}
	}
	op.TemplateParams = resolved
	return nil
}

// path resolves a template's path, which upstream writes relative to the case's file.
func (c *Chosen) path(relative string) string { return filepath.Join(c.folder, relative) }
